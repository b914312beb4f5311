export function workflowPath(name: string): string {
  return `/workflows/${encodeURIComponent(name)}`
}
