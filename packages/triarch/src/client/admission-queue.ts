import type { QueueBound } from '../definition/bound.ts'
import { delay, type Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { roomIn } from '../policy/room.ts'
import type { StateStore } from '../store/port.ts'
import { before, clock, type Explanation } from '../view/reason.ts'

/** So long a reading of the line is good (ms). */
const FRESH = 250
/** Who is held back is refused after all after so long (ms), and at once when so many of this process are. */
const LONGEST_WAIT = 30_000
const MOST_HELD = 10_000

/** The line of one workflow, as this process knows it. */
interface Line {
  /** Who may still come in, by the last reading. */
  room: number
  /** Until when that is good (ms of the monotonic clock). */
  until: number
  /** Let in, and perhaps not written yet. */
  under: number
  /** Let in since the reading began that is under way. */
  since: number
  reading: Promise<void> | null
  /** As the last one said that was held back. */
  most: number
  /** Held back, in the order in which they came. */
  readonly held: Held[]
}

interface Held {
  /** The id that was given to it. */
  id: string | undefined
  /** As instants. */
  since: number
  until: number
  tell(error: TriarchError | null): void
}

/** Hears of each that finds the line full. */
type FullLine = (workflow: string, most: number, outcome: 'refused' | 'held') => void

/** Keeps submissions of workflows whose line is bounded out, or waiting, while it is full. */
export class AdmissionQueue {
  readonly #environment: Environment
  readonly #store: Pick<StateStore, 'queueLength'>
  readonly #lines = new Map<string, Line>()
  readonly #tell: FullLine
  #over: TriarchError | null = null

  constructor(environment: Environment, store: Pick<StateStore, 'queueLength'>, tell: FullLine = () => undefined) {
    this.#environment = environment
    this.#store = store
    this.#tell = tell
  }

  /**
   * Resolves once the submission may go on; whoever was let in calls what it gives when that is written, or failed. `waits`: not in a
   * transaction, which holds up others. Throws QUEUE_FULL, STORE_*, and what `close` was given.
   */
  async enter(workflow: string, { most, waits }: QueueBound, id?: string): Promise<() => void> {
    const line = this.#lineOf(workflow)
    if (line.held.length === 0) {
      if (!this.#hasRoom(line)) await this.#read(workflow, line, most)
      if (line.held.length === 0 && this.#take(line)) return () => void line.under--
    }
    if (!waits || line.held.length >= MOST_HELD) {
      this.#tell(workflow, most, 'refused')
      throw full(workflow, most)
    }
    this.#tell(workflow, most, 'held')
    await this.#wait(workflow, line, most, id)
    return () => void line.under--
  }

  /** Who is held back is told this, and who comes later. */
  close(reason: TriarchError): void {
    this.#over = reason
    for (const { held } of this.#lines.values()) for (const one of held.splice(0)) one.tell(reason)
  }

  #lineOf(workflow: string): Line {
    const known = this.#lines.get(workflow)
    if (known) return known
    const line: Line = {
      room: 0,
      until: Number.NEGATIVE_INFINITY,
      under: 0,
      since: 0,
      reading: null,
      most: 0,
      held: [],
    }
    this.#lines.set(workflow, line)
    return line
  }

  #hasRoom({ room, until }: Line): boolean {
    return room > 0 && this.#environment.monotonic() < until
  }

  #take(line: Line): boolean {
    if (!this.#hasRoom(line)) return false
    line.room--
    line.under++
    line.since++
    return true
  }

  /** One reading for all who ask meanwhile. */
  #read(workflow: string, line: Line, most: number): Promise<void> {
    line.reading ??= this.#ask(workflow, line, most).finally(() => {
      line.reading = null
    })
    return line.reading
  }

  async #ask(workflow: string, line: Line, most: number): Promise<void> {
    // What was let in may be written before the line is counted, or after.
    const { under } = line
    line.since = 0
    const waiting = await this.#store.queueLength({ workflow, count: most })
    line.room = roomIn(most, waiting + under + line.since)
    line.until = this.#environment.monotonic() + FRESH
  }

  /** Why the submission of this id is not taken yet; null: none is held back here. */
  explain(id: string): Explanation | null {
    for (const [workflow, { held, most }] of this.#lines) {
      const ahead = held.findIndex((it) => it.id === id)
      const one = held[ahead]
      if (!one) continue
      const [since, until] = [new Date(one.since), new Date(one.until)]
      const text = `waits to be submitted since ${clock(since)}: ${most} tasks of workflow ${workflow} wait already, as many as may: ${before(ahead)}, and at ${clock(until)} it is refused`
      return {
        ...{ task: id, workflow, status: 'unsubmitted', text: `Task "${id}" (${workflow}) ${text}.`, holds: [] },
        reasons: [{ code: 'queue-full', workflow, most, ahead, since, until, text }],
      }
    }
    return null
  }

  #wait(workflow: string, line: Line, most: number, id: string | undefined): Promise<void> {
    if (this.#over) return Promise.reject(this.#over)
    return new Promise((resolve, reject) => {
      const since = this.#environment.now()
      const tell = (error: TriarchError | null) => {
        timer.cancel()
        if (error) reject(error)
        else resolve()
      }
      const one: Held = { id, since, until: since + LONGEST_WAIT, tell }
      const timer = this.#environment.timer(LONGEST_WAIT, () => {
        const at = line.held.indexOf(one)
        if (at < 0) return
        line.held.splice(at, 1)
        this.#tell(workflow, most, 'refused')
        tell(full(workflow, most))
      })
      line.most = most
      line.held.push(one)
      if (line.held.length === 1) void this.#admit(workflow, line, most)
    })
  }

  /** While somebody is held back, the line is read again and again. */
  async #admit(workflow: string, line: Line, most: number): Promise<void> {
    while (line.held.length > 0) {
      await delay(this.#environment, FRESH)
      if (line.held.length === 0) return
      try {
        await this.#read(workflow, line, most)
      } catch (error) {
        for (const one of line.held.splice(0)) one.tell(error as TriarchError)
        return
      }
      while (line.held.length > 0 && this.#take(line)) line.held.shift()?.tell(null)
    }
  }
}

function full(workflow: string, most: number): TriarchError {
  const message = `${most} tasks of workflow "${workflow}" wait already, as many as may`
  return new TriarchError('QUEUE_FULL', message, { details: { workflow, most } })
}
