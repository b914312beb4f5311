/**
 * Who listens to the promises that the workflow's code was given. `await` reads a promise's constructor; `then` is called by
 * everything else, Promise.race and its like included, with functions of the language that say nothing of themselves but that
 * they are always the same: the promises of one race all get the same two. Once one of them is settled, these two do nothing
 * any more, so whoever has no other listener has lost the race, and nobody would see what becomes of it.
 *
 * They are native promises, tick for tick, of a class that takes note of this.
 */

/** What is to be heard of a promise. */
export interface Listener {
  /** Somebody awaits it, chains to it, or gives it to Promise.all and its like. */
  looked?(): void
  /** A race was lost that it was in: maybe nobody listens any more (isHeard). */
  lost?(): void
  fulfilled?(): void
  rejected?(error: unknown): void
}

/** By `then`. */
interface Reaction {
  readonly fulfilled: unknown
  readonly rejected: unknown
  /** The promise that came of it. */
  readonly derived: Given<unknown>
}

type Handler = ((value: never) => unknown) | null | undefined

const none: Reaction[] = []

/** A promise given to the code, or one derived from it by `then`. */
export class Given<T> extends Promise<T> {
  #listener: Listener | null = null
  #looked = false
  /** How often it was awaited: that is for good. */
  #awaited = 0
  #settled: 'fulfilled' | 'rejected' | null = null
  #observed = false
  #reactions = none

  /** Has it heard what becomes of the promise. A rejection that nobody awaits must not end the process. */
  attend(listener: Listener): void {
    if (this.#listener) return
    this.#listener = listener
    unseen(
      this,
      () => listener.fulfilled?.(),
      (error: unknown) => listener.rejected?.(error),
    )
  }

  /** Whether anybody would see what becomes of it; also what nobody has looked at yet is to be looked at. */
  get heard(): boolean {
    if (this.#awaited > 0 || !this.#looked) return true
    // One that is raced again and again would keep all it lost.
    this.#reactions = this.#reactions.filter((reaction) => reaction.derived.#looked || Given.#isLive(reaction))
    return this.#reactions.some(Given.#isLive)
  }

  /** A handler whose promise nobody looks at is there for what it does. */
  static #isLive({ fulfilled, rejected, derived }: Reaction): boolean {
    return derived.#looked ? derived.heard : !isSpent(fulfilled) && !isSpent(rejected)
  }

  /** Its constructor was read. */
  static read(promise: Given<unknown>): void {
    promise.#look()
    promise.#awaited++
    last = promise
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise's
  override then<A = T, B = never>(fulfilled?: Handler, rejected?: Handler): Promise<A | B> {
    const before = last
    last = null
    if (before === this && (isNative(fulfilled) || isNative(rejected))) this.#awaited--
    this.#look()
    const derived = chain(this, Given, fulfilled, rejected) as Given<unknown>
    derived.#listener = this.#listener
    if (this.#reactions === none) this.#reactions = []
    this.#reactions.push({ fulfilled, rejected, derived })
    this.#enter(fulfilled, rejected)
    return derived as Given<A | B>
  }

  #look(): void {
    this.#looked = true
    this.#listener?.looked?.()
  }

  /** It takes part in what settles by these functions. */
  #enter(...functions: unknown[]): void {
    const natives = functions.filter(isNative)
    for (const each of natives) {
      const listener = this.#listener
      if (spent.has(each)) listener?.lost?.()
      else if (listener?.lost) {
        const known = rivals.get(each)
        if (known) known.push(listener)
        else rivals.set(each, [listener])
      }
    }
    if (natives.length === 0) return
    if (this.#settled) this.#spend()
    if (this.#observed) return
    this.#observed = true
    const settle = (how: 'fulfilled' | 'rejected') => () => {
      this.#settled = how
      this.#spend()
    }
    unseen(this, settle('fulfilled'), settle('rejected'))
  }

  #spend(): void {
    for (const reaction of this.#reactions) {
      const used = this.#settled && reaction[this.#settled]
      if (!isNative(used) || spent.has(used)) continue
      spent.add(used)
      for (const rival of rivals.get(used) ?? []) rival.lost?.()
      rivals.delete(used)
    }
  }
}

/** Settles the promise that the code was given. */
export interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

export function given(): Waiting & { promise: Given<never> } {
  const { promise, resolve, reject } = Given.withResolvers<never>()
  return { promise: promise as Given<never>, resolve: resolve as (value: unknown) => void, reject }
}

/** Functions of settled promises: to call them changes nothing. */
const spent = new WeakSet<object>()
/** Who would lose by which. */
const rivals = new WeakMap<object, Listener[]>()
/** Read last: what Promise.race reads right before it chains is no await. */
let last: Given<unknown> | null = null
/** What the engine itself makes of one; null: it is the code that reads. */
let making: PromiseConstructor | typeof Given | null = null

Object.defineProperty(Given.prototype, 'constructor', {
  get(this: Given<unknown>) {
    if (making) return making
    Given.read(this)
    return Promise
  },
})

const nativeThen = Promise.prototype.then

function chain(
  promise: Promise<unknown>,
  into: PromiseConstructor | typeof Given,
  fulfilled: unknown,
  rejected: unknown,
): Promise<unknown> {
  making = into
  try {
    return nativeThen.call(promise, fulfilled as never, rejected as never)
  } finally {
    making = null
  }
}

/** Then, without counting as one who listens. */
function unseen(promise: Promise<unknown>, fulfilled: () => void, rejected: (error: unknown) => void): void {
  void chain(promise, Promise, fulfilled, rejected)
}

function isSpent(used: unknown): boolean {
  return isNative(used) && spent.has(used)
}

const source = Function.prototype.toString
const nameless = source.call(Promise.withResolvers<void>().resolve)

/** Those that settle a promise; a user's function may be called by many. */
function isNative(used: unknown): used is object {
  return typeof used === 'function' && used.name === '' && source.call(used) === nameless
}
