// Server-Sent Events as a client reads them; the data of each is judged by the document.
import { judgedEvent } from './document.ts'
import type { Shop } from './shop.ts'

export interface Event {
  event: string
  id?: string
  data: Record<string, unknown>
}

export async function opened(
  shop: Pick<Shop, 'ask'>,
  path: string,
  headers: Record<string, string> = {},
): Promise<Reader> {
  const response = await shop.ask('GET', path, undefined, headers)
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return new Reader(response, path)
}

export class Reader implements AsyncDisposable {
  readonly #path: string
  readonly #reader: ReadableStreamDefaultReader<string>
  #text = ''
  retry: number | undefined
  comments = 0

  constructor(response: Response, path = '/tasks/events') {
    if (!response.body) throw new Error('no stream')
    this.#path = path
    this.#reader = response.body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  }

  /** Null: it has ended. */
  async next(): Promise<Event | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        const event = this.#read(block)
        if (event) return event
        continue
      }
      const { value, done } = await this.#reader.read()
      if (done) return null
      this.#text += value
    }
  }

  async until(name: string, fits: (data: Record<string, unknown>) => boolean): Promise<Event> {
    for (;;) {
      const event = await this.next()
      if (!event) throw new Error(`the stream ended before ${name}`)
      if (event.event === name && fits(event.data)) return event
    }
  }

  async close(): Promise<void> {
    await this.#reader.cancel()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #read(block: string): Event | null {
    const fields = new Map(
      block.split('\n').map((line) => [line.split(': ')[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
    )
    if (fields.has('')) this.comments++
    if (fields.has('retry')) this.retry = Number(fields.get('retry'))
    const [event, id] = [fields.get('event'), fields.get('id')]
    if (event === undefined) return null
    const data = JSON.parse(fields.get('data') ?? '') as Record<string, unknown>
    judgedEvent(this.#path.split('?')[0] ?? '', event, data)
    return { event, data, ...(id !== undefined && { id }) }
  }
}

/** All that is told until the end. */
export async function events(reader: Reader): Promise<Event[]> {
  const all: Event[] = []
  for (let event = await reader.next(); event; event = await reader.next()) all.push(event)
  return all
}
