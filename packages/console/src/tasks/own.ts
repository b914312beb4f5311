/**
 * The filter that is asked for: without the tasks by which the engine carries out operations on many, which have a page of their own. Who names
 * a workflow, a task or a parent means what it says, as in `triarch task list`.
 */
export function shownOf(filter: string): string {
  return /(?:^|[\s(])-?(?:workflow|id|parent):/.test(filter)
    ? filter
    : `${filter} -workflow:"triarch-operation"*`.trim()
}
