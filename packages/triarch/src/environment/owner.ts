import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Who answers for user code that the engine runs: told of an error that the code left behind, a promise that rejected and was
 * not handled or an exception of a callback. `promise` is null for an exception.
 */
export interface Owner {
  left(error: unknown, promise: Promise<unknown> | null): void
  /** The rejection of this promise was handled after all. */
  handled?(promise: Promise<unknown>): void
}

const owners = new AsyncLocalStorage<Owner>()
/** Of rejections that an owner was told of. */
const told = new WeakMap<Promise<unknown>, Owner>()
let installed = false

/**
 * Runs user code. What it leaves behind is told to the owner, however much later: Node emits both events in the async context
 * of the code that failed, and each promise reaction and timer of the code has that context.
 */
export function owned<R>(owner: Owner, work: () => R): R {
  if (!installed) install()
  return owners.run(owner, work)
}

/** An owner that only tells. */
export function toldTo(failed: (error: unknown) => void): Owner {
  return { left: failed }
}

/**
 * A listener would change what Node does with errors that are not ours, since it ends a process only where nobody listens. So
 * the events of errors with an owner are taken before anybody listens, and all others are emitted as ever.
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
