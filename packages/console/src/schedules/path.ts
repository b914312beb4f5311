export function schedulePath(name: string): string {
  return `/schedules/${encodeURIComponent(name)}`
}
