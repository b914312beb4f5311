/** What a look back at a task says. */
export const past = {
  title: 'Earlier state',
  record: 'Record of the history',
  place: (seq: number, last: number) => `Record ${seq} of ${last}`,
  first: 'First record',
  before: 'Previous record',
  next: 'Next record',
  newest: 'Newest record',
  run: (from: number) => `in the run that began with record ${from}`,
  changed: 'Changes by this record',
  events: 'Events',
  steps: 'Steps at that time',
  of: 'Item',
  what: 'Field',
  was: 'Before',
  became: 'After',
}
