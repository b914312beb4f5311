/** What explain() says of a wait, as far as words need it. */
export interface WaitFacts {
  outcome?: string
  error?: string
  cause?: string
  reason?: string
  actor?: string
  /** The step with its number and name. */
  step: string
  task?: string
  status?: string
  lock?: string
  holder?: string
  planned?: number
  ahead?: number
  workflow?: string
  version?: string
  node?: string
  action?: string
  attempt?: number
  breaker?: string
  state?: string
  /** Of a circuit breaker: only somebody closes it. */
  byHand?: boolean
  waiting?: number
  limit?: string
  running?: number
  most?: number
  agent?: string
  name?: string
  next?: { name: string }
  pool?: { name: 'high' | 'rest'; from: number; slots: number }
  /** Of a batch: its children, and what became of them. */
  total?: number | null
  success?: number
  failed?: number
  cancelled?: number
}

interface Words {
  says: (it: WaitFacts) => string
  /** Who can end it, and how. */
  ends: string | null | ((it: WaitFacts) => string)
}

const line = (ahead = 0) => (ahead === 0 ? 'next in line' : `${ahead} ahead`)
const slot = (pool: WaitFacts['pool']) =>
  pool === undefined
    ? 'a free slot'
    : `one of the ${pool.slots} slots ${pool.name === 'high' ? `for priority ${pool.from} and above` : `for priorities below ${pool.from}`}`
const plan = (steps: number | undefined) =>
  steps === undefined ? '' : ` (plan: ${steps} ${steps === 1 ? 'step' : 'steps'})`
const because = (error: string | undefined) => (error === undefined || error === '' ? '' : `: ${error}`)

const causes: Readonly<Record<string, string>> = {
  ...{ operator: 'by an operator', lock: 'a lock was lost and must be acquired again' },
  ...{ step: 'a step failed', undo: 'undoing a step failed' },
  'unknown-outcome': 'the outcome of a step is unknown',
  mismatch: 'code and history differ',
  error: 'the workflow code failed',
  quarantine: 'quarantined',
}

const en = {
  since: 'since',
  until: 'until',
  givenUp: 'times out',
  again: 'next attempt',
  probe: 'next probe',
  closeBreaker: 'Close breaker',
  readPlan: 'View plan',
  holds: (lock: string) => `Holds lock “${lock}”`,
  reasons: {
    stopped: {
      says: ({ outcome, error }) => `Stopped: ${outcome ?? ''}${because(error)}`,
      ends: null,
    },
    paused: {
      says: ({ cause = '', step, error, reason, actor }) =>
        `Paused: ${causes[cause] ?? cause}${step && `, step ${step}`}${because(error)}${reason ? ` “${reason}”` : ''}${actor ? ` (${actor})` : ''}`,
      ends: 'An operator with the right “control” resumes it.',
    },
    quarantined: {
      says: ({ error, cause }) => `Quarantined: the task repeatedly harmed its process${because(error ?? cause)}`,
      ends: 'An operator with the right “control” resumes it.',
    },
    held: {
      says: ({ step, error, cause = '' }) => `Step ${step} waits for an operator${because(error ?? causes[cause])}`,
      ends: 'An operator with the right “control” retries or skips the step.',
    },
    scheduled: { says: () => 'Scheduled for later', ends: 'It starts by itself.' },
    frozen: {
      says: ({ planned }) => `Awaiting approval${plan(planned)}`,
      ends: 'An operator with the right “control” approves it.',
    },
    predecessor: {
      says: ({ task, status }) => `Waiting for task ${task} (${status})`,
      ends: 'It starts by itself when that task has stopped.',
    },
    lock: {
      says: ({ lock, holder, ahead = 1 }) => `Waiting for lock “${lock}”, held by task ${holder}: ${line(ahead - 1)}`,
      ends: 'It continues by itself when the lock is released.',
    },
    'queue-full': {
      says: ({ workflow, most, ahead }) =>
        `Queue full: ${most} tasks of ${workflow} wait already, which is the limit: ${line(ahead)}`,
      ends: 'It is accepted by itself when there is room, or refused after half a minute.',
    },
    queued: {
      says: ({ ahead }) => `Queued for a scheduler: ${line(ahead)}`,
      ends: 'It continues by itself. More schedulers make it faster.',
    },
    'no-scheduler': {
      says: ({ workflow, version }) => `No running node hosts version ${version} of ${workflow}`,
      ends: 'Deploy that version, or start a process that has it.',
    },
    'node-lost': {
      says: ({ node, step }) => `Node ${node} does not respond${step && `; it ran step ${step}`}`,
      ends: 'A supervisor reassigns it by itself.',
    },
    planning: { says: () => 'Planning', ends: 'It continues by itself.' },
    step: {
      says: ({ step, attempt, node }) =>
        `Running step ${step}, attempt ${attempt}${node === undefined ? ', in a remote process' : ` on node ${node}`}`,
      ends: 'It continues by itself when the step is done.',
    },
    'step-queued': {
      says: ({ step, ahead, pool }) => `Step ${step} waits for ${slot(pool)}: ${line(ahead)}`,
      ends: 'It continues by itself. More processes of the agent make it faster.',
    },
    breaker: {
      says: ({ step, breaker, state, waiting = 0 }) =>
        `Circuit breaker “${breaker}” is ${state}: step ${step} is held, ${waiting} in all`,
      ends: ({ byHand }) =>
        byHand
          ? 'It was opened by an operator: one with the right “breakers” closes it.'
          : 'A probe closes it by itself, or an operator with the right “breakers”.',
    },
    'rate-limit': {
      says: ({ step, limit, ahead }) => `Rate limit of ${limit}: step ${step} waits, ${line(ahead)}`,
      ends: 'It continues by itself.',
    },
    concurrency: {
      says: ({ step, limit, running, most, ahead }) =>
        `Concurrency limit of ${limit}: ${running} of ${most} in use; step ${step} waits, ${line(ahead)}`,
      ends: 'It continues by itself when an attempt ends.',
    },
    'agent-paused': {
      says: ({ step, agent, actor, reason }) =>
        `Agent ${agent} was paused by ${actor} (“${reason}”): step ${step} waits`,
      ends: 'An operator with the right “settings:write” resumes the agent.',
    },
    'workflow-paused': {
      says: ({ workflow, actor, reason }) => `Workflow ${workflow} was paused by ${actor} (“${reason}”)`,
      ends: 'An operator with the right “settings:write” resumes the workflow.',
    },
    'no-agent': {
      says: ({ step, action }) => `No running node hosts the action ${action}: step ${step} waits`,
      ends: 'Start a process that hosts the agent.',
    },
    retry: {
      says: ({ step, attempt, error }) => `Retrying step ${step}, attempt ${attempt}${because(error)}`,
      ends: 'It continues by itself.',
    },
    suspended: {
      says: ({ step, next }) =>
        `Step ${step} waits for an external answer by its token${next ? `, and sends itself “${next.name}”` : ''}`,
      ends: 'The holder of the token answers the step.',
    },
    batch: {
      says: ({ step, total, success = 0, failed = 0, cancelled = 0 }) =>
        `Running batch of step ${step}: ${success + failed + cancelled} of ${total ?? 'the'} children ended${failed > 0 ? `, ${failed} failed` : ''}${cancelled > 0 ? `, ${cancelled} cancelled` : ''}`,
      ends: 'It continues by itself.',
    },
    timer: { says: () => 'Sleeping', ends: 'It wakes by itself.' },
    signal: {
      says: ({ name }) => `Waiting for signal “${name}”`,
      ends: 'A program, or an operator with the right “control”, sends the signal.',
    },
    child: {
      says: ({ task, workflow, status }) => `Waiting for child ${task} (${workflow}), which is ${status}`,
      ends: 'It continues by itself when the child has stopped.',
    },
    stalled: {
      says: () => 'Stuck: the workflow awaits something that is not a call of the task',
      ends: 'Fix the code, then restart the process, or cancel the task.',
    },
    moving: {
      says: ({ node }) => (node === undefined ? 'Starting' : `Running on node ${node}`),
      ends: null,
    },
  } as Readonly<Record<string, Words>>,
}

const einen = (pool: WaitFacts['pool']) =>
  pool === undefined
    ? 'einen freien Platz'
    : `einen der ${pool.slots} Plätze ${pool.name === 'high' ? `für Vorrang ${pool.from} und mehr` : `für weniger Vorrang als ${pool.from}`}`
const entwurf = (steps: number | undefined) =>
  steps === undefined ? '' : `; ihr Plan hat ${steps} ${steps === 1 ? 'Schritt' : 'Schritte'}`
const platz = (ahead = 0) => (ahead === 0 ? 'sie ist die nächste' : `${ahead} ${ahead === 1 ? 'ist' : 'sind'} vor ihr`)

const warum: Readonly<Record<string, string>> = {
  operator: 'ein Mensch hat sie angehalten',
  lock: 'sie hat eine Sperre verloren und wartet, bis sie sie wieder hat',
  step: 'ein Schritt schlug fehl',
  undo: 'ein Schritt ließ sich nicht rückgängig machen',
  'unknown-outcome': 'niemand weiß, ob ein Schritt gewirkt hat',
  mismatch: 'ihr Code und ihre Geschichte widersprechen sich',
  error: 'ihr Code schlug fehl',
  quarantine: 'sie wurde abgesondert',
}

const alone = 'Es geht von selbst weiter.'

const de: typeof en = {
  since: 'seit',
  until: 'bis',
  givenUp: 'aufgegeben',
  again: 'wieder',
  probe: 'nächste Probe',
  closeBreaker: 'Sicherung schließen',
  readPlan: 'Plan lesen',
  holds: (lock: string) => `Sie hält die Sperre „${lock}“`,
  reasons: {
    stopped: { says: ({ outcome, error }) => `Sie ist beendet: ${outcome ?? ''}${because(error)}`, ends: null },
    paused: {
      says: ({ cause = '', step, error, reason, actor }) =>
        `Sie ist angehalten: ${warum[cause] ?? cause}${step && `, Schritt ${step}`}${because(error)}${reason ? ` „${reason}“` : ''}${actor ? ` (${actor})` : ''}`,
      ends: 'Wer das Recht „control“ hat, beendet das.',
    },
    quarantined: {
      says: ({ error, cause }) =>
        `Sie wurde abgesondert, denn sie schadete dem, der sie hatte${because(error ?? cause)}`,
      ends: 'Wer das Recht „control“ hat, setzt sie fort.',
    },
    held: {
      says: ({ step, error, cause = '' }) =>
        `Schritt ${step} wartet auf einen Menschen${because(error ?? warum[cause])}`,
      ends: 'Wer das Recht „control“ hat, versucht ihn wieder oder überspringt ihn.',
    },
    scheduled: { says: () => 'Ihre Zeit ist noch nicht gekommen', ends: 'Sie beginnt von selbst.' },
    frozen: {
      says: ({ planned }) => `Sie ist eingefroren und wartet darauf, gebilligt zu werden${entwurf(planned)}`,
      ends: 'Wer das Recht „control“ hat, lässt sie beginnen.',
    },
    predecessor: {
      says: ({ task, status }) => `Sie kommt nach der Aufgabe ${task}, deren Zustand ${status} ist`,
      ends: 'Sie beginnt von selbst, wenn jene beendet ist.',
    },
    lock: {
      says: ({ lock, holder, ahead = 1 }) =>
        `Sie wartet auf die Sperre „${lock}“, die die Aufgabe ${holder} hält: ${platz(ahead - 1)}`,
      ends: 'Es geht von selbst weiter, wenn die Sperre frei wird.',
    },
    'queue-full': {
      says: ({ workflow, most, ahead }) =>
        `Sie ist noch nicht angenommen: ${most} Aufgaben von ${workflow} warten schon, mehr dürfen es nicht sein: ${platz(ahead)}`,
      ends: 'Sie wird von selbst angenommen, sobald Platz ist, oder nach einer halben Minute abgelehnt.',
    },
    queued: {
      says: ({ ahead }) => `Sie wartet auf einen Planer mit Platz: ${platz(ahead)}`,
      ends: 'Es geht von selbst weiter; mit mehr Planern schneller.',
    },
    'no-scheduler': {
      says: ({ workflow, version }) => `Kein lebender Knoten führt Version ${version} von ${workflow} aus`,
      ends: 'Starten Sie einen Prozess mit dieser Version.',
    },
    'node-lost': {
      says: ({ node, step }) => `Knoten ${node} gibt kein Lebenszeichen${step && `; er hatte Schritt ${step}`}`,
      ends: 'Ein Aufseher nimmt sie ihm von selbst.',
    },
    planning: { says: () => 'Ihr Plan wird gemacht', ends: alone },
    step: {
      says: ({ step, attempt, node }) =>
        `Schritt ${step} läuft, Versuch ${attempt}${node === undefined ? ', in einem Prozess anderswo' : ` auf Knoten ${node}`}`,
      ends: 'Es geht von selbst weiter, wenn der Schritt getan ist.',
    },
    'step-queued': {
      says: ({ step, ahead, pool }) => `Schritt ${step} wartet auf ${einen(pool)}: ${platz(ahead)}`,
      ends: 'Es geht von selbst weiter; mit mehr Prozessen des Agenten schneller.',
    },
    breaker: {
      says: ({ step, breaker, state, waiting = 0 }) =>
        `Die Sicherung „${breaker}“ ist ${state} und hält Schritt ${step} zurück, mit ${waiting} insgesamt`,
      ends: ({ byHand }) =>
        byHand
          ? 'Wer das Recht „breakers“ hat, schließt sie: Sie wurde von Hand geöffnet.'
          : 'Eine Probe schließt sie von selbst, oder wer das Recht „breakers“ hat.',
    },
    'rate-limit': {
      says: ({ step, limit, ahead }) => `Die Ratengrenze von ${limit} hält Schritt ${step} zurück: ${platz(ahead)}`,
      ends: alone,
    },
    concurrency: {
      says: ({ step, limit, running, most, ahead }) =>
        `${running} von ${most} Versuchen von ${limit} laufen überall, und Schritt ${step} wartet: ${platz(ahead)}`,
      ends: 'Es geht von selbst weiter, wenn einer getan ist.',
    },
    'agent-paused': {
      says: ({ step, agent, actor, reason }) =>
        `Agent ${agent} wurde von ${actor} angehalten („${reason}“): Schritt ${step} wartet`,
      ends: 'Wer das Recht „settings:write“ hat, lässt den Agenten weitermachen.',
    },
    'workflow-paused': {
      says: ({ workflow, actor, reason }) => `Ablauf ${workflow} wurde von ${actor} angehalten („${reason}“)`,
      ends: 'Wer das Recht „settings:write“ hat, lässt den Ablauf weitergehen.',
    },
    'no-agent': {
      says: ({ step, action }) => `Kein lebender Knoten hat die Aktion ${action}: Schritt ${step} wartet`,
      ends: 'Starten Sie einen Prozess, der den Agenten beherbergt.',
    },
    retry: {
      says: ({ step, attempt, error }) => `Schritt ${step} wird wieder versucht, Versuch ${attempt}${because(error)}`,
      ends: alone,
    },
    suspended: {
      says: ({ step, next }) =>
        `Schritt ${step} wartet auf ein Signal mit seinem Token${next ? ` und sendet sich selbst „${next.name}“` : ''}`,
      ends: 'Wer das Token des Schritts hat.',
    },
    batch: {
      says: ({ step, total, success = 0, failed = 0, cancelled = 0 }) =>
        `Der Stapel von Schritt ${step} läuft: ${success + failed + cancelled} von ${total ?? 'den bisherigen'} Untergeordneten sind beendet${failed > 0 ? `, ${failed} fehlgeschlagen` : ''}${cancelled > 0 ? `, ${cancelled} abgebrochen` : ''}`,
      ends: alone,
    },
    timer: { says: () => 'Sie schläft', ends: 'Sie wacht von selbst auf.' },
    signal: {
      says: ({ name }) => `Sie wartet auf das Signal „${name}“`,
      ends: 'Wer das Signal sendet: ein Programm, oder wer das Recht „control“ hat.',
    },
    child: {
      says: ({ task, workflow, status }) =>
        `Sie wartet auf ihre untergeordnete ${task} (${workflow}), deren Zustand ${status} ist`,
      ends: 'Es geht von selbst weiter, wenn jene beendet ist.',
    },
    stalled: {
      says: () => 'Ihr Code wartet auf etwas, das kein Aufruf der Aufgabe ist: vielleicht für immer',
      ends: 'Bessern Sie den Code aus; brechen Sie sie ab, oder starten Sie ihren Prozess neu.',
    },
    moving: {
      says: ({ node }) => (node === undefined ? 'Sie wird sofort aufgenommen' : `Knoten ${node} arbeitet an ihr`),
      ends: null,
    },
  },
}

/** Why a task waits, in words; by the codes of its reasons. */
export const why = { en, de }
