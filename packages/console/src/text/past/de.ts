import type { past as english } from './en.ts'

export const past: typeof english = {
  title: 'Rückblick',
  record: 'Eintrag der Geschichte',
  place: (seq: number, last: number) => `Eintrag ${seq} von ${last}`,
  first: 'Erster Eintrag',
  before: 'Eintrag davor',
  next: 'Nächster Eintrag',
  newest: 'Neuester Eintrag',
  run: (from: number) => `in dem Lauf, der mit Eintrag ${from} begann`,
  changed: 'Was dieser Eintrag änderte',
  events: 'Was geschah',
  steps: 'Schritte zu dieser Zeit',
  of: 'Von',
  what: 'Was',
  was: 'War',
  became: 'Wurde',
}
