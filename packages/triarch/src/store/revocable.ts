import { TriarchError } from '../error/error.ts'

/** How a store's connection is wrapped. */
export interface RevocableRules {
  /** Called in place of the connection's own methods. */
  readonly instead?: ReadonlyMap<PropertyKey, (...args: unknown[]) => unknown>
  /** Methods that return objects which use the connection, such as prepared statements: these are revoked with it. */
  readonly leading?: ReadonlySet<PropertyKey>
  /** How a method refuses; it throws the error when this is not given. */
  readonly refuse?: (method: PropertyKey, args: readonly unknown[], error: TriarchError) => unknown
}

/**
 * The facade of a connection that user code is given for one transaction. It passes every use on to the connection until it is
 * revoked. From then on it refuses all of them with TRANSACTION_ENDED, so code that goes on after its transaction cannot
 * write outside of it, or into another task's transaction on the same connection.
 */
export class Revocable<T extends object> {
  /** What user code is given. */
  readonly facade: T
  readonly #rules: RevocableRules
  /** The facades, by the objects that they stand for. */
  readonly #facades = new WeakMap<object, object>()
  #revoked = false

  constructor(connection: T, rules: RevocableRules = {}) {
    this.#rules = rules
    this.facade = this.#facadeOf(connection, rules.instead)
    connections.set(this.facade, { connection, check: () => this.#check() })
  }

  /** From now on every use of the facade is refused. */
  revoke(): void {
    this.#revoked = true
  }

  #facadeOf<O extends object>(target: O, instead: NonNullable<RevocableRules['instead']> = new Map()): O {
    const known = this.#facades.get(target)
    if (known) return known as O
    const methods = new Map<unknown, unknown>()
    const facade = new Proxy(target, {
      get: (_, name) => {
        const value: unknown = instead.get(name) ?? Reflect.get(target, name, target)
        if (typeof value !== 'function' || name === 'constructor') {
          // The runtime reads `then` of every value that an async function returns, to see whether it is a promise.
          if (name !== 'then' && typeof name !== 'symbol') this.#check()
          return this.#known(value)
        }
        let method = methods.get(value)
        if (!method) {
          method = this.#method(target, name, value as (...args: unknown[]) => unknown)
          methods.set(value, method)
        }
        return method
      },
      set: (_, name, value) => {
        this.#check()
        return Reflect.set(target, name, value, target)
      },
    })
    this.#facades.set(target, facade)
    return facade
  }

  #method(target: object, name: PropertyKey, value: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    const { leading, refuse } = this.#rules
    return (...args) => {
      if (this.#revoked) {
        if (refuse) return refuse(name, args, ended())
        throw ended()
      }
      const answer = Reflect.apply(value, target, args)
      const leads = leading?.has(name) && typeof answer === 'object' && answer !== null
      return leads ? this.#facadeOf(answer) : this.#known(answer)
    }
  }

  /** Replaces the connection by its facade, so that it never reaches user code. */
  #known(answer: unknown): unknown {
    if (typeof answer !== 'object' || answer === null) return answer
    return this.#facades.get(answer) ?? answer
  }

  #check(): void {
    if (this.#revoked) throw ended()
  }
}

const connections = new WeakMap<object, { connection: object; check: () => void }>()

/** Returns the connection behind a facade, for the store itself; any other object is returned as it is. Throws TRANSACTION_ENDED. */
export function connectionOf(facade: object): object {
  const known = connections.get(facade)
  known?.check()
  return known?.connection ?? facade
}

function ended(): TriarchError {
  return new TriarchError(
    'TRANSACTION_ENDED',
    'the transaction has ended: what its function started and did not await cannot use it any more',
  )
}
