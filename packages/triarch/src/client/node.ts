import { Consumer } from '../agent/consumer.ts'
import { AgentHost } from '../agent/host.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Alert } from '../kernel/turn.ts'
import type { Registry } from '../scheduler/registry.ts'
import { Scheduler } from '../scheduler/scheduler.ts'
import type { Hint, NodeRuns, StateStore, SweepReport } from '../store/port.ts'
import { retentionRules } from '../supervisor/retention.ts'
import { Supervisor } from '../supervisor/supervisor.ts'
import type { Settings } from './options.ts'

export interface NodeOptions {
  environment: Environment
  store: StateStore
  registry: Registry
  settings: Settings
  counters: Counters
  alert: (alert: Alert) => void
  moved: (state: TaskState) => void
  swept: (report: SweepReport) => void
  failed: (error: unknown) => void
  /** After each renewal of the lease: sets the clock by the store's. */
  renewed: () => Promise<void>
  /** The store takes this node for dead: it must begin again under another name. */
  fenced: () => void
}

/** A scheduler looks into the store at least this often, also when nothing there seems to have changed (ms). */
const LONGEST_SILENCE = 1_000

/** How long a node that stops waits for the renewal of its lease that is under way, on a slow machine or store (ms). */
const RENEWAL_PATIENCE = 5_000

/** What was counted since the start of the process. */
export interface Counters {
  /** Replies and heartbeats that came too late, twice, or for an old attempt, and messages that no longer fit. */
  stale: number
  /** Times this node was taken for dead. */
  fenced: number
}

/** One life of a node: its registration, its heartbeat, and the roles it plays. Ends when it stops or is fenced. */
export class Node {
  readonly id: string
  readonly scheduler: Scheduler | null
  readonly #options: NodeOptions
  readonly #consumer: Consumer | null
  readonly #supervisor: Supervisor | null
  readonly #hosts: ReadonlyMap<string, AgentHost>
  #timers: { beat: Timer | null; watch: Timer | null } = { beat: null, watch: null }
  #renewedAt: number
  #seen: number | null = null
  #open = true
  /** The renewal of the lease under way. */
  #renewing: Promise<unknown> = Promise.resolve()
  /** Also while it drains: what still runs is still its own. */
  #beating = true
  /** The store knows what this node can run. */
  #told = false

  constructor(options: NodeOptions) {
    this.#options = options
    const { environment, store, registry, settings, failed } = options
    this.id = environment.id()
    this.#renewedAt = environment.monotonic()
    const { roles, limits } = settings
    const agents = roles.has('agent') ? [...registry.agents.values()] : []
    const stale = (count: number) => {
      options.counters.stale += count
    }
    // A process that stood still may hold attempts to start that others have taken over meanwhile: it starts none.
    const leased = () => {
      const holds = environment.monotonic() - this.#renewedAt <= settings.lease
      if (!holds) environment.soon(() => this.#fence())
      return holds
    }
    const host = {
      environment,
      node: this.id,
      payload: limits.payload,
      late: () => stale(1),
      around: (action: string, workflow: string, version: string) => registry.chain(action, workflow, version),
      leased,
      freed: () => this.#consumer?.wake(),
    }
    this.#hosts = new Map(agents.map((agent) => [agent.name, new AgentHost(host, agent)]))
    this.scheduler = roles.has('scheduler')
      ? new Scheduler({
          environment,
          store,
          node: this.id,
          registry,
          limits,
          hosts: this.#hosts,
          leased,
          poll: Math.max(settings.poll, LONGEST_SILENCE),
          alert: options.alert,
          committed: options.moved,
          queued: () => this.#consumer?.wake(),
          stale,
          failed,
        })
      : null
    this.#consumer =
      this.#hosts.size > 0
        ? new Consumer({
            environment,
            store,
            node: this.id,
            hosts: this.#hosts,
            contextOf: (task) => this.scheduler?.contextOf(task) ?? CallContext.none,
            pulse: Math.min(1_000, settings.lease / 3),
            replied: () => this.scheduler?.wake(),
            late: stale,
            failed,
          })
        : null
    this.#supervisor = roles.has('supervisor')
      ? new Supervisor({
          environment,
          store,
          node: this.id,
          lease: settings.lease,
          sweep: settings.sweep,
          retention: retentionRules(settings.retention, registry.retentions),
          swept: (report) => {
            options.swept(report)
            this.wake()
          },
          submitted: () => this.wake(),
          failed,
        })
      : null
  }

  async start(): Promise<void> {
    this.#renewing = this.#renew()
    await this.#renewing
    if (!this.#open) return // stopped, or taken for dead, before it began
    this.#beat()
    this.scheduler?.start()
    this.#consumer?.wake()
    this.#supervisor?.start()
    this.#options.store.watch?.((hints) => this.#hear(hints))
    this.#watch()
  }

  /** A hint that something was written. */
  wake(): void {
    this.scheduler?.wake()
    this.#consumer?.wake()
  }

  #hear(hints: readonly Hint[]): void {
    if (hints.includes('tasks') || hints.includes('mail')) this.scheduler?.wake()
    if (hints.includes('work')) this.#consumer?.wake()
  }

  /** Hands everything back; what still runs after `grace` ms is aborted and left as lost. */
  async stop(grace: number): Promise<void> {
    this.#open = false
    this.#timers.watch?.cancel()
    this.#consumer?.close()
    await this.#supervisor?.stop()
    const hosts = Promise.all([...this.#hosts.values()].map((host) => host.drained()))
    await this.scheduler?.drain(grace)
    await this.#within(hosts, grace)
    for (const host of this.#hosts.values()) host.abortAll(new TriarchError('NODE_STOPPED', 'the node is stopping'))
    await this.#within(hosts, Math.min(grace, 1_000))
    await this.#consumer?.closed()
    this.#beating = false
    this.#timers.beat?.cancel()
    // A renewal that came after the leave would list this node as alive again.
    const renewed = this.#renewing.catch(() => undefined)
    await this.#within(renewed, RENEWAL_PATIENCE)
    await this.#options.store.leave(this.id)
  }

  #runs(): NodeRuns {
    const { registry, settings } = this.#options
    const workflows = settings.roles.has('scheduler') ? registry.runnable : []
    return {
      workflows: workflows.map(({ workflow, version }) => `${workflow}@${version}`),
      actions: [...this.#hosts.values()].flatMap((host) => host.actions),
    }
  }

  #within(work: Promise<unknown>, ms: number): Promise<unknown> {
    let timer: Timer | undefined
    const late = new Promise((resolve) => {
      timer = this.#options.environment.timer(ms, () => resolve(undefined))
    })
    return Promise.race([work, late]).finally(() => timer?.cancel())
  }

  async #renew(): Promise<void> {
    const { store, settings, environment } = this.#options
    const asked = environment.monotonic()
    const runs = this.#told ? {} : { runs: this.#runs() }
    const alive = await store.beat({ id: this.id, roles: [...settings.roles], lease: settings.lease, ...runs })
    this.#told = true
    if (!alive) return this.#fence()
    this.#renewedAt = asked
    await this.#options.renewed()
  }

  #beat(): void {
    const { environment, settings, failed } = this.#options
    this.#timers.beat = environment.timer(settings.lease / 3, () => {
      this.#renewing = this.#renew()
        .catch(failed)
        .finally(() => {
          // By its own monotonic clock the lease is over: nobody may be sure that this node still owns anything.
          if (environment.monotonic() - this.#renewedAt > settings.lease) this.#fence()
          if (this.#beating) this.#beat()
        })
    })
  }

  #fence(): void {
    if (!this.#open) return
    this.#open = false
    this.#beating = false
    this.#options.counters.fenced++
    this.#timers.watch?.cancel()
    this.#timers.beat?.cancel()
    const reason = new TriarchError('NODE_FENCED', 'this node was taken for dead')
    this.scheduler?.discardAll(reason)
    this.#consumer?.close()
    for (const host of this.#hosts.values()) host.abortAll(reason)
    void this.#supervisor?.stop()
    this.#options.fenced()
  }

  /** Other processes' writes are seen within one poll. */
  #watch(): void {
    const { environment, store, settings, failed } = this.#options
    this.#timers.watch = environment.timer(settings.poll, () => {
      store
        .changes()
        .then((seen) => {
          if (seen === null || seen !== this.#seen) this.wake()
          this.#seen = seen
        })
        .catch(failed)
        .finally(() => {
          if (this.#open) this.#watch()
        })
    })
  }
}
