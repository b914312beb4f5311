/** What a look back at a task says. */
export const past = {
  title: 'Look back',
  record: 'Record of the history',
  place: (seq: number, last: number) => `Record ${seq} of ${last}`,
  first: 'First record',
  before: 'Record before',
  next: 'Next record',
  newest: 'Newest record',
  run: (from: number) => `in the run that began with record ${from}`,
  changed: 'What this record changed',
  events: 'What happened',
  steps: 'Steps at that time',
  of: 'Of',
  what: 'What',
  was: 'Was',
  became: 'Became',
}
