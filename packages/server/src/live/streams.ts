import { type CountsChange, isTriarchError, type ListChange, type LogLine, TriarchError } from 'triarch'
import type { Held } from '../held.ts'
import { Refused } from '../problem/problem.ts'
import type { Guard } from '../request/guard.ts'
import { LineStream, readOf } from './lines.ts'
import { digestOf, type End, EventStream } from './stream.ts'

type SourceChange = ListChange | CountsChange

/** What is streamed: `watch` begins to, until the signal aborts. */
export interface Source {
  watch: (signal: AbortSignal) => AsyncIterableIterator<SourceChange>
  /** Of this task alone: the stream ends with it. */
  task?: string
  /** Throws where the client may not watch any more; null: everybody may. */
  still?: (() => Promise<void>) | null
  /** Aborts when the client goes away, which is heard of here until the stream has begun. */
  signal?: AbortSignal
  /** Who watches; null: nobody was asked who they are. */
  caller?: string | null
  /** Whether who watches may have what is kept for operators; false. */
  operates?: boolean
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
  caller?: string | null
  operates?: boolean
}

/** A comment is sent after so long without an event (ms): whoever stands between does not take the connection for dead. */
export const QUIET = 15_000
/** A client that was cut off asks again after this long, and some a little later than others (ms). */
const RETRY = 2_000
const SPREAD = 2_000
/** The part of all streams that one caller may have. */
const PART = 4
/** The part of all streams that is kept for operators, so that they can look at a server that others have filled. */
const KEPT = 10
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
  readonly #byCaller = new Map<string, number>()
  readonly #held: Held
  #turn = 0
  #closed = false

  constructor(
    { streams, buffered, stalled }: { streams: number; buffered: number; stalled: number },
    guard: Guard,
    codeOf: (error: unknown) => string,
    held: Held,
  ) {
    this.#held = held
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
  async open(source: Source, known: string | null): Promise<ReadableStream<Uint8Array> | null> {
    const { watch, task, still, signal, caller = null } = source
    const left = this.#admit(source)
    const controller = new AbortController()
    const leave = () => controller.abort()
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    const changes = watch(controller.signal)
    this.#opening++
    try {
      const first = ((await changes.next()) as { value: SourceChange }).value
      const only = task !== undefined && first.type === 'page' ? (first.tasks[0] ?? null) : undefined
      if (only === null) throw new TriarchError('UNKNOWN_TASK', `there is no task "${task}"`)
      if (only?.status === 'stopped' && known === digestOf(only)) {
        controller.abort()
        left()
        return null
      }
      const over = () => {
        left()
        controller.abort()
      }
      const stream = this.#streamOf({ alone: task !== undefined, known, still, caller, over })
      this.#take(stream, first, task !== undefined)
      if (this.#closed) stream.end(STOPPING)
      void this.#pump(stream, changes, { signal: controller.signal, alone: task !== undefined })
      return stream.body
    } catch (error) {
      left()
      controller.abort()
      if (signal?.aborted) return null // nobody hears of it
      throw error
    } finally {
      signal?.removeEventListener('abort', leave)
      this.#opening--
    }
  }

  /** Of what there always is: it begins at once, and where it cannot be read the stream says so. Throws TOO_MANY_STREAMS, STOPPING. */
  async begin(source: Source, known: string | null): Promise<ReadableStream<Uint8Array>> {
    const { watch, still, signal, caller = null } = source
    const left = this.#admit(source)
    const controller = new AbortController()
    const over = () => {
      left()
      controller.abort()
    }
    const stream = this.#streamOf({ alone: false, known, still, caller, over })
    // It is cancelled by nobody if its client went away before it began.
    if (signal?.aborted) await stream.body.cancel()
    else void this.#pump(stream, watch(controller.signal), { signal: controller.signal, alone: false })
    return stream.body
  }

  #streamOf(of: {
    alone: boolean
    known: string | null
    still: Source['still']
    caller: string | null
    over: () => void
  }): EventStream {
    const { alone, known, still, caller, over } = of
    const closed = () => {
      off()
      this.#open.delete(stream)
      over()
    }
    const stream = new EventStream({
      most: this.#bytes,
      alone,
      known,
      retry: this.#retry(),
      closed,
      holding: this.#held.of(caller),
    })
    const off = this.#watched(stream, still)
    return stream
  }

  /** Null: the task has stopped, and the client has read its last line. Throws TOO_MANY_STREAMS, STOPPING, UNKNOWN_TASK, STORE_*. */
  async lines(source: LogSource, known: string | null): Promise<ReadableStream<Uint8Array> | null> {
    const { follow, after, stopped, still, signal } = source
    const left = this.#admit(source)
    this.#opening++
    let isOpen = false
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
            left()
            this.#open.delete(stream)
            controller.abort()
          },
        },
        last,
      )
      isOpen = true
      const off = this.#watched(stream, still)
      if (this.#closed) stream.end(STOPPING)
      // It is cancelled by nobody if its client went away before it began.
      if (signal.aborted) await stream.body.cancel()
      else void stream.run()
      return stream.body
    } finally {
      if (!isOpen) left()
      this.#opening--
    }
  }

  /** What says, once or more often, that the stream of the caller is no more. */
  #admit({ caller = null, operates = false }: Pick<Source, 'caller' | 'operates'>): () => void {
    if (this.#closed) throw new Refused('STOPPING', 'this server is stopping')
    const all = operates || caller === null ? this.#most : this.#most - Math.floor(this.#most / KEPT)
    if (this.#open.size + this.#opening >= all)
      throw new Refused('TOO_MANY_STREAMS', `this server has its ${all} streams already`)
    if (caller === null) return () => undefined
    const own = this.#byCaller.get(caller) ?? 0
    const most = Math.ceil(this.#most / PART)
    if (own >= most) throw new Refused('TOO_MANY_STREAMS', `this caller has its ${most} streams already`)
    this.#byCaller.set(caller, own + 1)
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      const others = (this.#byCaller.get(caller) ?? 1) - 1
      if (others > 0) this.#byCaller.set(caller, others)
      else this.#byCaller.delete(caller)
    }
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

  #take(stream: EventStream, change: SourceChange, alone: boolean): void {
    stream.take(change)
    if (!alone) return
    const task = change.type === 'task' ? change.task : change.type === 'page' ? change.tasks[0] : undefined
    if (task?.status === 'stopped') stream.end({ code: 'TASK_STOPPED', again: false })
    if (change.type === 'gone') stream.end({ code: 'UNKNOWN_TASK', again: false })
  }

  async #pump(
    stream: EventStream,
    changes: AsyncIterableIterator<SourceChange>,
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
