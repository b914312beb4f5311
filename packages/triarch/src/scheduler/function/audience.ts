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
  looked(): void
  /** A race was lost that it was in: maybe nobody listens any more (`heard`). */
  lost(): void
}

/** By `then`. */
interface Reaction {
  readonly fulfilled: Race | null
  readonly rejected: Race | null
  /** The promise that came of it. */
  readonly derived: Given<unknown>
}

type Handler = ((value: never) => unknown) | null | undefined

const none: Reaction[] = []
const nothing = (): void => undefined

/** A promise given to the code, or one derived from it by `then`. */
export class Given<T> extends Promise<T> {
  #listener: Listener | null = null
  #looked = false
  /** How often it was awaited: that is for good. */
  #awaited = 0
  #settled: 'fulfilled' | 'rejected' | null = null
  #observed = false
  #reactions = none
  #fulfil: ((value: unknown) => void) | null = null
  #refuse: ((error: unknown) => void) | null = null
  #name: string | null = null

  /** One for the code. Only the engine settles it, by `fulfil` and `refuse`. `name`: of what must not be overlooked. */
  static make(name: string | null): Given<never> {
    let fulfil: ((value: never) => void) | null = null
    let refuse: ((error: unknown) => void) | null = null
    const given = new Given<never>((resolve, reject) => {
      fulfil = resolve
      refuse = reject
    })
    given.#fulfil = fulfil
    given.#refuse = refuse
    given.#name = name
    return given
  }

  static fulfil(given: Given<never>, value: unknown): void {
    given.#fulfil?.(value)
  }

  /** That nobody awaits it must not end the process. */
  static refuse(given: Given<never>, error: unknown): void {
    unseen(given, nothing, nothing)
    given.#refuse?.(error)
  }

  /** Has it heard what becomes of the promise, once. */
  attend(listener: Listener): void {
    this.#listener ??= listener
  }

  /** The name of what must not be overlooked, until somebody looks at it. */
  static overlooked(given: Given<never>): string | null {
    return given.#looked ? null : given.#name
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
    return derived.#looked ? derived.heard : fulfilled?.[RIVALS] !== OVER && rejected?.[RIVALS] !== OVER
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
    const reaction = { fulfilled: raceOf(fulfilled), rejected: raceOf(rejected) }
    const races = reaction.fulfilled !== null || reaction.rejected !== null
    if (before === this && races) this.#awaited--
    this.#look()
    const derived = chain(this, Given, fulfilled, rejected) as Given<unknown>
    derived.#listener = this.#listener
    if (this.#reactions === none) this.#reactions = []
    this.#reactions.push({ ...reaction, derived })
    if (races) this.#enter(reaction)
    return derived as Given<A | B>
  }

  #look(): void {
    this.#looked = true
    this.#listener?.looked()
  }

  /** It takes part in what settles by these functions. */
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

/** On a function that settles a promise: who would lose by it. A map of weak references would cost the collector more than all the rest. */
const RIVALS = Symbol('rivals')
/** The promise is settled: to call the function changes nothing. */
const OVER: Listener[] = []

interface Race {
  [RIVALS]?: Listener[]
}

function join(race: Race, listener: Listener): void {
  if (race[RIVALS] === OVER) listener.lost()
  else if (race[RIVALS]) race[RIVALS].push(listener)
  else race[RIVALS] = [listener]
}

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

const source = Function.prototype.toString
const nameless = source.call(Promise.withResolvers<void>().resolve)

/** If it is one of those that settle a promise; a user's function may be called by many. */
function raceOf(used: unknown): Race | null {
  return typeof used === 'function' && used.name === '' && source.call(used) === nameless ? (used as Race) : null
}
