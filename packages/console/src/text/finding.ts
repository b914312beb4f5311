const en = {
  meant: 'What may be meant',
  palette: {
    title: 'Go to, or do',
    hint: 'A page, a view, the beginning of a task id, an action',
    page: 'Page',
    view: 'View',
    action: 'Action',
  },
  views: { name: 'Name of this view', save: 'Save view', forget: (name: string) => `Forget “${name}”` },
  columns: {
    title: 'Columns',
    workflow: 'Workflow',
    version: 'Version',
    status: 'Status',
    reason: 'Reason',
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
  meant: 'Was gemeint sein kann',
  palette: {
    title: 'Gehen oder tun',
    hint: 'Eine Seite, eine Ansicht, der Anfang einer Kennung, eine Handlung',
    page: 'Seite',
    view: 'Ansicht',
    action: 'Handlung',
  },
  views: { name: 'Name dieser Ansicht', save: 'Ansicht bewahren', forget: (name: string) => `„${name}“ vergessen` },
  columns: {
    title: 'Spalten',
    workflow: 'Ablauf',
    version: 'Version',
    status: 'Stand',
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

/** How things are found: the palette, the filter, columns and views. */
export const finding = { en, de }
