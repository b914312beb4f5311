import type { CountsChange, ListChange, TaskInfo } from 'triarch'
import type { Holding } from '../held.ts'
import { Digest } from './digest.ts'

/** Why a stream ends, and whether to ask again. */
export interface End {
  code: string
  again: boolean
}

type WatchedChange = ListChange | CountsChange

interface UnsentEvent {
  event: string
  text: string
  /** What the client knows once it has read it. */
  learn: (digest: Digest) => void
}

interface EventStreamOptions {
  /** Bytes that may wait for the client to read. */
  most: number
  /** Of one task: its list is that task. */
  alone: boolean
  /** What the client knew when it was cut off. */
  known: string | null
  /** When a client that was cut off is to ask again (ms). */
  retry: number
  closed: () => void
  /** What it holds for the client; false: there is no room for more. */
  holding: Holding
}

/** Bytes that are handed on before the client reads them. */
const AHEAD = 16 * 1024

/**
 * One client's events. What is not yet read waits here, the newest of each task only; when that is more than there may be, the client is
 * too slow, and let go.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #means: EventStreamOptions
  readonly #encoder = new TextEncoder()
  readonly #waiting = new Map<string, UnsentEvent>()
  readonly #known = new Digest()
  #bytes = 0
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #end: End | null = null
  /** It has ended, and the client has not yet read what was handed on before. */
  #last: ReadableStreamDefaultController<Uint8Array> | null = null

  constructor(means: EventStreamOptions) {
    this.#means = means
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          this.#write(`retry: ${means.retry}\n\n`)
        },
        pull: () => this.#read(),
        cancel: () => {
          this.#close()
          this.#last = null
          means.holding.set(0)
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }),
    )
  }

  take(change: WatchedChange): void {
    switch (change.type) {
      case 'page': {
        const { tasks } = change
        if (this.#means.alone) return tasks[0] && this.take({ type: 'task', task: tasks[0] })
        const texts = tasks.map((task) => [task.id, JSON.stringify(task)] as const)
        const learn = (digest: Digest) => {
          digest.clear()
          for (const [id, text] of texts) digest.set(id, text)
        }
        // He knows it already: nothing happened since.
        if (this.#isKnown(learn)) return
        this.#waiting.clear()
        this.#bytes = 0
        const rest = change.truncated ? ',"truncated":true' : ''
        return this.#put('', {
          event: 'page',
          text: `{"tasks":[${texts.map(([, text]) => text).join()}]${rest}}`,
          learn,
        })
      }
      case 'task': {
        const { task } = change
        const text = JSON.stringify(task)
        const learn = (digest: Digest) => digest.set(task.id, text)
        if (this.#means.alone && this.#isKnown(learn)) return
        return this.#put(task.id, { event: 'task', text, learn })
      }
      case 'gone': {
        const { id } = change
        return this.#put(id, { event: 'gone', text: JSON.stringify({ id }), learn: (digest) => digest.delete(id) })
      }
      case 'counts': {
        const text = JSON.stringify(change.counts)
        const learn = (digest: Digest) => digest.set('', text)
        if (this.#isKnown(learn)) return
        return this.#put('', { event: 'counts', text, learn })
      }
      case 'quiet':
        // What waits shows as well that we are here.
        if (this.#waiting.size === 0 && this.#hasRoom()) this.#write(': quiet\n\n')
    }
  }

  /** After what waits. */
  end(end: End): void {
    this.#end ??= end
    this.#flush()
  }

  /** What he knew before he was cut off is what there is; asked once. */
  #isKnown(learn: UnsentEvent['learn']): boolean {
    const { known } = this.#means
    if (known === null) return false
    this.#means.known = null
    const digest = new Digest()
    learn(digest)
    if (digest.toString() !== known) return false
    learn(this.#known)
    return true
  }

  #put(about: string, waiting: UnsentEvent): void {
    if (this.#controller === null) return
    const more = sizeOf(waiting) - sizeOf(this.#waiting.get(about))
    if (!this.#means.holding.set(this.#held + more)) return this.#giveUp('STREAMS_FULL')
    this.#bytes += more
    this.#waiting.delete(about)
    this.#waiting.set(about, waiting)
    this.#flush()
    if (this.#bytes > this.#means.most) this.#giveUp('STREAM_TOO_SLOW')
  }

  /** What waits is dropped: whoever asks again is told all of it. */
  #giveUp(code: string): void {
    this.#waiting.clear()
    this.#bytes = 0
    this.#end = { code, again: true }
    this.#finish()
  }

  /** What waits here, and what was handed on and is not read. */
  get #held(): number {
    return this.#bytes + Math.max(0, AHEAD - (this.#controller?.desiredSize ?? AHEAD))
  }

  /** The client has read. */
  #read(): void {
    if (this.#last) {
      this.#last.close()
      this.#last = null
      this.#means.holding.set(0)
    } else this.#flush()
  }

  #flush(): void {
    for (const [about, waiting] of this.#waiting) {
      if (!this.#hasRoom()) return
      this.#waiting.delete(about)
      this.#bytes -= sizeOf(waiting)
      waiting.learn(this.#known)
      this.#write(`id: ${this.#known}\nevent: ${waiting.event}\ndata: ${waiting.text}\n\n`)
    }
    this.#means.holding.set(this.#held)
    if (this.#end) this.#finish()
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0
  }

  #finish(): void {
    const controller = this.#controller
    if (controller === null) return
    // Before it is written: whoever waits for it reads on at once.
    this.#close()
    controller.enqueue(this.#encoder.encode(`event: end\ndata: ${JSON.stringify(this.#end)}\n\n`))
    // What nobody reads is held all the same.
    this.#last = controller
    if ((controller.desiredSize ?? 0) > 0) this.#read()
    else this.#means.holding.set(AHEAD - (controller.desiredSize ?? AHEAD))
  }

  #write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text))
  }

  #close(): void {
    if (this.#controller === null) return
    this.#controller = null
    this.#waiting.clear()
    this.#means.closed()
  }
}

/** What a client knows that knows this task, and nothing else. */
export function digestOf(task: TaskInfo): string {
  const digest = new Digest()
  digest.set(task.id, JSON.stringify(task))
  return digest.toString()
}

/** In UTF-16: what it takes here. */
function sizeOf(waiting: UnsentEvent | undefined): number {
  return waiting === undefined ? 0 : waiting.text.length * 2
}
