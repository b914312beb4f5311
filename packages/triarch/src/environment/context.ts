import { AsyncResource } from 'node:async_hooks'
import { type Owner, owned } from './owner.ts'

/**
 * A captured `AsyncLocalStorage` context, in which the engine later calls user code. The engine handles many tasks in one continuation
 * (group commits, claims, timers), so each call of user code must set the context explicitly; otherwise the code would see that of
 * whichever task came first.
 */
export class CallContext {
  /** The context of no user code, for work of the engine itself. */
  static readonly none: CallContext = new CallContext()
  readonly #resource = new AsyncResource('Triarch', { requireManualDestroy: true })

  /** Captures the context of the caller; takes a few dozen ns. */
  static here(): CallContext {
    return new CallContext()
  }

  /** The same context, in which errors that code leaves unhandled are reported to the owner. */
  ownedBy(owner: Owner): CallContext {
    return this.run(() => owned(owner, () => new CallContext()))
  }

  run<R>(work: () => R): R {
    return this.#resource.runInAsyncScope(work)
  }
}
