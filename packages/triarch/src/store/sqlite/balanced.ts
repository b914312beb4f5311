import type { InlineRunner } from './inline.ts'
import type { Arguments, OperationName, Operations, Runner } from './runner.ts'
import type { WorkerRunner } from './worker.ts'

/** From this many transitions on, a commit takes longer than the way to the thread and back. */
const LARGE_COMMIT = 48

/**
 * Runs small operations in this thread, where they are quickest, and large commits in a thread of their own, so that
 * the next transitions can be made meanwhile. While that thread works, all other operations go there too, because two
 * connections that write would wait for each other's lock. The thread starts with the first large commit; one that died
 * is replaced with the next.
 */
export class BalancedRunner implements Runner {
  readonly #inline: InlineRunner
  readonly #start: () => WorkerRunner
  #thread: WorkerRunner | null = null
  #starting: Promise<void> | null = null
  #underWay = 0

  constructor(inline: InlineRunner, start: () => WorkerRunner) {
    this.#inline = inline
    this.#start = start
  }

  open(): Promise<void> {
    return this.#inline.open()
  }

  async run<Name extends OperationName>(name: Name, ...args: Arguments<Name>): Promise<ReturnType<Operations[Name]>> {
    const large = name === 'commit' && (args[0] as readonly unknown[]).length >= LARGE_COMMIT
    if (this.#thread?.alive === false) this.#starting = this.#thread = null
    if (large) this.#starting ??= this.#startThread()
    const thread = large || this.#underWay > 0 ? this.#thread : null
    // Each connection counts the changes of all others, so only one of them may be asked: for it, commits of the other count as changes.
    if (!thread || name === 'changes') return this.#inline.run(name, ...args)
    this.#underWay++
    try {
      return await thread.run(name, ...args)
    } finally {
      this.#underWay--
    }
  }

  unanswered(): void {
    this.#thread?.unanswered()
  }

  async close(): Promise<void> {
    await this.#starting
    await Promise.all([this.#inline.close(), this.#thread?.close()])
  }

  /** Starts the thread. Until it has started, or if it fails, this thread runs everything. */
  async #startThread(): Promise<void> {
    const thread = this.#start()
    try {
      await thread.open()
      this.#thread = thread
    } catch {
      this.#starting = null
    }
  }
}
