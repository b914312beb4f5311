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
  /** Among events due at the same instant, chance decides; then the order in which they came. */
  tie: number
  arrival: number
  /** Whose it is; null: the world's own. */
  machine: Machine | null
  label: string
  /** Null once cancelled. */
  callback: (() => void) | null
}

const START = Date.UTC(2026, 0, 1)
/** Events without time passing, after which something keeps itself busy for ever. */
const MOST_AT_ONCE = 200_000
/** Events after which the real event loop gets a turn. */
const BREATH = 20_000

/**
 * Several machines in one thread, on one queue of events. Time passes from event to event; after each, every promise
 * reaction has run before the next comes. Nothing here depends on anything but the seed.
 */
export class World implements Universe {
  readonly random: () => number
  /** The true time, which each machine's clock only approximates (ms since the epoch). */
  now: number = START
  /** Events so far. */
  steps = 0
  /** Tells each event, when given. */
  trace: ((line: string) => void) | null = null
  readonly machines: Machine[] = []
  readonly #events = new Heap<WorldEvent>(before)
  /** What comes before any other event: machines whose promises have all run. */
  #drained: { machine: Machine; callback: () => void }[] = []
  readonly #stopBudget: number
  #arrivals = 0
  #hash = 0x811c9dc5
  #atOnce = 0

  constructor({ seed = 1, patience = 0 }: WorldOptions = {}) {
    this.random = seededRandom(seed)
    this.#stopBudget = patience
  }

  /** Differs when the course of events differs. */
  get hash(): number {
    return this.#hash >>> 0
  }

  /** Time since the beginning (ms). */
  get elapsed(): number {
    return this.now - START
  }

  machine(name: string, options: MachineOptions = {}): Machine {
    const machine = new Machine(this, name, { ...options, index: this.machines.length + 1 })
    this.machines.push(machine)
    return machine
  }

  /** 0 … bound - 1. */
  below(bound: number): number {
    return Math.floor(this.random() * bound)
  }

  /** Something that happens at this distance: to a machine, which then must live, or to the world. */
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

  /** Comes next, when all promises have run. */
  drained(machine: Machine, callback: () => void): void {
    this.#drained.push({ machine, callback })
  }

  /** Makes the note a part of the course of events. */
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
          // Real I/O may still bring something that happens before time passes.
          if (idle && quiet++ < this.#stopBudget) return void setImmediate(step)
          if (!this.#next(until)) return resolve()
          quiet = 0
        } catch (error) {
          return reject(error as Error)
        }
        // A tick asked for by a microtask comes when all microtasks have run.
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
        // In the order in which it would have happened.
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
