import type { Consumer } from '../agent/consumer.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { hints } from '../scheduler/hint.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Hint, PollResult, StateStore } from '../store/port.ts'
import { LEASE, type Supervisor } from '../supervisor/supervisor.ts'

export interface PollerOptions {
  environment: Environment
  store: StateStore
  node: string
  /** Interval between two checks for changes (ms). */
  poll: number
  runnable: () => readonly { workflow: string; version: string }[]
  actions: () => readonly string[]
  scheduler: Scheduler | null
  consumer: Pick<Consumer, 'wake'> | null
  supervisor: Supervisor | null
  /** Called with the mark of the current settings; without a mark if one of them was changed. */
  settings: (mark?: string) => void
  /** Called when services have a cooldown. */
  rests: () => void
  /** Sets this process's clock by the store's. */
  synchronise: (ask: () => Promise<number>) => Promise<void>
  failed: (error: unknown) => void
}

/** Without notifications from the store, a node polls at least this often even if nothing seems to have changed (ms). */
const LONGEST_SILENCE = 1_000
/** The backoff of a node whose claims find nothing, because others were quicker, stops growing after this many in a row. */
const MOST_OUTRUN = 5
/** The longest backoff after the first such claim (ms); it doubles each time. */
const PATIENCE = 25

/**
 * Wakes this node's roles for what other processes did. Notifications addressed to a role wake it directly. Otherwise, when something
 * seems to have changed, one poll tells which roles have work; the others are left alone.
 */
export class Poller implements Service {
  readonly #options: PollerOptions
  #timer: Timer | null = null
  #retry: Timer | null = null
  #open = false
  #seen: number | null = null
  #lookedAt = Number.NEGATIVE_INFINITY
  /** The scheduler does not claim again before this time (monotonic, ms). */
  #patientUntil = Number.NEGATIVE_INFINITY

  constructor(options: PollerOptions) {
    this.#options = options
  }

  start(): void {
    this.#open = true
    const { store, scheduler, consumer, supervisor } = this.#options
    store.watch?.((heard) => this.#hear(heard), (scheduler ?? consumer ?? supervisor) !== null)
    void this.#look().catch((error: unknown) => this.#failed(error))
    this.#next()
  }

  stop(): void {
    this.#open = false
    this.#timer?.cancel()
    this.#retry?.cancel()
  }

  async drain(): Promise<void> {
    // The answer of a poll under way is ignored.
  }

  abandon(): void {
    this.stop()
  }

  #hear(heard: readonly Hint[]): void {
    if (!this.#open) return
    const { scheduler, consumer } = this.#options
    const [mail, tasks] = [heard.includes('mail'), heard.includes('tasks')]
    if (mail || tasks) scheduler?.wake(mail && tasks ? hints.either : mail ? hints.mail : hints.tasks)
    if (heard.includes('work')) consumer?.wake()
    if (heard.includes('settings')) this.#options.settings()
    if (heard.includes('rests')) this.#options.rests()
    if (heard.includes('changes')) this.#check()
  }

  #next(): void {
    this.#timer = this.#options.environment.timer(this.#options.poll, () => {
      this.#watch()
        .catch((error: unknown) => this.#failed(error))
        .finally(() => {
          if (this.#open) this.#next()
        })
    })
  }

  #check(): void {
    if (this.#open) void this.#watch().catch((error: unknown) => this.#failed(error))
  }

  async #watch(): Promise<void> {
    const { environment, store, poll } = this.#options
    const seen = await store.changes()
    const silent = !store.paced && environment.monotonic() - this.#lookedAt >= Math.max(LONGEST_SILENCE, poll)
    if (seen !== null && seen === this.#seen && !silent) return
    this.#seen = seen
    await this.#look()
  }

  async #look(): Promise<void> {
    const { environment, store, node, runnable, actions } = this.#options
    this.#lookedAt = environment.monotonic()
    let look: PollResult | null = null
    await this.#options.synchronise(async () => {
      look = await store.poll({ node, runnable: runnable(), actions: actions(), lease: LEASE })
      return look.now
    })
    if (look && this.#open) this.#act(look)
  }

  #act({ mail, tasks, work, vacant, nextWake, settings, rests }: PollResult): void {
    const { environment, scheduler, consumer, supervisor, poll } = this.#options
    this.#options.settings(settings)
    if (rests) this.#options.rests()
    if (mail) scheduler?.wake(hints.mail)
    if (tasks && scheduler) {
      const now = environment.monotonic()
      if (now >= this.#patientUntil) {
        // Nodes notified of the same task claim it at the same time. A node that came too late backs off, longer each time.
        const outrun = Math.min(scheduler.outrun, MOST_OUTRUN)
        this.#patientUntil = outrun === 0 ? now : now + environment.random() * Math.min(poll, PATIENCE) * 2 ** outrun
        scheduler.wake(hints.tasks)
      } else {
        this.#seen = null
        this.#retry ??= environment.timer(this.#patientUntil - now, () => {
          this.#retry = null
          this.#check()
        })
      }
    }
    if (work) consumer?.wake()
    if (vacant) supervisor?.vacant()
    scheduler?.alarm.tell(nextWake)
  }

  #failed(error: unknown): void {
    this.#seen = null
    if (this.#open) this.#options.failed(error)
  }
}
