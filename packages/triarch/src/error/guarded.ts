/**
 * A function of a user's that the engine calls to tell it something: whatever it does, the engine goes on. What it throws, at
 * once or later, is told to `failed`, each time once.
 */
export function guarded<A extends readonly unknown[]>(
  callback: (...of: A) => unknown,
  failed: (error: unknown) => void,
): (...of: A) => void {
  return (...of) => {
    try {
      const answer = callback(...of)
      // A promise of our own: what the answer has instead of `catch` may be anything.
      if (typeof answer === 'object' && answer !== null && 'then' in answer)
        new Promise((resolve) => resolve(answer)).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
