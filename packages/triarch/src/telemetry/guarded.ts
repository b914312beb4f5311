import { type Owner, owned } from '../environment/owner.ts'
import { unhandled } from '../error/unhandled.ts'

/** Of functions that answer at once, such as those that give keys: nobody else is at hand who could be told. */
export const warned: Owner = {
  left: (error) => process.emitWarning(unhandled('a function of an option', error)),
}

/**
 * A function of a user's that the engine calls to tell it something: whatever it does, the engine goes on. What it throws, at
 * once or later, is told to `failed`, each time once; what it leaves behind, too.
 */
export function guarded<A extends readonly unknown[]>(
  callback: (...of: A) => unknown,
  failed: (error: unknown) => void,
): (...of: A) => void {
  const owner = { left: (error: unknown) => failed(unhandled('a function that the engine tells', error)) }
  return (...of) => {
    try {
      const answer = owned(owner, () => callback(...of))
      // A promise of our own: what the answer has instead of `catch` may be anything.
      if (typeof answer === 'object' && answer !== null && 'then' in answer)
        new Promise((resolve) => resolve(answer)).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
