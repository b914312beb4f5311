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

/** An end that nobody had asked for, or that was not in order. */
export interface Death {
  pid: number | undefined
  /** What ended it, other than those who may; null: it exited by itself, or took too long to stop. */
  signal: NodeJS.Signals | null
  text: string
}

/** What can be done to a process without knowing what it is. */
export type AnyUnit = Pick<
  Unit<Launched<unknown>>,
  'name' | 'kills' | 'deaths' | 'kill' | 'freeze' | 'drain' | 'stop' | 'settled' | 'busy'
>

export class Unit<L extends Launched<unknown>> {
  readonly name: string
  kills = 0
  readonly deaths: Death[] = []
  /** How long it took to stop in order, each time that it was asked to (ms). */
  readonly stops: number[] = []
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

  /** Kills the process without warning and, after a while, starts it again. `dead`: hears of it when it is gone. */
  kill(downtime: number, dead: (pid: number | undefined) => unknown = () => undefined): Promise<void> {
    return this.#next(async () => {
      this.kills++
      const { pid } = this.current.child
      await this.#replace('SIGKILL', downtime, () => dead(pid))
    })
  }

  /** Asks the process to stop, and starts it again after a while. */
  drain(downtime: number): Promise<void> {
    return this.#next(() => this.#replace('SIGTERM', downtime))
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

  /** Asks the process to stop, for good. */
  async stop(): Promise<void> {
    await this.#last
    await this.#end('SIGTERM')
  }

  /** One thing after the other is done to a process. */
  #next(work: () => Promise<void>): Promise<void> {
    this.#waiting++
    this.#last = this.#last.then(work).finally(() => {
      this.#waiting--
    })
    return this.#last
  }

  async #replace(signal: NodeJS.Signals, downtime: number, ended: () => unknown = () => undefined): Promise<void> {
    await this.#end(signal)
    ended()
    await delay(downtime)
    this.current = await this.#again(this.current)
    this.#watch()
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#ending = true
    const { child, kill } = this.current
    let overdue = false
    const began = performance.now()
    const timer = setTimeout(() => {
      overdue = true
      child.kill('SIGKILL')
    }, this.#grace)
    await kill(signal)
    clearTimeout(timer)
    if (signal === 'SIGKILL') return
    if (child.exitCode === 0) return void this.stops.push(performance.now() - began)
    const end = overdue ? `was killed after ${this.#grace} ms` : `ended with ${child.exitCode ?? child.signalCode}`
    this.#mourn(overdue ? null : child.signalCode, `did not stop in order when it was asked to: ${end}`)
  }

  #mourn(signal: NodeJS.Signals | null, text: string): void {
    this.deaths.push({ pid: this.current.child.pid, signal, text })
  }

  /** A service manager would start a process again that ended by itself; and somebody should hear of it. */
  #watch(): void {
    this.#ending = false
    const { child } = this.current
    const mourn = () => {
      if (this.#ending || child !== this.current.child) return
      this.#mourn(child.signalCode, `ended by itself (${child.exitCode ?? child.signalCode})`)
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
