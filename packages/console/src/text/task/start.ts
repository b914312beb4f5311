const en = {
  title: 'Start a task',
  like: (id: string) => `Start one like ${id}`,
  begin: 'Start',
  likeThis: 'Start like this one',
  submit: 'Start it',
  how: 'How it runs',
  none: 'This server starts no workflow: it was given none.',
  notHere: (name: string) => `This server does not start ${name}.`,
  notAll: 'The first 100 workflows. The address takes any other: ?workflow=name.',
  optional: 'may be left out',
  nothing: '–',
  add: 'Add',
  remove: (index: number) => `Remove ${index}`,
  asJson: 'Write JSON',
  asForm: 'Fill in fields',
  fields: { id: 'Id', priority: 'Priority', startAt: 'Start at', completeBy: 'Complete by' },
  hints: {
    id: 'Made up, if it is empty. One that is there already is refused.',
    priority: 'Higher goes first; 0',
    startAt: 'An instant such as 2026-12-24T18:00:00Z, or a while such as 2h; at once',
    completeBy: 'The same; it may take as long as its workflow says',
    tags: 'A line each: name=value',
  },
}

const de: typeof en = {
  title: 'Eine Aufgabe aufgeben',
  like: (id: string) => `Eine wie ${id} aufgeben`,
  begin: 'Aufgeben',
  likeThis: 'Eine wie diese aufgeben',
  submit: 'Aufgeben',
  how: 'Wie sie läuft',
  none: 'Dieser Server gibt keinen Ablauf auf: Er kennt keinen.',
  notHere: (name: string) => `Dieser Server gibt ${name} nicht auf.`,
  notAll: 'Die ersten 100 Abläufe. Die Adresse nimmt jeden anderen: ?workflow=name.',
  optional: 'kann fehlen',
  nothing: '–',
  add: 'Hinzufügen',
  remove: (index: number) => `${index} entfernen`,
  asJson: 'JSON schreiben',
  asForm: 'Felder ausfüllen',
  fields: { id: 'Kennung', priority: 'Vorrang', startAt: 'Beginnt um', completeBy: 'Fertig bis' },
  hints: {
    id: 'Wird erdacht, wenn sie leer ist. Eine, die es schon gibt, wird abgelehnt.',
    priority: 'Höhere kommen zuerst; 0',
    startAt: 'Ein Zeitpunkt wie 2026-12-24T18:00:00Z oder eine Dauer wie 2h; sofort',
    completeBy: 'Ebenso; sie darf so lange dauern, wie ihr Ablauf sagt',
    tags: 'Je Zeile: name=wert',
  },
}

/** What starting a task says. */
export const start = { en, de }
