import type { QueueBound } from '../definition/bound.ts'
import { delay, type Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { roomIn } from '../policy/room.ts'
import type { StateStore } from '../store/port.ts'
import { before, clock, type Explanation } from '../view/reason.ts'

/** How long a read of a queue's length is valid (ms). */
const FRESH = 250
/** A submission waits at most this long (ms) before it is refused; and at once if this many of this process wait. */
const LONGEST_WAIT = 30_000
const MOST_HELD = 10_000

/** The queue of ready tasks of one workflow, as this process knows it. */
interface WorkflowQueue {
  /** How many more submissions fit, by the last read. */
  room: number
  /** Until when that is valid (monotonic clock, ms). */
  until: number
  /** Submissions admitted that may not be written yet. */
  under: number
  /** Submissions admitted since the read under way began. */
  since: number
  reading: Promise<void> | null
  /** The limit given by the last submission that had to wait. */
  most: number
  /** Waiting submissions in the order in which they came. */
  readonly held: HeldSubmission[]
}

interface HeldSubmission {
  /** The id given by the caller. */
  id: string | undefined
  /** Wall clock times (ms). */
  since: number
  until: number
  tell(error: TriarchError | null): void
}

/** Called for each submission that finds the queue full. */
type FullLine = (workflow: string, most: number, outcome: 'refused' | 'held') => void

/** Makes submissions wait, or refuses them, while the bounded queue of their workflow is full. */
export class AdmissionQueue {
  readonly #environment: Environment
  readonly #store: Pick<StateStore, 'queueLength'>
  readonly #lines = new Map<string, WorkflowQueue>()
  readonly #tell: FullLine
  #over: TriarchError | null = null

  constructor(environment: Environment, store: Pick<StateStore, 'queueLength'>, tell: FullLine = () => undefined) {
    this.#environment = environment
    this.#store = store
    this.#tell = tell
  }

  /**
   * Resolves once the submission may go on; the caller calls the returned function when the submission is written or has failed. `waits`:
   * false in a transaction, which would block others. Throws QUEUE_FULL, STORE_*, and the error given to `close`.
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

  /** Rejects waiting and future submissions with this error. */
  close(reason: TriarchError): void {
    this.#over = reason
    for (const { held } of this.#lines.values()) for (const one of held.splice(0)) one.tell(reason)
  }

  #lineOf(workflow: string): WorkflowQueue {
    const known = this.#lines.get(workflow)
    if (known) return known
    const line: WorkflowQueue = {
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

  #hasRoom({ room, until }: WorkflowQueue): boolean {
    return room > 0 && this.#environment.monotonic() < until
  }

  #take(line: WorkflowQueue): boolean {
    if (!this.#hasRoom(line)) return false
    line.room--
    line.under++
    line.since++
    return true
  }

  /** One read serves all callers that ask meanwhile. */
  #read(workflow: string, line: WorkflowQueue, most: number): Promise<void> {
    line.reading ??= this.#ask(workflow, line, most).finally(() => {
      line.reading = null
    })
    return line.reading
  }

  async #ask(workflow: string, line: WorkflowQueue, most: number): Promise<void> {
    // Submissions admitted before may be written before or after the count.
    const { under } = line
    line.since = 0
    const waiting = await this.#store.queueLength({ workflow, count: most })
    line.room = roomIn(most, waiting + under + line.since)
    line.until = this.#environment.monotonic() + FRESH
  }

  /** Why the submission of this id waits; null: none of this id waits here. */
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

  #wait(workflow: string, line: WorkflowQueue, most: number, id: string | undefined): Promise<void> {
    if (this.#over) return Promise.reject(this.#over)
    return new Promise((resolve, reject) => {
      const since = this.#environment.now()
      const tell = (error: TriarchError | null) => {
        timer.cancel()
        if (error) reject(error)
        else resolve()
      }
      const one: HeldSubmission = { id, since, until: since + LONGEST_WAIT, tell }
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

  /** Reads the queue's length repeatedly while submissions wait. */
  async #admit(workflow: string, line: WorkflowQueue, most: number): Promise<void> {
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
