import { isTriarchError, TriarchError } from '../error/error.ts'
import type { TaskInfo } from '../view/status.ts'

/** Bytes of all that lists show, each task once. */
const MOST_BYTES = 64 * 1024 * 1024
/** What a task takes besides its text, and for each character of that: its text, and what it says as an object. */
const ROW_BYTES = 1_000
const CHARACTER_BYTES = 4

/** A task as it is shown: one for all lists that show it. */
export interface Shown {
  readonly key: number
  readonly info: TaskInfo
  readonly text: string
  /** Lists that show it. */
  lists: number
}

/** The tasks that lists show: each once, and no more than there is room for. */
export class ShownTasks {
  readonly #most: number
  readonly #byId = new Map<string, Shown>()
  #bytes = 0

  /** `most`: bytes of all of them. */
  constructor(most: number = MOST_BYTES) {
    this.#most = most
  }

  /** There is no room for all that is shown. */
  get isFull(): boolean {
    return this.#bytes > this.#most
  }

  /** One more list shows the task as it is now. */
  take(id: string, now: Omit<Shown, 'lists'>): Shown {
    const known = this.#byId.get(id)
    const shown = known?.text === now.text ? known : { ...now, lists: 0 }
    if (shown.lists++ === 0) this.#bytes += bytesOf(shown)
    this.#byId.set(id, shown)
    return shown
  }

  /** The list of these shows the task no more. */
  drop(list: Map<string, Shown>, id: string): void {
    const shown = list.get(id)
    if (shown && list.delete(id)) this.give(id, shown)
  }

  /** A list shows it no more, or as it is now. */
  give(id: string, shown: Shown): void {
    if (--shown.lists > 0) return
    this.#bytes -= bytesOf(shown)
    if (this.#byId.get(id) === shown) this.#byId.delete(id)
  }
}

function bytesOf({ text }: Shown): number {
  return ROW_BYTES + text.length * CHARACTER_BYTES
}

export function watchFull(): TriarchError {
  return new TriarchError('WATCH_FULL', 'the lists that are watched show as much as this process has room for')
}

/** Those who watched the list have heard of it. */
export function unlessFull(error: unknown): void {
  if (!isTriarchError(error, 'WATCH_FULL')) throw error
}
