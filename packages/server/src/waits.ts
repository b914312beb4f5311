import { isTriarchError, TaskError, type TaskHandle } from 'triarch'

/** Requests that wait for a task to stop: so many at once, and none for longer than the server lives. */
export class Waits {
  readonly #most: number
  readonly #open = new Set<AbortController>()
  #closed = false

  constructor(most: number) {
    this.#most = most
  }

  /** True once the task has stopped; false: not in time, or nobody may wait any more. Throws what the engine does. */
  async stopped(task: TaskHandle, within: number, signal: AbortSignal): Promise<boolean> {
    if (this.#closed || this.#open.size >= this.#most || signal.aborted || within === 0) return false
    const controller = new AbortController()
    const abort = () => controller.abort()
    signal.addEventListener('abort', abort, { once: true })
    this.#open.add(controller)
    try {
      await task.result({ timeout: within, signal: controller.signal })
      return true
    } catch (error) {
      if (error instanceof TaskError) return true
      if (controller.signal.aborted || isTriarchError(error, 'WAIT_TIMEOUT')) return false
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
      this.#open.delete(controller)
    }
  }

  /** Who waits goes on at once, and nobody begins to. */
  close(): void {
    this.#closed = true
    for (const controller of this.#open) controller.abort()
  }
}
