import type { Amount } from '../kernel/wait/buffered-signal.ts'
import type { Post } from '../store/port.ts'
import type { IncomingMessage } from './incoming-message.ts'

interface Hung extends Amount {
  inboxId: number | null
}

const NOTHING: { consumed: readonly number[]; posts: readonly Post[] } = { consumed: [], posts: [] }

/**
 * Publishes in the store how many unread messages a task has, so that further ones are refused when they are sent. The numbers are
 * carried by messages of the task to itself, whose amounts add up and which stay unread as long as they hold. They are posted and
 * consumed by the transition that changes the amounts.
 */
export class InboxGauge {
  /** Gauge messages in the inbox, with the ids by which they can be consumed. */
  #hung: Hung[] = []
  /** Gauge messages that were posted and have not come back from the inbox yet. */
  #sent: Amount[] = []

  /** While any gauge message exists, its task stays in memory: an unread message makes a released task ready again and again. */
  get out(): boolean {
    return this.#hung.length + this.#sent.length > 0
  }

  /** The ids of some gauge messages are not known yet, so they cannot be consumed. */
  get underWay(): boolean {
    return this.#sent.length > 0
  }

  get unread(): number[] {
    return this.#hung.flatMap(({ inboxId }) => inboxId ?? [])
  }

  /** Takes the message if it is a gauge message; returns whether it was one. */
  take({ message, inboxId }: IncomingMessage): boolean {
    if (message.type !== 'kept') return false
    const { letters, bytes } = message
    const sent = this.#sent.findIndex((one) => one.letters === letters && one.bytes === bytes)
    // Any other was posted by the former owner.
    if (sent >= 0) this.#sent.splice(sent, 1)
    this.#hung.push({ letters, bytes, inboxId })
    return true
  }

  /** What the transition that leads to these amounts must consume and post. */
  update(task: string, { letters, bytes }: Amount): { consumed: readonly number[]; posts: readonly Post[] } {
    if (letters + bytes === 0 && !this.out) return NOTHING
    const sent = sum(this.#sent)
    const hung = sum(this.#hung)
    const isSaid = sent.letters + hung.letters === letters && sent.bytes + hung.bytes === bytes
    // Messages whose amounts cancel out are consumed too.
    if (isSaid && (letters + bytes > 0 || this.#hung.length === 0)) return { consumed: [], posts: [] }
    const consumed = this.unread
    this.#hung = []
    const rest = { letters: letters - sent.letters, bytes: bytes - sent.bytes }
    if (rest.letters === 0 && rest.bytes === 0) return { consumed, posts: [] }
    this.#sent.push(rest)
    return { consumed, posts: [{ task, message: { type: 'kept', ...rest }, control: false }] }
  }
}

function sum(all: readonly Amount[]): Amount {
  const total = { letters: 0, bytes: 0 }
  for (const { letters, bytes } of all) {
    total.letters += letters
    total.bytes += bytes
  }
  return total
}
