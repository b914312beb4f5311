/** Where tasks are started; what is in the address is filled in: the workflow, and the task that it is to be like. */
export function startPath(given: { workflow?: string; version?: string; like?: string }): string {
  return `/start?${new URLSearchParams(given)}`
}
