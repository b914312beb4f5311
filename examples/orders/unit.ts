// A process that lives on when it is killed: it is started again, as an operating system's service manager would.
import { setTimeout as delay } from 'node:timers/promises'
import type { Launched } from './launch.ts'

/** How long a process that was asked to stop may take. */
const GRACE = 8_000

/** What can be done to a process without knowing what it is. */
export type AnyUnit = Pick<Unit<Launched<unknown>>, 'name' | 'kills' | 'kill' | 'stop'>

export class Unit<L extends Launched<unknown>> {
  readonly name: string
  kills = 0
  current: L
  readonly #start: (previous: L) => Promise<L>
  #last: Promise<void> = Promise.resolve()

  private constructor(name: string, current: L, start: (previous: L) => Promise<L>) {
    this.name = name
    this.current = current
    this.#start = start
  }

  static async start<L extends Launched<unknown>>(name: string, start: (previous?: L) => Promise<L>): Promise<Unit<L>> {
    return new Unit(name, await start(), start)
  }

  /** Kills the process without warning and, after a while, starts it again. */
  kill(downtime: number): Promise<void> {
    this.#last = this.#last.then(async () => {
      this.kills++
      await this.current.kill('SIGKILL')
      await delay(downtime)
      this.current = await this.#again(this.current)
    })
    return this.#last
  }

  /** Asks the process to stop, and says whether it did so in time and in order. */
  async stop(): Promise<boolean> {
    await this.#last
    const { child, kill } = this.current
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE)
    await kill('SIGTERM')
    clearTimeout(timer)
    return child.exitCode === 0
  }

  /** Its port may have been lent to somebody in the meantime, so the first try need not succeed. */
  async #again(previous: L): Promise<L> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#start(previous)
      } catch (error) {
        if (tries === 5) throw error
        await delay(200)
      }
    }
  }
}
