/** What a stream of events says, one event after the other: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export interface ServerEvent {
  event: string
  data: string
  /** What is known once this was read; undefined: nothing that has a name. */
  id: string | undefined
}

/** Reads Server-Sent Events out of pieces of text, each piece once. */
export class EventReader {
  /** When to ask again after the stream has ended, as it says itself (ms). */
  retry: number | undefined
  /** Characters that it holds of an event that has not ended. */
  size = 0
  /** A comment came: whoever sends is there, and has nothing to tell. */
  commented = false
  #id: string | undefined
  #event = ''
  #data: string[] = []
  /** What has come of a line that has not ended. */
  #line: string[] = []
  /** The line before ended with CR: an LF that follows belongs to that. */
  #halved = false

  /** The events that end in this piece. */
  read(piece: string): ServerEvent[] {
    const found: ServerEvent[] = []
    let start = this.#halved && piece.startsWith('\n') ? 1 : 0
    if (piece !== '') this.#halved = piece.endsWith('\r')
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = start
    for (let end = ends.exec(piece); end; end = ends.exec(piece)) {
      const event = this.#take([...this.#line, piece.slice(start, end.index)].join(''))
      if (event) found.push(event)
      this.#line = []
      start = ends.lastIndex
    }
    if (start < piece.length) this.#line.push(piece.slice(start))
    this.size += piece.length
    if (found.length > 0 || this.#data.length === 0) this.size = this.#line.reduce((sum, { length }) => sum + length, 0)
    return found
  }

  #take(line: string): ServerEvent | null {
    if (line === '') return this.#end()
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (line.startsWith(':')) this.commented = true
    else if (name === 'event') this.#event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retry = Number(value)
    else if (name === 'data') this.#data.push(value)
    return null
  }

  #end(): ServerEvent | null {
    const [event, data] = [this.#event, this.#data]
    this.#event = ''
    this.#data = []
    return data.length === 0 ? null : { event: event || 'message', data: data.join('\n'), id: this.#id }
  }
}
