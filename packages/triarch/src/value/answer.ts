/** The result of a function that must be synchronous; undefined if it is a promise, whose rejection is then ignored. */
export function atOnce<T>(answer: T): T | undefined {
  return isPromise(answer) ? undefined : answer
}

/**
 * Whether a value is a promise. If so, its rejection is marked as handled: the caller refuses the promise, and an unhandled rejection would
 * end the process.
 */
export function isPromise(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('then' in value)) return false
  if (typeof value.then !== 'function') return false
  Promise.resolve(value).catch(() => undefined)
  return true
}
