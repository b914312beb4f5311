import { isTriarchError, TriarchError } from '../error/error.ts'
import type { TaskInfo } from '../view/status.ts'

/** Most bytes of all tasks shown in lists, each task counted once. */
const MOST_BYTES = 64 * 1024 * 1024
/** Memory of a task besides its text, and per character of its text, which is held as text and as an object (bytes). */
const ROW_BYTES = 1_000
const CHARACTER_BYTES = 4

/** A task as it is shown, shared by all lists that show it. */
export interface ShownTask {
  readonly key: number
  readonly info: TaskInfo
  readonly text: string
  /** How many lists show it. */
  lists: number
}

/** The tasks shown in lists, each held once, within a memory limit. */
export class ShownTasks {
  readonly #most: number
  readonly #byId = new Map<string, ShownTask>()
  #bytes = 0

  /** `most`: bytes of all tasks. */
  constructor(most: number = MOST_BYTES) {
    this.#most = most
  }

  /** The tasks shown exceed the memory limit. */
  get isFull(): boolean {
    return this.#bytes > this.#most
  }

  /** One more list shows the task in this state. */
  take(id: string, now: Omit<ShownTask, 'lists'>): ShownTask {
    const known = this.#byId.get(id)
    const shown = known?.text === now.text ? known : { ...now, lists: 0 }
    if (shown.lists++ === 0) this.#bytes += bytesOf(shown)
    this.#byId.set(id, shown)
    return shown
  }

  /** The list no longer shows the task. */
  drop(list: Map<string, ShownTask>, id: string): void {
    const shown = list.get(id)
    if (shown && list.delete(id)) this.give(id, shown)
  }

  /** A list no longer shows this state of the task. */
  give(id: string, shown: ShownTask): void {
    if (--shown.lists > 0) return
    this.#bytes -= bytesOf(shown)
    if (this.#byId.get(id) === shown) this.#byId.delete(id)
  }
}

function bytesOf({ text }: ShownTask): number {
  return ROW_BYTES + text.length * CHARACTER_BYTES
}

export function watchFull(): TriarchError {
  return new TriarchError('WATCH_FULL', 'the lists that are watched show as much as this process has room for')
}

/** Ignores WATCH_FULL, because the watchers of the list were already notified. */
export function unlessFull(error: unknown): void {
  if (!isTriarchError(error, 'WATCH_FULL')) throw error
}
