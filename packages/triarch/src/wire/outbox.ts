import type { NumberedMessage, ServerMessage } from './message.ts'

/** Most messages of one answer, and their characters. */
const PAGE = { messages: 500, size: 1024 * 1024 }

interface Unseen {
  message: { n: number } & NumberedMessage
  /** By when an attempt must be answered. */
  completeBy: number
  /** The message was part of an answer, so it may have arrived. */
  sent: boolean
  /** Approximate size (characters). */
  size: number
}

/** Messages to a session that it has not acknowledged: numbered without a gap, and sent again until they are seen. */
export class Outbox {
  #unseen: Unseen[] = []
  #last = 0

  get length(): number {
    return this.#unseen.length
  }

  add(message: NumberedMessage, completeBy: number, size: number): void {
    this.#unseen.push({ message: { n: ++this.#last, ...message }, completeBy, sent: false, size })
  }

  /** Drops messages that have arrived. */
  saw(n: number): void {
    const first = this.#unseen[0]?.message.n ?? 0 // their numbers have no gap
    if (n >= first) this.#unseen.splice(0, n - first + 1)
  }

  /** Whether the next page has a message that was not sent yet. Messages after that page wait until some of it was seen. */
  hasNews(on = 0): boolean {
    return this.#next(on).some(({ sent }) => !sent)
  }

  page(now: number, on = 0): ServerMessage[] {
    const page: ServerMessage[] = []
    for (const unseen of this.#next(on)) {
      const { message, completeBy } = unseen
      if (message.type === 'attempt') message.attemptWithin = Math.max(1, Math.round(completeBy - now))
      unseen.sent = true
      page.push(message)
    }
    return page
  }

  /**
   * The messages of the next page. `on`: the last message sent on a connection that loses nothing while it lasts; the page begins after
   * it. Messages in flight count towards the size of a page.
   */
  *#next(on: number): Generator<Unseen, void> {
    let [count, size] = [0, 0]
    for (const unseen of this.#unseen) {
      if (count === PAGE.messages || (size > 0 && size + unseen.size > PAGE.size)) return
      size += unseen.size
      if (unseen.message.n <= on) continue
      count++
      yield unseen
    }
  }

  /** Takes back an attempt that was not sent. Returns false if it may have arrived. */
  withdraw(attempt: string): boolean {
    const at = this.#placeOf(attempt)
    if (at < 0 || this.#unseen[at]?.sent) return false
    this.#unseen.splice(at, 1)
    for (const { message } of this.#unseen.slice(at)) message.n--
    this.#last--
    return true
  }

  /** If the process has not seen the attempt yet and it is sent again, this message is sent instead, so that the attempt does not begin. */
  replace(attempt: string, by: NumberedMessage): void {
    const unseen = this.#unseen[this.#placeOf(attempt)]
    if (unseen) unseen.message = { n: unseen.message.n, ...by }
  }

  /** Attempts that were never sent. */
  get unsent(): ReadonlySet<string> {
    return new Set(
      this.#unseen.flatMap(({ message, sent }) => (message.type === 'attempt' && !sent ? [message.attempt] : [])),
    )
  }

  /** After a hello, numbering starts anew. */
  clear(): void {
    this.#unseen = []
    this.#last = 0
  }

  #placeOf(attempt: string): number {
    return this.#unseen.findIndex(({ message }) => message.type === 'attempt' && message.attempt === attempt)
  }
}
