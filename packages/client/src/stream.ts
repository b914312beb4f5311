import { type Duration, milliseconds, TriarchError } from 'triarch/contract'
import { misunderstood } from './answer.ts'
import { EventReader, type ServerEvent } from './event.ts'
import { type Exchange, unreachable, within } from './exchange.ts'

/** The server says every 15 s that it is there; a connection on which nothing came for so long is dead (ms). */
const SILENCE = 45_000

interface Following {
  quiet: Duration | undefined
  signal: AbortSignal | undefined
}

/** An event of a stream, its data as the API has it. Null: nothing was told for so long as `quiet`. */
export type StreamMessage = { event: string; data: unknown } | null

/**
 * What a stream of the server tells, over as many connections as it takes: one that is cut, or ended by a server that stops, is followed
 * by another, which goes on where it was left. It holds one event, and reads no further than it is asked to. Ends where the server says
 * that the task has stopped. Rejects with the signal's reason, what the server refuses it for (UNKNOWN_TASK: it was deleted meanwhile), and
 * SERVER_* where as many connections as a request may be sent told nothing.
 */
export async function* followed(
  exchange: Exchange,
  path: string,
  { quiet, signal }: Following,
): AsyncGenerator<StreamMessage> {
  const { attempts, longest, first } = exchange.settings
  const patience = quiet === undefined ? null : milliseconds(quiet, 'watch: quiet')
  if (patience === 0) throw new TriarchError('INVALID_DURATION', 'watch: quiet: 0 must be longer than 0')
  let known: string | undefined
  for (let empty = 0; ; ) {
    const connection = new Connection(exchange, { patience, signal })
    let hasTold = false
    try {
      await connection.open(path, known)
      for (;;) {
        const said = await connection.next()
        if (said === null) yield null
        if (said === null) continue
        const data = parsed(said)
        if (said.event === 'end') {
          const { code, again } = ended(data)
          if (code === 'TASK_STOPPED') return
          if (!again) throw refused(code)
          // It began at once, and what it is about could not be read: nothing has come of it.
          if (!hasTold && !connection.hasWaited) connection.isAlive = false
          throw new Error(`the server ended the stream: ${code}`)
        }
        hasTold = true
        known = said.id
        yield { event: said.event, data }
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof TriarchError) throw error
      empty = connection.isAlive ? 0 : empty + 1
      if (empty >= attempts) throw unreachable(empty, error)
    } finally {
      connection.close()
    }
    await exchange.rest(Math.min(connection.retry ?? first, longest), signal)
  }
}

/** One connection, until it ends. */
class Connection {
  readonly #exchange: Exchange
  readonly #patience: number | null
  readonly #signal: AbortSignal | undefined
  readonly #over = new AbortController()
  readonly #abort = () => this.#over.abort(this.#signal?.reason)
  readonly #reader = new EventReader()
  readonly #decoder = new TextDecoder()
  readonly #events: ServerEvent[] = []
  #body: ReadableStreamDefaultReader<Uint8Array> | null = null
  /** What is asked of the network; it may be asked once at a time. */
  #asked: Promise<{ done: boolean; value?: Uint8Array | undefined }> | null = null
  /** Anything came. */
  isAlive = false
  /** For so long nothing came while somebody listened (ms). */
  #silent = 0

  constructor(exchange: Exchange, { patience, signal }: { patience: number | null; signal: AbortSignal | undefined }) {
    this.#exchange = exchange
    this.#patience = patience
    this.#signal = signal
    signal?.addEventListener('abort', this.#abort, { once: true })
    if (signal?.aborted) this.#abort()
  }

  /** The server has said that there was nothing to tell for a while. */
  get hasWaited(): boolean {
    return this.#reader.commented
  }

  get retry(): number | undefined {
    return this.#reader.retry
  }

  /** Throws what the server says, SERVER_*, REQUEST_REFUSED; rejects with the signal's reason. */
  async open(path: string, known: string | undefined): Promise<void> {
    const opened = (response: Response) => {
      if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '') || !response.body)
        throw misunderstood('no stream of events')
      this.#body = response.body.getReader()
    }
    const read = () => {
      if (this.#body === null) throw misunderstood('no stream of events')
    }
    await this.#exchange.ask({ method: 'GET', path, signal: this.#over.signal, stream: { known, opened }, read })
  }

  /** Null: nothing came for so long. Rejects where the connection ends. */
  async next(): Promise<ServerEvent | null> {
    const { environment, answerBytes } = this.#exchange.settings
    const until = environment.monotonic() + (this.#patience ?? Number.POSITIVE_INFINITY)
    for (;;) {
      const event = this.#events.shift()
      if (event) return event
      const piece = await this.#piece(Math.max(1, until - environment.monotonic()))
      if (piece === null) return null
      this.isAlive = true
      this.#events.push(...this.#reader.read(piece))
      if (this.#reader.size > answerBytes) throw misunderstood(`an event larger than ${answerBytes} bytes`)
    }
  }

  /** Null: nothing came for so long. */
  async #piece(patience: number): Promise<string | null> {
    const { environment } = this.#exchange.settings
    const late = new AbortController()
    const wait = Math.min(patience, SILENCE - this.#silent)
    const stop = environment.timer(wait, () => late.abort(QUIET))
    try {
      this.#asked ??= this.#body?.read() ?? Promise.reject(new Error('no stream'))
      const asked = this.#asked
      const { done, value } = await within(this.#over.signal, () => within(late.signal, () => asked))
      this.#asked = null
      this.#silent = 0
      if (done) throw new Error('the stream was cut')
      return this.#decoder.decode(value, { stream: true })
    } catch (error) {
      if (error !== QUIET) throw error
      this.#silent += wait
      if (this.#silent >= SILENCE) throw new Error(`nothing was heard for ${SILENCE} ms`)
      return null
    } finally {
      stop()
    }
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#abort)
    this.#over.abort(QUIET)
    // Nobody waits for it any more.
    this.#asked?.catch(() => undefined)
    this.#body?.cancel().catch(() => undefined)
  }
}

const QUIET = new Error('nothing was heard')

function parsed({ event, data }: ServerEvent): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw misunderstood(`an event "${event.slice(0, 50)}" that is no JSON`)
  }
}

/** What the server will not tell of, however often it is asked. */
function refused(code: string): TriarchError {
  const about = code === 'UNKNOWN_TASK' ? 'the task is not there any more' : `the server ended the stream: ${code}`
  return new TriarchError(code === 'UNKNOWN_TASK' ? code : 'REQUEST_REFUSED', about, { details: { code } })
}

function ended(data: unknown): { code: string; again: boolean } {
  const { code, again } = (data ?? {}) as { code?: unknown; again?: unknown }
  if (typeof code !== 'string') throw misunderstood('not what the API describes')
  return { code, again: again === true }
}
