const en = {
  payload: 'Value',
  quicker: 'The task has changed in the meantime. Nothing was done. Review it and try again.',
  awaited: 'Waiting for a scheduler',
  later: 'Stored. It takes effect when a scheduler is free.',
  came: (record: number) => `Done: record ${record} of the history.`,
  ignored: (cause: string) => `No effect: ${cause}.`,
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
