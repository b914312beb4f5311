type Code = 'frozen' | 'queued' | 'no-scheduler' | 'workflow-paused' | 'step-queued' | 'no-agent' | 'agent-paused'
type Kept = 'breaker' | 'rate-limit' | 'concurrency'

/** Each kind of wait, before the name of what it is for. */
interface WaitTexts extends Readonly<Record<Code | Kept, string>> {
  more: (count: number) => string
}

const waits: Record<'en' | 'de', WaitTexts> = {
  en: {
    frozen: 'approval:',
    queued: 'scheduler:',
    'no-scheduler': 'no scheduler:',
    'workflow-paused': 'paused workflow:',
    'step-queued': 'free slot:',
    'no-agent': 'no agent:',
    'agent-paused': 'paused agent:',
    breaker: 'circuit breaker:',
    'rate-limit': 'rate limit:',
    concurrency: 'concurrency limit:',
    more: (count) => `and ${count} more`,
  },
  de: {
    frozen: 'Freigabe von',
    queued: 'Planer für',
    'no-scheduler': 'kein Planer für',
    'workflow-paused': 'angehaltener Ablauf',
    'step-queued': 'freier Platz für',
    'no-agent': 'niemand hat',
    'agent-paused': 'angehaltener Agent',
    breaker: 'Sicherung',
    'rate-limit': 'Ratengrenze von',
    concurrency: 'Grenze von',
    more: (count) => `und ${count} weitere`,
  },
}

const en = {
  waits: waits.en,
  standby: (span: string) => `Read from a replica that is ${span} behind. Your own changes are included.`,
  meant: 'Suggestions',
  palette: {
    title: 'Search or run a command',
    hint: 'Task id, page, saved view or action',
    page: 'Page',
    view: 'View',
    action: 'Action',
    none: (typed: string) => `Nothing has “${typed}” in its name, and no task's id begins with it.`,
  },
  views: { name: 'Name of this view', save: 'Save view', forget: (name: string) => `Delete view “${name}”` },
  columns: {
    title: 'Columns',
    workflow: 'Workflow',
    version: 'Version',
    status: 'Status',
    waits: 'Waiting for',
    reason: 'Reason',
    why: 'Why',
    failures: 'Failures',
    priority: 'Priority',
    tags: 'Tags',
    parent: 'Parent',
    node: 'Node',
    submitted: 'Submitted',
    updated: 'Updated',
  },
}

const de: typeof en = {
  waits: waits.de,
  standby: (span) =>
    `Eine Kopie des Speichers antwortet, die ${span} zurück ist. Was Sie eben getan haben, ist dennoch da.`,
  meant: 'Was gemeint sein kann',
  palette: {
    title: 'Gehen oder tun',
    hint: 'Eine Seite, eine Ansicht, der Anfang einer Kennung, eine Handlung',
    page: 'Seite',
    view: 'Ansicht',
    action: 'Handlung',
    none: (typed) => `Nichts hat „${typed}“ im Namen, und keine Kennung einer Aufgabe beginnt damit.`,
  },
  views: { name: 'Name dieser Ansicht', save: 'Ansicht bewahren', forget: (name: string) => `„${name}“ vergessen` },
  columns: {
    title: 'Spalten',
    workflow: 'Ablauf',
    version: 'Version',
    status: 'Stand',
    waits: 'Wartet auf',
    why: 'Warum',
    reason: 'Grund',
    failures: 'Fehlschläge',
    priority: 'Vorrang',
    tags: 'Merkmale',
    parent: 'Übergeordnet',
    node: 'Knoten',
    submitted: 'Aufgegeben',
    updated: 'Geändert',
  },
}

/** How things are found: the palette, the filter, columns with what is in them, and views. */
export const finding = { en, de }
