import { type CountsChange, type ListChange, TriarchError } from 'triarch'
import { Refused } from '../problem/problem.ts'
import type { Guard } from '../request/guard.ts'
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

/** A client that was cut off asks again after this long, and some a little later than others (ms). */
const RETRY = 2_000
const SPREAD = 2_000
const STOPPING: End = { code: 'STOPPING', again: true }

/** Clients that are told of events: so many at once, and none for longer than the server lives. */
export class Streams {
  readonly #most: number
  readonly #bytes: number
  readonly #codeOf: (error: unknown) => string
  readonly #guard: Guard
  readonly #open = new Set<EventStream>()
  #opening = 0
  #turn = 0
  #closed = false

  constructor(
    { streams, buffered }: { streams: number; buffered: number },
    guard: Guard,
    codeOf: (error: unknown) => string,
  ) {
    this.#guard = guard
    this.#most = streams
    this.#bytes = buffered
    this.#codeOf = codeOf
  }

  /**
   * Null: the task has stopped, and the client knows that already; or it has gone. Throws TOO_MANY_STREAMS, STOPPING, UNKNOWN_TASK, and what the first look
   * does.
   */
  async open({ watch, task, still, signal }: Source, known: string | null): Promise<ReadableStream<Uint8Array> | null> {
    if (this.#closed) throw new Refused('STOPPING', 'this server is stopping')
    if (this.#open.size + this.#opening >= this.#most)
      throw new Refused('TOO_MANY_STREAMS', `this server has its ${this.#most} streams already`)
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
      const stream = new EventStream({
        ...{ most: this.#bytes, alone: task !== undefined, known },
        retry: RETRY + ((this.#turn++ * 613) % SPREAD),
        closed: () => {
          off()
          this.#open.delete(stream)
          controller.abort()
        },
      })
      this.#open.add(stream)
      // Who may watch no more is told to ask again, and hears why.
      const refuse = (error: Refused) => stream.end({ code: this.#codeOf(error), again: true })
      const off = still ? this.#guard.watch(still, refuse) : () => undefined
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
