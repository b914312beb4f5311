import type { LogLine } from 'triarch'
import { every, timer } from '../environment.ts'
import type { End } from './stream.ts'

interface LineStreamOptions {
  lines: AsyncIterableIterator<LogLine>
  /** How long the client may leave unread what it was sent (ms). */
  stalled: number
  /** After so long without a line it hears that we are here (ms). */
  quiet: number
  /** When a client that was cut off is to ask again (ms). */
  retry: number
  /** What to tell of an error; null: nothing, for nobody hears it. */
  endOf: (error: unknown) => End | null
  closed: () => void
}

/** Bytes that are handed on before the client reads them. */
const AHEAD = 16 * 1024
/** Of an id: the client has read the last line, and the task had stopped. */
const ENDED = '.end'

/**
 * One client's lines of a log. Each counts, so none replaces another and none waits here: the store keeps them, and is read on as the client
 * reads. Who stops reading is let go.
 */
export class LineStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #means: LineStreamOptions
  readonly #encoder = new TextEncoder()
  readonly #stopQuiet: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #last: number
  #wasQuiet = true
  #roomy: (() => void) | null = null

  /** `last`: the line that the client has read. */
  constructor(means: LineStreamOptions, last: number) {
    this.#means = means
    this.#last = last
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          this.#write(`retry: ${means.retry}\n\n`)
        },
        pull: () => this.#roomy?.(),
        cancel: () => this.#close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }),
    )
    this.#stopQuiet = every(means.quiet, () => {
      if (this.#wasQuiet && this.#hasRoom()) this.#write(': quiet\n\n')
      this.#wasQuiet = true
    })
  }

  /** Reads and sends, until there is nothing more to tell. Never throws. */
  async run(): Promise<void> {
    try {
      for await (const line of this.#means.lines) {
        if (!this.#hasRoom() && !(await this.#hasRead())) this.end({ code: 'STREAM_TOO_SLOW', again: true })
        if (this.#controller === null) return
        this.#wasQuiet = false
        this.#last = line.seq
        this.#write(`id: ${line.seq}\nevent: line\ndata: ${JSON.stringify(line)}\n\n`)
      }
      this.end({ code: 'TASK_STOPPED', again: false })
    } catch (error) {
      const end = this.#means.endOf(error)
      if (end) this.end(end)
    }
  }

  end(end: End): void {
    const controller = this.#controller
    if (controller === null) return
    // Before it is written: whoever waits for it reads on at once.
    this.#close()
    const id = end.code === 'TASK_STOPPED' ? `id: ${this.#last}${ENDED}\n` : ''
    controller.enqueue(this.#encoder.encode(`${id}event: end\ndata: ${JSON.stringify(end)}\n\n`))
    controller.close()
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0
  }

  /** False: for too long the client has read nothing. */
  #hasRead(): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (read: boolean) => {
        stop()
        this.#roomy = null
        resolve(read)
      }
      const stop = timer(this.#means.stalled, () => done(false))
      this.#roomy = () => done(true)
    })
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text))
  }

  #close(): void {
    if (this.#controller === null) return
    this.#controller = null
    this.#stopQuiet()
    this.#roomy?.()
    this.#means.closed()
  }
}

/** What a client has read, by the id that it names; null: no id of a line. */
export function readOf(id: string | null): { last: number; ended: boolean } | null {
  const [, last, ended] = /^(\d{1,15})(\.end)?$/.exec(id ?? '') ?? []
  return last === undefined ? null : { last: Number(last), ended: ended !== undefined }
}
