import type { Timer } from '../environment/environment.ts'
import { Heap } from '../environment/heap.ts'
import { hash32, seededRandom } from '../environment/random.ts'
import { Machine, type MachineOptions, type Universe } from './machine.ts'

export interface WorldOptions {
  /** The same seed gives the same course of events; 1. */
  seed?: number
  /**
   * Rounds of the real event loop to wait before time passes, for code that does real I/O; 0 where there is none, which
   * is much faster.
   */
  patience?: number
}

interface WorldEvent {
  due: number
  /** Events due at the same instant are ordered at random, then by arrival. */
  tie: number
  arrival: number
  /** The machine of the event; null: it belongs to the world. */
  machine: Machine | null
  label: string
  /** Null after it was cancelled. */
  callback: (() => void) | null
}

const START = Date.UTC(2026, 0, 1)
/** Number of events without passing time that indicates an endless loop. */
const MOST_AT_ONCE = 200_000
/** Number of events after which the real event loop gets a turn. */
const BREATH = 20_000

/**
 * Several machines in one thread, with one queue of events. Time passes from event to event; after each, every promise reaction runs before
 * the next. The course of events depends on nothing but the seed.
 */
export class World implements Universe {
  readonly random: () => number
  /** The true time, which each machine's clock approximates (ms since the epoch). */
  now: number = START
  /** Number of events so far. */
  steps = 0
  /** Called with each event, if set. */
  trace: ((line: string) => void) | null = null
  readonly machines: Machine[] = []
  readonly #events = new Heap<WorldEvent>(before)
  /** Callbacks that precede any other event: of machines whose promise reactions have all run. */
  #drained: { machine: Machine; callback: () => void }[] = []
  readonly #stopBudget: number
  #arrivals = 0
  #hash = 0x811c9dc5
  #atOnce = 0

  constructor({ seed = 1, patience = 0 }: WorldOptions = {}) {
    this.random = seededRandom(seed)
    this.#stopBudget = patience
  }

  /** A hash of the course of events. */
  get hash(): number {
    return this.#hash >>> 0
  }

  /** Time since the start (ms). */
  get elapsed(): number {
    return this.now - START
  }

  machine(name: string, options: MachineOptions = {}): Machine {
    const machine = new Machine(this, name, { ...options, index: this.machines.length + 1 })
    this.machines.push(machine)
    return machine
  }

  /** A random integer in 0 … bound - 1. */
  below(bound: number): number {
    return Math.floor(this.random() * bound)
  }

  /** Schedules an event after `ms`, for a machine, which must then be alive, or for the world. */
  after(ms: number, label: string, callback: () => void, machine: Machine | null = null): Timer {
    const event: WorldEvent = {
      due: this.now + Math.max(0, Math.ceil(ms)),
      tie: this.random(),
      arrival: this.#arrivals++,
      machine,
      label,
      callback,
    }
    this.#events.add(event)
    return {
      cancel: () => {
        event.callback = null
      },
    }
  }

  /** Schedules a callback as the next event, after all promise reactions have run. */
  drained(machine: Machine, callback: () => void): void {
    this.#drained.push({ machine, callback })
  }

  /** Adds a note to the hash of the course of events. */
  note(text: string): void {
    this.#mix(hash32(text))
    this.trace?.(`${this.elapsed} ${text}`)
  }

  /** Lets events happen until the condition holds, nothing is left to happen, or this much time has passed. */
  run(ms: number, done: () => boolean = () => false): Promise<void> {
    const until = this.now + ms
    return new Promise((resolve, reject) => {
      let quiet = 0
      let breath = 0
      const step = () => {
        try {
          if (done()) return resolve()
          const idle = this.#drained.length === 0 && !this.#dueNow()
          // Real I/O may still cause an event before time passes.
          if (idle && quiet++ < this.#stopBudget) return void setImmediate(step)
          if (!this.#next(until)) return resolve()
          quiet = 0
        } catch (error) {
          return reject(error as Error)
        }
        // A tick queued from a microtask runs after all microtasks.
        if (++breath % BREATH === 0) setImmediate(step)
        else queueMicrotask(() => process.nextTick(step))
      }
      queueMicrotask(() => process.nextTick(step))
    })
  }

  #dueNow(): boolean {
    const first = this.#events.first
    return first !== undefined && first.due <= this.now
  }

  #next(until: number): boolean {
    const drained = this.#drained.shift()
    if (drained) {
      if (drained.machine.alive) drained.callback()
      return true
    }
    for (;;) {
      const event = this.#events.first
      if (!event || event.due > until) {
        this.now = Math.max(this.now, until)
        return false
      }
      this.#events.take()
      const { machine, callback } = event
      if (!callback || machine?.alive === false) continue
      if (machine && machine.frozenUntil > this.now && event.due < machine.frozenUntil) {
        // Events of a frozen machine keep their order.
        event.due = machine.frozenUntil
        event.tie = -1
        event.arrival = this.#arrivals++
        this.#events.add(event)
        continue
      }
      this.#atOnce = event.due > this.now ? 0 : this.#atOnce + 1
      if (this.#atOnce > MOST_AT_ONCE) throw new Error(`the world keeps itself busy: ${event.label}`)
      this.now = Math.max(this.now, event.due)
      this.steps++
      this.#mix(this.now ^ ((machine?.index ?? 0) << 20) ^ event.label.length)
      this.trace?.(`${this.elapsed} ${machine?.name ?? 'world'} ${event.label}`)
      callback()
      return true
    }
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ value, 0x01000193)
    this.#hash ^= this.#hash >>> 15
  }
}

function before(a: WorldEvent, b: WorldEvent): boolean {
  if (a.due !== b.due) return a.due < b.due
  return a.tie < b.tie || (a.tie === b.tie && a.arrival < b.arrival)
}
