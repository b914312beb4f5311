import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { isTriarchError } from '../error/error.ts'
import type { LogEntry, LogWrite, StateStore, StepRequest } from '../store/port.ts'
import type { LogSink, LogSource } from './log.ts'

/** Delay between a line and its write to the store, in which more lines are gathered (ms). */
export const FLUSH = 1_000
/** Size of one write, which occupies a store thread for some milliseconds. */
const PORTION = { lines: 200, bytes: 256 * 1024 }
/** Most lines written per FLUSH; the rest waits. */
const MOST_WRITTEN = 2_000
/** Most lines that wait on a node, and their bytes; further lines are dropped. */
const MOST_WAITING = { lines: 10_000, bytes: 4 * 1024 * 1024 }
/** Delay before the store is asked again after a failure: the first one, and the longest (ms). */
const AGAIN = 1_000
const LONGEST_AGAIN = 30_000
/** How many times a stopping node tries to write its remaining lines. */
const LAST_TRIES = 3
/** A portion that the store has refused this many times is dropped. */
const MOST_REFUSED = 3

interface UnwrittenLog extends LogWrite {
  entries: LogEntry[]
  /** The lines come from replayed code, so most of them are already stored. */
  again: boolean
}

export interface LogbookOptions {
  environment: Environment
  store: Pick<StateStore, 'writeLogs' | 'logs'>
  node: string
  failed: (error: unknown) => void
}

/**
 * Buffers the log lines of a node's attempts and tasks on their way to the store. Lines are gathered for a second and written apart from
 * commits.
 */
export class Logbook implements LogSink, Service {
  readonly #options: LogbookOptions
  /** Lines in the order in which they were logged; consecutive lines of one source are one entry. */
  readonly #waiting: UnwrittenLog[] = []
  /** By task, the last entry of `#waiting` that may still take lines. */
  readonly #open = new Map<string, UnwrittenLog>()
  #lines = 0
  #bytes = 0
  #sources = 0
  #timer: Timer | null = null
  #writing: Promise<void> | null = null
  #refused = 0
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)

  constructor(options: LogbookOptions) {
    this.#options = options
  }

  source({ task, step, operation, attempt }: StepRequest, given?: string): LogSource {
    const { node } = this.#options
    const source = given ?? `${node.slice(-12)}.${++this.#sources}`
    const write = { task, source, run: 0, step, operation, attempt, node }
    return { put: (entry) => this.#put(write, entry, false) }
  }

  /** Lines logged by the code of a task, in this run. `again`: during replay. */
  code(task: string, run: number, entries: readonly LogEntry[], again: boolean): void {
    const { node } = this.#options
    const write = { task, source: null, run, step: 0, operation: null, attempt: null, node }
    for (const entry of entries) this.#put(write, entry, again)
  }

  #put(write: Omit<LogWrite, 'entries'>, entry: LogEntry, again: boolean): boolean {
    if (this.#lines >= MOST_WAITING.lines || this.#bytes >= MOST_WAITING.bytes) return false
    let waiting = this.#open.get(write.task)
    if (!waiting || waiting.source !== write.source || waiting.run !== write.run) {
      waiting = { ...write, entries: [], again }
      this.#open.set(write.task, waiting)
      this.#waiting.push(waiting)
    }
    waiting.again ||= again
    waiting.entries.push(entry)
    this.#lines++
    this.#bytes += entry.text.length
    this.#arm(FLUSH)
    return true
  }

  #arm(ms: number): void {
    if (this.#timer) return
    this.#timer = CallContext.none.run(() =>
      this.#options.environment.timer(ms, () => {
        this.#timer = null
        void this.#flush(MOST_WRITTEN)
      }),
    )
    this.#timer.unref?.()
  }

  /** Writes all lines logged so far, if the store takes them. */
  async flush(): Promise<void> {
    await this.#writing
    await this.#flush(Number.POSITIVE_INFINITY)
  }

  #flush(most: number): Promise<void> {
    this.#writing ??= this.#write(most).finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  async #write(most: number): Promise<void> {
    const { store, failed } = this.#options
    for (let written = 0; this.#waiting.length > 0 && written < most; ) {
      const { count, portion, lines, bytes } = this.#portion()
      try {
        const known = await Promise.all(portion.map((it) => (it.again ? this.#unsaid(it) : it)))
        const writes = known.filter(({ entries }) => entries.length > 0)
        if (writes.length > 0) await store.writeLogs(writes)
        this.#backoff.reset()
        this.#refused = 0
      } catch (error) {
        failed(error)
        // A portion with a faulty line is dropped, so that it does not block all later lines.
        const given = isTriarchError(error, 'STORE_FAILED') && ++this.#refused >= MOST_REFUSED
        const over = given || isTriarchError(error, 'STORE_CLOSED')
        if (!over) {
          for (const { task } of portion) this.#open.delete(task)
          return this.#arm(this.#backoff.next())
        }
        this.#refused = 0
      }
      this.#done(count, portion)
      this.#lines -= lines
      this.#bytes -= bytes
      written += lines
    }
    if (this.#waiting.length > 0) this.#arm(FLUSH)
  }

  /** As many waiting lines as fit one write; the last entry may be taken in part. */
  #portion(): { count: number; portion: UnwrittenLog[]; lines: number; bytes: number } {
    const portion: UnwrittenLog[] = []
    let [lines, bytes, count] = [0, 0, 0]
    for (const waiting of this.#waiting) {
      let n = 0
      for (const { text } of waiting.entries) {
        if (lines >= PORTION.lines || bytes >= PORTION.bytes) break
        n++
        lines++
        bytes += text.length
      }
      if (n === 0) break
      portion.push({ ...waiting, entries: waiting.entries.slice(0, n) })
      if (n < waiting.entries.length) break
      count++
      // Later lines must not join an entry that is being written.
      if (this.#open.get(waiting.task) === waiting) this.#open.delete(waiting.task)
    }
    return { count, portion, lines, bytes }
  }

  /** Removes what was written. `count`: the number of entries written whole. */
  #done(count: number, portion: readonly UnwrittenLog[]): void {
    this.#waiting.splice(0, count)
    const part = portion[count]
    this.#waiting[0]?.entries.splice(0, part?.entries.length ?? 0)
  }

  /** The write without lines that the log already has. */
  async #unsaid(write: UnwrittenLog): Promise<UnwrittenLog> {
    const { task, run } = write
    const { said } = await this.#options.store.logs({ task, after: 0, limit: 0, level: 0, step: null, attempt: null })
    const entries = write.entries.filter(({ n }) => run > said.run || (run === said.run && n > said.n))
    return { ...write, entries }
  }

  start(): void {
    // The logbook takes lines from the beginning.
  }

  stop(): void {
    // Attempts that still run may log.
  }

  /** Called once nothing runs any more. */
  async drain(): Promise<void> {
    for (let tries = 0; tries < LAST_TRIES && (tries === 0 || this.#waiting.length > 0); tries++) await this.flush()
    this.#timer?.cancel()
  }

  /** Writes the remaining lines without waiting: what they report has happened. */
  abandon(): void {
    this.#timer?.cancel()
    void this.flush()
  }
}
