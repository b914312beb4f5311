import type { Amount } from '../kernel/wait/mail.ts'
import type { Post } from '../store/port.ts'
import type { Mail } from './mail.ts'

interface Hung extends Amount {
  letter: number | null
}

const NOTHING: { consumed: readonly number[]; posts: readonly Post[] } = { consumed: [], posts: [] }

/**
 * Says in the store how much a task has been sent and not heard, so that whoever sends more is refused there and then:
 * letters of the task to itself, to be added up, that stay unread for as long as that is so. They are written and removed
 * with the transition that makes it so.
 */
export class InboxGauge {
  /** With their numbers, by which they can be taken down. */
  #hung: Hung[] = []
  /** On their way to the inbox. */
  #sent: Amount[] = []

  /** While any hangs out, its task stays in memory: an unread letter would call for a scheduler again and again. */
  get out(): boolean {
    return this.#hung.length + this.#sent.length > 0
  }

  /** Nobody knows yet by what number it could be taken down. */
  get underWay(): boolean {
    return this.#sent.length > 0
  }

  get letters(): number[] {
    return this.#hung.flatMap(({ letter }) => letter ?? [])
  }

  /** Whether this is such a letter. */
  take({ message, letter }: Mail): boolean {
    if (message.type !== 'kept') return false
    const { letters, bytes } = message
    const sent = this.#sent.findIndex((one) => one.letters === letters && one.bytes === bytes)
    // Others are those of the owner before.
    if (sent >= 0) this.#sent.splice(sent, 1)
    this.#hung.push({ letters, bytes, letter })
    return true
  }

  /** What a transition after which the task has so much does about it: the letters it takes down, and the one it hangs out. */
  update(task: string, { letters, bytes }: Amount): { consumed: readonly number[]; posts: readonly Post[] } {
    if (letters + bytes === 0 && !this.out) return NOTHING
    const sent = sum(this.#sent)
    const hung = sum(this.#hung)
    const isSaid = sent.letters + hung.letters === letters && sent.bytes + hung.bytes === bytes
    // What adds up to nothing comes down all the same.
    if (isSaid && (letters + bytes > 0 || this.#hung.length === 0)) return { consumed: [], posts: [] }
    const consumed = this.letters
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
