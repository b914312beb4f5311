import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Entry, Place } from '../../packages/triarch/test/crash/ledger.ts'
import { nameOf as wrapOf } from './censor.ts'
import type { Sight } from './sight.ts'
import type { Diary } from './yard.ts'

/** What all services saw: it outlives every node. */
export class Ledger {
  readonly entries: Entry[] = []
  /** Told of each token, once for each time that a step begins to wait. */
  told: (token: string) => void = () => undefined
  /** Whether what a machine does, that is no node, may be known to nobody since then; undefined: it is a node. */
  forgotten: (machine: Machine, since: number) => boolean | undefined = () => undefined
  /** Attempts that a middleware was around. */
  readonly wrapped = new Set<string>()
  /** Nobody waits for ever any more. */
  open = false
  readonly #did = new Set<string>()
  readonly #outside = new Set<string>()
  readonly #world: World
  readonly #clock: { now(): number }
  readonly #sight: Sight

  /** `clock`: the store's. */
  constructor(world: World, sight: Sight, clock: { now(): number } = { now: () => world.now }) {
    this.#clock = clock
    this.#world = world
    this.#sight = sight
  }

  /** The services as one machine reaches them: not at all, once it crashed. */
  of(machine: Machine): Diary {
    /** When each attempt began, and under which name its node was known then. */
    const calls = new Map<string, { at: number; node: string | undefined }>()
    return {
      write: (kind, place) => {
        if (!machine.alive) return
        const attempt = `${place.key} ${place.operation} ${place.attempt}`
        if (kind === 'call') calls.set(attempt, { at: this.#world.now, node: this.#sight.nodeOf(machine) })
        const began = calls.get(attempt)
        const zombie = kind !== 'call' && began !== undefined && this.#isZombie(machine, began)
        this.entries.push({ kind, ...place, at: this.#clock.now(), pid: machine.index, zombie, note: '' })
        if (kind === 'effect') this.#did.add(place.key)
        this.#world.note(`${machine.name} ${nameOf(kind, place)}${zombie ? ' (nobody waits for it)' : ''}`)
      },
      wrap: (place) => {
        if (machine.alive) this.wrapped.add(wrapOf(place))
      },
      tell: (token) => {
        if (machine.alive) this.told(token)
      },
      did: (key) => this.#did.has(key),
      outside: (key) => {
        const isFirst = !this.#outside.has(key)
        this.#outside.add(key)
        return isFirst && !this.open ? new Promise(() => undefined) : Promise.resolve()
      },
      pause: (ms, signal) => pause(machine, ms, signal),
    }
  }

  /** It stood still or was taken for dead since the attempt began: what it does now may be known to nobody. */
  #isZombie(machine: Machine, { at, node }: { at: number; node: string | undefined }): boolean {
    const apart = this.forgotten(machine, at)
    if (apart !== undefined) return apart
    return machine.frozenUntil > at || node === undefined || !this.#sight.lives(node)
  }
}

function nameOf(kind: Entry['kind'], { operation, key, action, attempt }: Place): string {
  return `${kind} of ${operation} attempt ${attempt} of ${key} (${action})`
}

function pause(machine: Machine, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel()
      reject(signal.reason as Error)
    }
    const timer = machine.timer(ms, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
