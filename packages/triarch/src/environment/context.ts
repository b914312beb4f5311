import { AsyncResource } from 'node:async_hooks'
import { type Owner, owned } from './owner.ts'

/**
 * What Node's `AsyncLocalStorage` holds at some place: code of a user that the engine calls later sees that again. The engine
 * carries many tasks in one continuation (group commits, claims, timers), so whoever calls a user's code says in which context;
 * otherwise it would see that of whichever task happened to come first.
 */
export class CallContext {
  /** Of nobody: what the engine does by itself, and tasks of others. */
  static readonly none: CallContext = new CallContext()
  readonly #resource = new AsyncResource('Triarch', { requireManualDestroy: true })

  /** The context of the code that asks: a few dozen ns. */
  static here(): CallContext {
    return new CallContext()
  }

  /** The same, and the owner answers for what code leaves behind that runs in it. */
  ownedBy(owner: Owner): CallContext {
    return this.run(() => owned(owner, () => new CallContext()))
  }

  run<R>(work: () => R): R {
    return this.#resource.runInAsyncScope(work)
  }
}
