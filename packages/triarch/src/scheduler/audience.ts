/**
 * Who listens to the promises that the workflow's code was given. `await` reads a promise's constructor; `then` is called by
 * everything else, Promise.race and its like included, with functions of the language that say nothing of themselves but that
 * they are always the same: the promises of one race all get the same two. Once one of them is settled, these two do nothing
 * any more, so whoever has no other listener has lost the race, and nobody would see what becomes of it.
 *
 * A prototype of their own makes it seen; they stay native promises, tick for tick.
 */

/** What is to be heard of a promise. */
export interface Listener {
  /** Somebody awaits it, chains to it, or gives it to Promise.all and its like. */
  looked?(): void
  /** A race was lost that it was in: maybe nobody listens any more (isHeard). */
  lost?(): void
}

/** A promise given to the code, or one derived from it by `then`. */
interface Seat {
  readonly listener: Listener | null
  looked: boolean
  /** How often it was awaited: that is for good. */
  awaited: number
  settled: 'fulfilled' | 'rejected' | null
  observed: boolean
  reactions: Reaction[] | null
}

interface Reaction {
  readonly fulfilled: unknown
  readonly rejected: unknown
  /** The promise that `then` made of it. */
  readonly derived: Seat
}

/** On the promise itself: a map of weak references costs the collector more than all the rest. */
const SEAT = Symbol('seat')

function seatOf(promise: object): Seat | undefined {
  return (promise as { [SEAT]?: Seat })[SEAT]
}

/** Whom it tells how it ends. */
interface Told {
  fulfilled?: () => void
  rejected: (error: unknown) => void
}
const UNTOLD: Told = { rejected: () => undefined }

/** Functions of settled promises: to call them changes nothing. */
const spent = new WeakSet<object>()
/** Who would lose by which. */
const rivals = new WeakMap<object, Listener[]>()
/** Read last: what Promise.race reads right before it chains is no await. */
let last: Seat | null = null
let within = false

/** Has it seen who listens to the promise, which is given to the code. A rejection that nobody awaits must not end the process. */
export function attend(
  promise: Promise<unknown>,
  listener: Listener | null,
  { fulfilled, rejected }: Told = UNTOLD,
): void {
  if (seatOf(promise)) return
  promise.then(fulfilled, rejected)
  seat(promise, listener)
}

function seat(promise: Promise<unknown>, listener: Listener | null): Seat {
  const taken: Seat = { listener, looked: false, awaited: 0, settled: null, observed: false, reactions: null }
  ;(promise as { [SEAT]?: Seat })[SEAT] = taken
  Object.setPrototypeOf(promise, Given)
  return taken
}

/** Whether anybody would see what becomes of it; also what nobody has looked at yet is to be looked at. */
export function isHeard(promise: Promise<unknown>): boolean {
  const own = seatOf(promise)
  return own === undefined || hears(own)
}

function hears(own: Seat): boolean {
  if (own.awaited > 0 || !own.looked) return true
  // One that is raced again and again would keep all it lost.
  own.reactions = own.reactions?.filter((reaction) => reaction.derived.looked || isLive(reaction)) ?? null
  return own.reactions?.some(isLive) ?? false
}

/** A handler whose promise nobody looks at is there for what it does. */
function isLive({ fulfilled, rejected, derived }: Reaction): boolean {
  return derived.looked ? hears(derived) : !isSpent(fulfilled) && !isSpent(rejected)
}

const nativeThen: (this: Promise<unknown>, fulfilled: unknown, rejected: unknown) => Promise<unknown> = Promise
  .prototype.then as never

const Given: object = Object.create(Promise.prototype, {
  constructor: {
    get(this: object) {
      const own = within ? undefined : seatOf(this)
      if (own) {
        look(own)
        own.awaited++
        last = own
      }
      return Promise
    },
  },
  // biome-ignore lint/suspicious/noThenProperty: it is a promise's
  then: {
    value(this: Promise<unknown>, fulfilled: unknown, rejected: unknown) {
      const own = seatOf(this)
      if (!own) return nativeThen.call(this, fulfilled, rejected)
      const before = last
      last = null
      if (before === own && (isNative(fulfilled) || isNative(rejected))) own.awaited--
      look(own)
      const promise = chain(this, fulfilled, rejected)
      own.reactions ??= []
      own.reactions.push({ fulfilled, rejected, derived: seat(promise, own.listener) })
      enter(this, own, fulfilled, rejected)
      return promise
    },
  },
})

/** Then, without being seen. */
function chain(promise: Promise<unknown>, fulfilled: unknown, rejected: unknown): Promise<unknown> {
  within = true
  try {
    return nativeThen.call(promise, fulfilled, rejected)
  } finally {
    within = false
  }
}

function look(own: Seat): void {
  own.looked = true
  own.listener?.looked?.()
}

/** It takes part in what settles by these functions. */
function enter(promise: Promise<unknown>, own: Seat, ...functions: unknown[]): void {
  for (const each of functions) {
    if (!isNative(each)) continue
    if (spent.has(each)) own.listener?.lost?.()
    else if (own.listener?.lost) {
      const known = rivals.get(each)
      if (known) known.push(own.listener)
      else rivals.set(each, [own.listener])
    }
  }
  if (!functions.some(isNative)) return
  if (own.settled) spend(own)
  if (own.observed) return
  own.observed = true
  const settle = (how: 'fulfilled' | 'rejected') => () => {
    own.settled = how
    spend(own)
  }
  void chain(promise, settle('fulfilled'), settle('rejected'))
}

function spend({ settled, reactions }: Seat): void {
  for (const reaction of reactions ?? []) {
    const used = settled && reaction[settled]
    if (!isNative(used) || spent.has(used)) continue
    spent.add(used)
    for (const rival of rivals.get(used) ?? []) rival.lost?.()
    rivals.delete(used)
  }
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
