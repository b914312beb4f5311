/**
 * Detects whether the workflow's code still listens to the promises it was given. `await` reads a promise's constructor. Everything else,
 * including Promise.race and its like, calls `then` with native functions, which cannot be told apart except that they are the same for
 * all promises of one race. Once one promise of a race is settled, these functions do nothing any more; a promise without other listeners
 * has then lost the race, and its outcome would go unseen.
 *
 * The promises are native ones, with the same timing, of a subclass that records this.
 */

/** Notified of what happens to a promise. */
export interface Listener {
  /** The code awaits the promise, chains to it, or gives it to Promise.all or its like. */
  looked(): void
  /** A race that the promise was part of is decided, so the code may no longer listen (see `heard`). */
  lost(): void
}

/** One call of `then`. */
interface Reaction {
  readonly fulfilled: Race | null
  readonly rejected: Race | null
  /** The promise that `then` returned. */
  readonly derived: TrackedPromise<unknown>
}

type PromiseCallback = ((value: never) => unknown) | null | undefined

const none: Reaction[] = []
const nothing = (): void => undefined

/** A promise given to the code, or one derived from it by `then`. */
export class TrackedPromise<T> extends Promise<T> {
  #listener: Listener | null = null
  #looked = false
  /** How many times it was awaited; an await listens for good. */
  #awaited = 0
  #settled: 'fulfilled' | 'rejected' | null = null
  #observed = false
  #reactions = none
  #fulfil: ((value: unknown) => void) | null = null
  #refuse: ((error: unknown) => void) | null = null
  #name: string | null = null

  /**
   * Makes a promise for the code, which only the engine settles, by `fulfil` and `refuse`. `name`: set if the code must not forget to
   * await it.
   */
  static make(name: string | null): TrackedPromise<never> {
    let fulfil: ((value: never) => void) | null = null
    let refuse: ((error: unknown) => void) | null = null
    const given = new TrackedPromise<never>((resolve, reject) => {
      fulfil = resolve
      refuse = reject
    })
    given.#fulfil = fulfil
    given.#refuse = refuse
    given.#name = name
    return given
  }

  static fulfil(given: TrackedPromise<never>, value: unknown): void {
    given.#fulfil?.(value)
  }

  /** Rejects the promise. The handler prevents the process from ending on an unhandled rejection. */
  static refuse(given: TrackedPromise<never>, error: unknown): void {
    unseen(given, nothing, nothing)
    given.#refuse?.(error)
  }

  /** Sets the listener, once. */
  attend(listener: Listener): void {
    this.#listener ??= listener
  }

  /** The name of a promise that must be awaited, as long as the code has not looked at it; otherwise null. */
  static overlooked(given: TrackedPromise<never>): string | null {
    return given.#looked ? null : given.#name
  }

  /** Whether the code would see the promise's outcome. True also as long as the code has not looked at the promise at all. */
  get heard(): boolean {
    if (this.#awaited > 0 || !this.#looked) return true
    // Drops decided races: a promise that is raced repeatedly would otherwise keep them all.
    this.#reactions = this.#reactions.filter((reaction) => reaction.derived.#looked || TrackedPromise.#isLive(reaction))
    return this.#reactions.some(TrackedPromise.#isLive)
  }

  /** A handler counts as listening even if its derived promise is not looked at, because it runs for its effect. */
  static #isLive({ fulfilled, rejected, derived }: Reaction): boolean {
    return derived.#looked ? derived.heard : fulfilled?.[RIVALS] !== OVER && rejected?.[RIVALS] !== OVER
  }

  /** The promise's constructor was read, which is what `await` does. */
  static read(promise: TrackedPromise<unknown>): void {
    promise.#look()
    promise.#awaited++
    last = promise
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise's
  override then<A = T, B = never>(fulfilled?: PromiseCallback, rejected?: PromiseCallback): Promise<A | B> {
    const before = last
    last = null
    const reaction = { fulfilled: raceOf(fulfilled), rejected: raceOf(rejected) }
    const races = reaction.fulfilled !== null || reaction.rejected !== null
    if (before === this && races) this.#awaited--
    this.#look()
    const derived = chain(this, TrackedPromise, fulfilled, rejected) as TrackedPromise<unknown>
    derived.#listener = this.#listener
    if (this.#reactions === none) this.#reactions = []
    this.#reactions.push({ ...reaction, derived })
    if (races) this.#enter(reaction)
    return derived as TrackedPromise<A | B>
  }

  #look(): void {
    this.#looked = true
    this.#listener?.looked()
  }

  /** The promise takes part in the race that these functions settle. */
  #enter({ fulfilled, rejected }: Omit<Reaction, 'derived'>): void {
    if (this.#listener) {
      if (fulfilled) join(fulfilled, this.#listener)
      if (rejected && rejected !== fulfilled) join(rejected, this.#listener)
    }
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
      const race = this.#settled && reaction[this.#settled]
      if (!race || race[RIVALS] === OVER) continue
      const rivals = race[RIVALS] ?? []
      race[RIVALS] = OVER
      for (const rival of rivals) rival.lost()
    }
  }
}

/**
 * Property of a race's settling function: the listeners of the promises in the race. A WeakMap would cost the garbage collector far more.
 */
const RIVALS = Symbol('rivals')
/** The race is decided; calling its function changes nothing. */
const OVER: Listener[] = []

interface Race {
  [RIVALS]?: Listener[]
}

function join(race: Race, listener: Listener): void {
  if (race[RIVALS] === OVER) listener.lost()
  else if (race[RIVALS]) race[RIVALS].push(listener)
  else race[RIVALS] = [listener]
}

/** The promise whose constructor was read last: a read immediately before `then`, as by Promise.race, is not an await. */
let last: TrackedPromise<unknown> | null = null
/** The constructor to use while the engine itself derives a promise; null: the code is reading. */
let making: PromiseConstructor | typeof TrackedPromise | null = null

Object.defineProperty(TrackedPromise.prototype, 'constructor', {
  get(this: TrackedPromise<unknown>) {
    if (making) return making
    TrackedPromise.read(this)
    return Promise
  },
})

const nativeThen = Promise.prototype.then

function chain(
  promise: Promise<unknown>,
  into: PromiseConstructor | typeof TrackedPromise,
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

/** Calls `then` without counting as a listener. */
function unseen(promise: Promise<unknown>, fulfilled: () => void, rejected: (error: unknown) => void): void {
  void chain(promise, Promise, fulfilled, rejected)
}

const source = Function.prototype.toString
const nameless = source.call(Promise.withResolvers<void>().resolve)

/** Returns the function if it is a native settling function; a user's function may be shared by many promises. */
function raceOf(used: unknown): Race | null {
  return typeof used === 'function' && used.name === '' && source.call(used) === nameless ? (used as Race) : null
}
