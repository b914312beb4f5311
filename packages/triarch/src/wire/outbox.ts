import type { NumberedMessage, ServerMessage } from './message.ts'

/** Messages of one answer, at most, and their characters. */
const PAGE = { messages: 500, size: 1024 * 1024 }

interface Unseen {
  message: { n: number } & NumberedMessage
  /** When an attempt must be answered. */
  completeBy: number
  /** It was part of an answer: it may have arrived. */
  sent: boolean
  /** About (characters). */
  size: number
}

/** What a session was told and has not seen: numbered without a gap, and said again until it was seen. */
export class Outbox {
  #unseen: Unseen[] = []
  #last = 0

  get length(): number {
    return this.#unseen.length
  }

  add(message: NumberedMessage, completeBy: number, size: number): void {
    this.#unseen.push({ message: { n: ++this.#last, ...message }, completeBy, sent: false, size })
  }

  /** What has arrived need not be said again. */
  saw(n: number): void {
    const first = this.#unseen[0]?.message.n ?? 0 // their numbers have no gap
    if (n >= first) this.#unseen.splice(0, n - first + 1)
  }

  /** Something of the next page was not sent yet; what comes after that page waits until some of it was seen. */
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
   * What the next page has. `on`: the last that went out on a connection, which loses nothing while it lasts: its pages begin after that one. What
   * is on its way counts as part of a page by its size.
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

  /** Takes back an attempt that was not sent. False: it may have arrived. */
  withdraw(attempt: string): boolean {
    const at = this.#placeOf(attempt)
    if (at < 0 || this.#unseen[at]?.sent) return false
    this.#unseen.splice(at, 1)
    for (const { message } of this.#unseen.slice(at)) message.n--
    this.#last--
    return true
  }

  /** Who has not heard of the attempt yet, and is told again, hears this in its place: it must not be begun. */
  replace(attempt: string, by: NumberedMessage): void {
    const unseen = this.#unseen[this.#placeOf(attempt)]
    if (unseen) unseen.message = { n: unseen.message.n, ...by }
  }

  /** Attempts that never left. */
  get unsent(): ReadonlySet<string> {
    return new Set(
      this.#unseen.flatMap(({ message, sent }) => (message.type === 'attempt' && !sent ? [message.attempt] : [])),
    )
  }

  /** Whoever says hello begins with nothing. */
  clear(): void {
    this.#unseen = []
    this.#last = 0
  }

  #placeOf(attempt: string): number {
    return this.#unseen.findIndex(({ message }) => message.type === 'attempt' && message.attempt === attempt)
  }
}
