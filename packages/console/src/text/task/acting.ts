const en = {
  payload: 'Value',
  quicker: 'It is not as you saw it any more: somebody, or the task itself, was quicker. Nothing was done.',
  awaited: 'Waiting for a scheduler to take it up',
  later: 'No scheduler has taken it up yet. It is kept, and happens when one does.',
  came: (record: number) => `It happened: record ${record} of the history.`,
  ignored: (cause: string) => `Nothing came of it: ${cause}. Somebody may have been quicker.`,
}

const de: typeof en = {
  payload: 'Wert',
  quicker: 'Es ist nicht mehr, wie Sie es sahen: Jemand oder die Aufgabe selbst war schneller. Nichts wurde getan.',
  awaited: 'Wartet darauf, dass ein Planer es aufnimmt',
  later: 'Noch kein Planer hat es aufgenommen. Es bleibt bewahrt und geschieht, sobald einer es tut.',
  came: (record: number) => `Es ist geschehen: Eintrag ${record} der Geschichte.`,
  ignored: (cause: string) => `Nichts kam dabei heraus: ${cause}. Vielleicht war jemand schneller.`,
}

/** What acting says. */
export const acting = { en, de }
