// A process that lives on when it is killed: it is started again, as an operating system's service manager would.
import { setTimeout as delay } from 'node:timers/promises'
import type { Launched } from './launch.ts'

/** How long a process that was asked to stop may take (ms). */
const GRACE = 8_000

/** How often, and how long apart (ms), a process is started that ends before it is ready. */
const RESTARTS = 5
const RESTART_GAP = 200

export interface Bounds {
  /** How often a process is started that ends before it is ready. */
  restarts?: number
  /** How long it may take to stop (ms). */
  grace?: number
}

/** What can be done to a process without knowing what it is. */
export type AnyUnit = Pick<
  Unit<Launched<unknown>>,
  'name' | 'kills' | 'deaths' | 'kill' | 'freeze' | 'drain' | 'stop' | 'settled' | 'busy'
>

export class Unit<L extends Launched<unknown>> {
  readonly name: string
  kills = 0
  /** How it ended (exit code or signal) each time that nobody had ended it, or that it did not end in order when asked to. */
  readonly deaths: string[] = []
  current: L
  readonly #start: (previous: L) => Promise<L>
  readonly #restarts: number
  readonly #grace: number
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  /** Somebody here ends the process. */
  #ending = false

  private constructor(name: string, current: L, start: (previous: L) => Promise<L>, bounds: Bounds) {
    this.name = name
    this.current = current
    this.#start = start
    this.#restarts = bounds.restarts ?? RESTARTS
    this.#grace = bounds.grace ?? GRACE
    this.#watch()
  }

  static async start<L extends Launched<unknown>>(
    name: string,
    start: (previous?: L) => Promise<L>,
    bounds: Bounds = {},
  ): Promise<Unit<L>> {
    return new Unit(name, await start(), start, bounds)
  }

  /** Kills the process without warning and, after a while, starts it again. */
  kill(downtime: number): Promise<void> {
    return this.#next(async () => {
      this.kills++
      await this.#replace('SIGKILL', downtime)
    })
  }

  /** Asks the process to stop, and starts it again after a while. */
  drain(downtime: number): Promise<void> {
    return this.#next(async () => {
      const { child } = this.current
      if (await this.#replace('SIGTERM', downtime)) return
      const end = child.signalCode ? `was killed after ${this.#grace} ms` : `exit code ${child.exitCode}`
      this.deaths.push(`did not stop in order when it was asked to: ${end}`)
    })
  }

  /** The process stands still for this long (ms), then goes on as if nothing had happened. */
  freeze(ms: number): Promise<void> {
    return this.#next(async () => {
      const { child } = this.current
      child.kill('SIGSTOP')
      await delay(ms)
      child.kill('SIGCONT')
    })
  }

  /** Something is being done to it. */
  get busy(): boolean {
    return this.#waiting > 0
  }

  /** When all that was done to it is over. */
  settled(): Promise<void> {
    return this.#last
  }

  /** Asks the process to stop, and says whether it did so in time and in order. */
  async stop(): Promise<boolean> {
    await this.#last
    return this.#end('SIGTERM')
  }

  /** One thing after the other is done to a process. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#waiting++
    this.#last = this.#last.then(work).finally(() => {
      this.#waiting--
    })
    return this.#last
  }

  /** Whether the process ended in order. */
  async #replace(signal: NodeJS.Signals, downtime: number): Promise<boolean> {
    const orderly = await this.#end(signal)
    await delay(downtime)
    this.current = await this.#again(this.current)
    this.#watch()
    return orderly
  }

  async #end(signal: NodeJS.Signals): Promise<boolean> {
    this.#ending = true
    const { child, kill } = this.current
    const timer = setTimeout(() => child.kill('SIGKILL'), this.#grace)
    await kill(signal)
    clearTimeout(timer)
    return child.exitCode === 0
  }

  /** A service manager would start a process again that ended by itself; and somebody should hear of it. */
  #watch(): void {
    this.#ending = false
    const { child } = this.current
    const mourn = () => {
      if (this.#ending || child !== this.current.child) return
      this.deaths.push(`ended by itself (${child.exitCode ?? child.signalCode})`)
      this.#next(async () => {
        if (child !== this.current.child) return
        this.current = await this.#again(this.current)
        this.#watch()
      }).catch(() => undefined)
    }
    if (child.exitCode !== null || child.signalCode !== null) mourn()
    else child.once('exit', mourn)
  }

  /** Its port may have been lent to somebody in the meantime, so the first try need not succeed. */
  async #again(previous: L): Promise<L> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#start(previous)
      } catch (error) {
        if (tries >= this.#restarts) throw error
        await delay(RESTART_GAP)
      }
    }
  }
}
