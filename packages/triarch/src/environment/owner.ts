import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The recipient of errors that user code left unhandled: a promise that rejected without a handler, or an exception of a callback.
 * `promise` is null for an exception.
 */
export interface Owner {
  left(error: unknown, promise: Promise<unknown> | null): void
  /** The rejection of this promise was handled after all. */
  handled?(promise: Promise<unknown>): void
}

const owners = new AsyncLocalStorage<Owner>()
/** The owners of reported rejections. */
const told = new WeakMap<Promise<unknown>, Owner>()
let installed = false

/**
 * Runs user code. Errors that it leaves unhandled are reported to the owner, however much later: Node emits both events in the async
 * context of the code that failed, and each promise reaction and timer of the code has that context.
 */
export function owned<R>(owner: Owner, work: () => R): R {
  if (!installed) install()
  return owners.run(owner, work)
}

/** An owner that only reports. */
export function notifying(failed: (error: unknown) => void): Owner {
  return { left: failed }
}

/**
 * A listener would change how Node handles other errors, because it only ends a process if there is none. So the events of errors with an
 * owner are intercepted before any listener, and all others are emitted as usual.
 */
function install(): void {
  installed = true
  const emit = process.emit as (this: NodeJS.Process, event: string | symbol, ...of: unknown[]) => boolean
  const taking = function (this: NodeJS.Process, event: string | symbol, ...of: unknown[]): boolean {
    return taken(event, of) || emit.call(this, event, ...of)
  }
  process.emit = taking as typeof process.emit
}

function taken(event: string | symbol, [first, second]: unknown[]): boolean {
  if (event === 'rejectionHandled') {
    const owner = told.get(first as Promise<unknown>)
    owner?.handled?.(first as Promise<unknown>)
    return owner !== undefined
  }
  if (event !== 'unhandledRejection' && event !== 'uncaughtException') return false
  const owner = owners.getStore()
  if (!owner) return false
  const promise = event === 'unhandledRejection' ? (second as Promise<unknown>) : null
  if (promise !== null) told.set(promise, owner)
  owners.exit(() => owner.left(first, promise))
  return true
}
