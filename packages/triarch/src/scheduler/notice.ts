import type { Full } from '../kernel/mailbox.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Post } from '../store/port.ts'
import type { Mail } from './mail.ts'

/**
 * Says in the store that a task takes no more, so that whoever sends to it is refused there and then: a letter of the task
 * to itself that stays unread for as long as that is so. It is written and removed with the transition that makes it so;
 * what was accepted before is kept all the same.
 */
export class Notice {
  /** What the letter in the inbox says, or the one on its way there; null: there is none. */
  #said: string | null = null
  #letters: number[] = []

  /** While it hangs out, its task stays in memory: an unread letter would call for a scheduler again and again. */
  get out(): boolean {
    return this.#said !== null
  }

  get letters(): readonly number[] {
    return this.#letters
  }

  /** Whether this is such a letter. */
  take({ message, letter }: Mail): boolean {
    if (message.type !== 'full') return false
    this.#said = JSON.stringify(message)
    if (letter !== null) this.#letters.push(letter)
    return true
  }

  /** What a transition does about it: the letters it takes down, and the one it hangs out. */
  update(state: TaskState, message: Full | null, leaving: boolean): { consumed: number[]; posts: Post[] } {
    const text = message && JSON.stringify(message)
    // The one on its way has no number yet, by which it could be taken down.
    if (text === this.#said || (this.#said !== null && this.#letters.length === 0)) return { consumed: [], posts: [] }
    const consumed = this.#letters
    this.#letters = []
    this.#said = leaving ? null : text
    return { consumed, posts: message && !leaving ? [{ task: state.id, message, control: false }] : [] }
  }
}
