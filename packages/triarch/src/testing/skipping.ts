import { TriarchError } from '../error/error.ts'

/** What an awaited task waits for. */
export interface Prospect {
  /** The first instant (ms since the epoch) at which something happens by itself; null: passing time changes nothing. */
  at: number | null
  /** User code is at work, so time stands still until it is done. */
  working: boolean
  /** Why the task does not move. */
  text: string
}

/** An awaited result. */
export interface ResultWait {
  task: string
  /** The wait has a timeout of its own. */
  bounded: boolean
  /** Real time that user code, or something outside, may take (ms). */
  patience: number
  ahead: () => Promise<Prospect>
  reject: (error: Error) => void
}

/** The operations on virtual time. */
export interface Passing {
  now(): number
  /** Real time (ms). */
  real(): number
  /** Waits for a moment of real time. */
  breath(): Promise<void>
  settle(): Promise<void>
  /** Whether time is being moved, or a call to the store is under way. */
  busy(): boolean
  /** A number that changes whenever something happens. */
  mark(): number
  /** Moves time to the next timer and fires it, or to this instant if that is earlier. */
  pass(until: number): void
}

/** Number of predictions, after which the result counts as one that never comes. */
const MOST_LOOKS = 50_000

/** How far time may pass at once for a wait without a known instant (ms). */
export const WHILE = 86_400_000

/** Lets time pass while results are awaited: from timer to timer, whenever nothing can happen otherwise. */
export class Skipping {
  readonly #time: Passing
  readonly #waits = new Set<ResultWait>()
  #horizon = Number.NEGATIVE_INFINITY
  #running = false
  #looks = 0

  constructor(time: Passing) {
    this.#time = time
  }

  add(wait: ResultWait): void {
    this.#waits.add(wait)
    // The horizon was computed without this wait.
    this.#horizon = Number.NEGATIVE_INFINITY
    if (this.#running) return
    this.#running = true
    this.#looks = 0
    void this.#run()
  }

  drop(wait: ResultWait): void {
    this.#waits.delete(wait)
  }

  async #run(): Promise<void> {
    for (;;) {
      const mark = this.#time.mark()
      await this.#time.settle()
      if (this.#waits.size === 0) break
      if (this.#time.busy()) await this.#time.breath()
      else if (mark !== this.#time.mark()) continue
      else if (this.#time.now() < this.#horizon) this.#time.pass(this.#horizon)
      else await this.#look()
    }
    this.#running = false
  }

  /** Computes until when time may pass, or waits for what needs no virtual time. */
  async #look(): Promise<void> {
    const waits = [...this.#waits]
    const prospects = await Promise.all(waits.map(({ ahead }) => ahead()))
    const now = this.#time.now()
    // A wait with a timeout ends by one of the timers.
    const instants = prospects.flatMap(({ at }, index) => at ?? (waits[index]?.bounded ? now + WHILE : []))
    const held = prospects.some(({ working }) => working)
    if (instants.length > 0 && !held) {
      this.#horizon = Math.max(Math.min(...instants), now + 1)
      if (this.#looks++ < MOST_LOOKS) return
    } else if (!(await this.#stands(Math.max(...waits.map(({ patience }) => patience))))) return
    for (const [index, wait] of waits.entries()) {
      const { working, text } = prospects[index] as Prospect
      if (wait.bounded) this.#horizon = now + WHILE
      else if (this.#waits.delete(wait)) wait.reject(endless(wait.task, why(working, this.#looks), text))
    }
  }

  /** Whether nothing happens for this long, in real time. */
  async #stands(patience: number): Promise<boolean> {
    const mark = this.#time.mark()
    const until = this.#time.real() + patience
    while (mark === this.#time.mark() && !this.#time.busy() && this.#waits.size > 0) {
      if (this.#time.real() >= until) return true
      await this.#time.breath()
    }
    return false
  }
}

function why(working: boolean, looks: number): string {
  if (working)
    return 'time stands still while its code is at work. If that waits for virtual time, use engine.advance()'
  if (looks >= MOST_LOOKS) return `it did not stop, however often time went on`
  return 'no time that passes will end it'
}

function endless(task: string, reason: string, text: string): TriarchError {
  return new TriarchError('WAIT_ENDLESS', `the result of task "${task}" does not come: ${reason}. ${text}`)
}
