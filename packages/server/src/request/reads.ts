import { busy, monotonic, timer } from '../environment.ts'
import { Refused } from '../problem/problem.ts'

/** Reads that are answered at a time for one caller. */
const MOST_EACH = 4
/** How long a read may wait for its turn (ms), and how many may. */
const PATIENCE = 5_000
const MOST_WAITING = 1_000
/** The part of the time that reads take while the process has other work; what they may take at once before that (ms). */
const SHARE = 0.1
const BURST = 100
/**
 * The process has other work for so long after a task moved or a caller changed something (ms). How often that happens says nothing: reads slow tasks down,
 * and a process whose tasks hardly move any more must not be taken for idle.
 */
const WORKING = 1_000
/** How often it is looked whether those who wait may go on (ms). */
const LOOK = 20
/** Reads that a caller may make for what it changed, beside its turn; callers of which that is known. */
const MOST_EARNED = 10_000
const MOST_CALLERS = 1_000

interface WaitingRead {
  begin: () => void
  fail: (error: unknown) => void
}

/** What ends a read. */
export type EndRead = () => void

/**
 * Turns of those who read. Reads run in the thread of the engine: while that has other work, they take a tenth of its time, and callers have their turns
 * one after the other, however much each asks for. A change that a caller makes earns it a read: who submits a task may ask what became of it.
 */
export class Reads {
  readonly #most: number
  #running = 0
  readonly #byCaller = new Map<string, number>()
  /** By caller, in the order of their turns. */
  readonly #waiting = new Map<string, Set<WaitingRead>>()
  #count = 0
  readonly #earned = new Map<string, number>()
  /** What reads took of the thread beyond their share (ms). */
  #debt = 0
  #paidAt = monotonic()
  readonly #moves: () => number
  #changes = 0
  #work = 0
  #workedAt = Number.NEGATIVE_INFINITY
  #timer: (() => void) | null = null

  /** `most`: reads at a time; `moves`: how often tasks have moved here. */
  constructor(most: number, moves: () => number) {
    this.#most = most
    this.#moves = moves
  }

  /** A caller changes something. */
  changing(): void {
    this.#changes++
  }

  /** The caller has changed something: it may read as often. */
  earn(caller: string, times = 1): void {
    if (times === 0) return
    const earned = Math.min(MOST_EARNED, (this.#earned.get(caller) ?? 0) + times)
    this.#earned.delete(caller)
    this.#earned.set(caller, earned)
    for (const oldest of this.#earned.keys()) {
      if (this.#earned.size <= MOST_CALLERS) break
      this.#earned.delete(oldest)
    }
  }

  /** Waits for the turn. Throws TOO_MANY_REQUESTS; rejects with the signal's reason. */
  async turn(caller: string, signalOf: () => AbortSignal): Promise<EndRead> {
    const earned = this.#earned.get(caller) ?? 0
    if (earned > 0) {
      if (earned === 1) this.#earned.delete(caller)
      else this.#earned.set(caller, earned - 1)
      return () => undefined
    }
    if (this.#count > 0 || !this.#isFree(caller)) await this.#wait(caller, signalOf())
    else this.#begin(caller)
    const before = busy()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#end(caller, busy() - before)
    }
  }

  #isFree(caller: string): boolean {
    return this.#hasRoom() && (this.#byCaller.get(caller) ?? 0) < MOST_EACH && this.#owed() <= BURST
  }

  /** What the thread does while a read is under way is told from the read by nothing: where there is other work, there is one at a time. */
  #hasRoom(): boolean {
    return this.#running < (this.#hasOtherWork() ? 1 : this.#most)
  }

  #begin(caller: string): void {
    this.#running++
    this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + 1)
  }

  #end(caller: string, cost: number): void {
    this.#running--
    const left = (this.#byCaller.get(caller) ?? 1) - 1
    if (left > 0) this.#byCaller.set(caller, left)
    else this.#byCaller.delete(caller)
    if (this.#hasOtherWork()) this.#debt = this.#owed() + cost
    this.#next()
  }

  /** What is still to be waited for, in ms of reads. */
  #owed(): number {
    const now = monotonic()
    this.#debt = this.#hasOtherWork() ? Math.max(0, this.#debt - (now - this.#paidAt) * SHARE) : 0
    this.#paidAt = now
    return this.#debt
  }

  #hasOtherWork(): boolean {
    const now = monotonic()
    const work = this.#moves() + this.#changes
    if (work !== this.#work) this.#workedAt = now
    this.#work = work
    return now - this.#workedAt < WORKING
  }

  #wait(caller: string, signal: AbortSignal): Promise<void> {
    const tooMany = () => new Refused('TOO_MANY_REQUESTS', 'this server answers as many reads as it has time for')
    if (this.#count >= MOST_WAITING) throw tooMany()
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(caller) ?? new Set()
      this.#waiting.set(caller, line)
      const over = () => {
        stop()
        signal.removeEventListener('abort', abort)
        if (!line.delete(one)) return
        this.#count--
        if (line.size === 0 && this.#waiting.get(caller) === line) this.#waiting.delete(caller)
      }
      const abort = () => one.fail(signal.reason)
      const one: WaitingRead = {
        begin: () => {
          over()
          this.#begin(caller)
          resolve()
        },
        fail: (error) => {
          over()
          reject(error)
        },
      }
      const stop = timer(PATIENCE, () => one.fail(tooMany()))
      signal.addEventListener('abort', abort, { once: true })
      line.add(one)
      this.#count++
      this.#next()
    })
  }

  /** Each caller has a turn before one has another. */
  #next(): void {
    while (this.#count > 0 && this.#hasRoom()) {
      const owed = this.#owed() - BURST
      if (owed > 0) return this.#later(Math.min(LOOK, owed / SHARE))
      const found = [...this.#waiting].find(([caller]) => (this.#byCaller.get(caller) ?? 0) < MOST_EACH)
      if (!found) return
      const [caller, line] = found
      this.#waiting.delete(caller)
      const [first] = line
      first?.begin()
      if (line.size > 0) this.#waiting.set(caller, line)
    }
  }

  #later(ms: number): void {
    this.#timer ??= timer(Math.max(1, ms), () => {
      this.#timer = null
      this.#next()
    })
  }
}
