import { type CountsChange, isTriarchError, type ListChange, type LogLine, TriarchError } from 'triarch'
import { Refused } from '../problem/problem.ts'
import type { Guard } from '../request/guard.ts'
import { LineStream, readOf } from './lines.ts'
import { digestOf, type End, EventStream } from './stream.ts'

type Change = ListChange | CountsChange

/** What is streamed: `watch` begins to, until the signal aborts. */
export interface Source {
  watch: (signal: AbortSignal) => AsyncIterableIterator<Change>
  /** Of this task alone: the stream ends with it. */
  task?: string
  /** Throws where the client may not watch any more; null: everybody may. */
  still?: (() => Promise<void>) | null
  /** Aborts when the client goes away, which is heard of here until the stream has begun. */
  signal?: AbortSignal
}

/** Lines of a log: `follow` begins to tell those after `after`, until the signal aborts. */
export interface LogSource {
  follow: (after: number, signal: AbortSignal) => AsyncIterableIterator<LogLine>
  /** Where a client begins that has read nothing. */
  after: number
  /** Whether the task has stopped. Throws UNKNOWN_TASK. */
  stopped: () => Promise<boolean>
  still: Source['still']
  signal: AbortSignal
}

/** A comment is sent after so long without an event (ms): whoever stands between does not take the connection for dead. */
export const QUIET = 15_000
/** A client that was cut off asks again after this long, and some a little later than others (ms). */
const RETRY = 2_000
const SPREAD = 2_000
const STOPPING: End = { code: 'STOPPING', again: true }

/** Clients that are told of events: so many at once, and none for longer than the server lives. */
export class Streams {
  readonly #most: number
  readonly #bytes: number
  readonly #stalled: number
  readonly #codeOf: (error: unknown) => string
  readonly #guard: Guard
  readonly #open = new Set<EventStream | LineStream>()
  #opening = 0
  #turn = 0
  #closed = false

  constructor(
    { streams, buffered, stalled }: { streams: number; buffered: number; stalled: number },
    guard: Guard,
    codeOf: (error: unknown) => string,
  ) {
    this.#guard = guard
    this.#most = streams
    this.#bytes = buffered
    this.#stalled = stalled
    this.#codeOf = codeOf
  }

  /**
   * Null: the task has stopped, and the client knows that already; or it has gone. Throws TOO_MANY_STREAMS, STOPPING, UNKNOWN_TASK, and what the first look
   * does.
   */
  async open({ watch, task, still, signal }: Source, known: string | null): Promise<ReadableStream<Uint8Array> | null> {
    this.#admit()
    const controller = new AbortController()
    const leave = () => controller.abort()
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    const changes = watch(controller.signal)
    this.#opening++
    try {
      const first = ((await changes.next()) as { value: Change }).value
      const only = task !== undefined && first.type === 'page' ? (first.tasks[0] ?? null) : undefined
      if (only === null) throw new TriarchError('UNKNOWN_TASK', `there is no task "${task}"`)
      if (only?.status === 'stopped' && known === digestOf(only)) {
        controller.abort()
        return null
      }
      const stream = this.#streamOf({ alone: task !== undefined, known, still, over: () => controller.abort() })
      this.#take(stream, first, task !== undefined)
      if (this.#closed) stream.end(STOPPING)
      void this.#pump(stream, changes, { signal: controller.signal, alone: task !== undefined })
      return stream.body
    } catch (error) {
      controller.abort()
      if (signal?.aborted) return null // nobody hears of it
      throw error
    } finally {
      signal?.removeEventListener('abort', leave)
      this.#opening--
    }
  }

  /** Of what there always is: it begins at once, and where it cannot be read the stream says so. Throws TOO_MANY_STREAMS, STOPPING. */
  async begin({ watch, still, signal }: Source, known: string | null): Promise<ReadableStream<Uint8Array>> {
    this.#admit()
    const controller = new AbortController()
    const stream = this.#streamOf({ alone: false, known, still, over: () => controller.abort() })
    // It is cancelled by nobody if its client went away before it began.
    if (signal?.aborted) await stream.body.cancel()
    else void this.#pump(stream, watch(controller.signal), { signal: controller.signal, alone: false })
    return stream.body
  }

  #streamOf(of: { alone: boolean; known: string | null; still: Source['still']; over: () => void }): EventStream {
    const { alone, known, still, over } = of
    const closed = () => {
      off()
      this.#open.delete(stream)
      over()
    }
    const stream = new EventStream({ most: this.#bytes, alone, known, retry: this.#retry(), closed })
    const off = this.#watched(stream, still)
    return stream
  }

  /** Null: the task has stopped, and the client has read its last line. Throws TOO_MANY_STREAMS, STOPPING, UNKNOWN_TASK, STORE_*. */
  async lines(
    { follow, after, stopped, still, signal }: LogSource,
    known: string | null,
  ): Promise<ReadableStream<Uint8Array> | null> {
    this.#admit()
    this.#opening++
    try {
      const read = readOf(known)
      if ((await stopped()) && read?.ended) return null
      const controller = new AbortController()
      const last = read?.last ?? after
      const stream = new LineStream(
        {
          ...{ lines: follow(last, controller.signal), stalled: this.#stalled, quiet: QUIET, retry: this.#retry() },
          endOf: (error) => {
            if (controller.signal.aborted) return null
            return { code: this.#codeOf(error), again: !isTriarchError(error, 'UNKNOWN_TASK') }
          },
          closed: () => {
            off()
            this.#open.delete(stream)
            controller.abort()
          },
        },
        last,
      )
      const off = this.#watched(stream, still)
      if (this.#closed) stream.end(STOPPING)
      // It is cancelled by nobody if its client went away before it began.
      if (signal.aborted) await stream.body.cancel()
      else void stream.run()
      return stream.body
    } finally {
      this.#opening--
    }
  }

  #admit(): void {
    if (this.#closed) throw new Refused('STOPPING', 'this server is stopping')
    if (this.#open.size + this.#opening >= this.#most)
      throw new Refused('TOO_MANY_STREAMS', `this server has its ${this.#most} streams already`)
  }

  #retry(): number {
    return RETRY + ((this.#turn++ * 613) % SPREAD)
  }

  /** Who may watch no more is told to ask again, and hears why. What is returned says that it has ended. */
  #watched(stream: EventStream | LineStream, still: Source['still']): () => void {
    this.#open.add(stream)
    const refuse = (error: Refused) => stream.end({ code: this.#codeOf(error), again: true })
    return still ? this.#guard.watch(still, refuse) : () => undefined
  }

  #take(stream: EventStream, change: Change, alone: boolean): void {
    stream.take(change)
    if (!alone) return
    const task = change.type === 'task' ? change.task : change.type === 'page' ? change.tasks[0] : undefined
    if (task?.status === 'stopped') stream.end({ code: 'TASK_STOPPED', again: false })
    if (change.type === 'gone') stream.end({ code: 'UNKNOWN_TASK', again: false })
  }

  async #pump(
    stream: EventStream,
    changes: AsyncIterableIterator<Change>,
    { signal, alone }: { signal: AbortSignal; alone: boolean },
  ): Promise<void> {
    try {
      for await (const change of changes) this.#take(stream, change, alone)
    } catch (error) {
      if (!signal.aborted) stream.end({ code: this.#codeOf(error), again: true })
    }
  }

  /** Each client hears that it is to ask elsewhere, and nobody begins to listen. */
  close(): void {
    this.#closed = true
    for (const stream of [...this.#open]) stream.end(STOPPING)
  }
}
