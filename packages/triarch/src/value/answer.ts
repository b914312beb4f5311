/** What a function answered that must answer at once. A promise is no answer: undefined, and nobody hears if it rejects. */
export function atOnce<T>(answer: T): T | undefined {
  return isPromise(answer) ? undefined : answer
}

/** Whether a value is a promise. For where that is refused: its rejection, left alone, would end the process. */
export function isPromise(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('then' in value)) return false
  if (typeof value.then !== 'function') return false
  Promise.resolve(value).catch(() => undefined)
  return true
}
