import { type Owner, owned } from '../environment/owner.ts'
import { unhandled } from '../error/unhandled.ts'

/**
 * The owner of synchronous functions of options, such as key functions. Errors they leave unhandled become warnings, because no callback
 * for them is at hand.
 */
export const warned: Owner = {
  left: (error) => process.emitWarning(unhandled('a function of an option', error)),
}

/**
 * Wraps a callback of the user so that it cannot harm the engine. Errors that it throws, now or later, and those it leaves unhandled, go to
 * `failed`, each once.
 */
export function guarded<A extends readonly unknown[]>(
  callback: (...of: A) => unknown,
  failed: (error: unknown) => void,
): (...of: A) => void {
  const owner = { left: (error: unknown) => failed(unhandled('a function that the engine tells', error)) }
  return (...of) => {
    try {
      const answer = owned(owner, () => callback(...of))
      // Wrapped in a promise of our own, because the result's `catch` may be anything.
      if (typeof answer === 'object' && answer !== null && 'then' in answer)
        new Promise((resolve) => resolve(answer)).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
