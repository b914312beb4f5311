import { Consumer } from '../agent/consumer.ts'
import { AgentHost, type Leased } from '../agent/host.ts'
import { Hosts } from '../agent/hosts.ts'
import { Logbook } from '../agent/logbook.ts'
import type { Peering, PeerNode } from '../agent/peer.ts'
import type { Remotes } from '../agent/remote.ts'
import { Threads } from '../agent/threads.ts'
import type { AlertWatch } from '../alert/watch.ts'
import type { Agent } from '../definition/definition.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { STORE_ANSWER_BUDGET_MS, type StopBudget } from '../environment/stop-budget.ts'
import { TriarchError } from '../error/error.ts'
import { BreakerGates } from '../flow/breaker-gates.ts'
import type { BreakerSync } from '../flow/breaker-sync.ts'
import { CooldownSync } from '../flow/cooldown-sync.ts'
import { Probation } from '../flow/probation.ts'
import { RateLimiters } from '../flow/rate-limiters.ts'
import type { RateSync } from '../flow/rate-sync.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Outcome } from '../kernel/message.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Registry } from '../scheduler/registry.ts'
import { Scheduler } from '../scheduler/scheduler.ts'
import type { SettingsReader } from '../setting/reader.ts'
import { Trials } from '../setting/trials.ts'
import type { Values } from '../setting/values.ts'
import type { StateStore, StepRequest, SweepReport } from '../store/port.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import { retentionRules } from '../supervisor/retention.ts'
import { Supervisor } from '../supervisor/supervisor.ts'
import { noTelemetry, type Telemetry } from '../telemetry/outlet.ts'
import { type TokenContent, tokenText } from '../value/token.ts'
import { answersOf } from './cache.ts'
import type { Candidate } from './candidate.ts'
import { Elections } from './elections.ts'
import { Lease, type LeaseOptions } from './lease.ts'
import { LostTailCheck } from './lost-tail-check.ts'
import { NodeCapabilities } from './node-capabilities.ts'
import type { Settings } from './options.ts'
import { Poller } from './poller.ts'
import { SettingsApplier } from './settings-applier.ts'

export interface NodeOptions {
  environment: Environment
  store: StateStore
  /** The keys that sign the node's tokens. */
  keys: SigningKeys
  registry: Registry
  settings: Settings
  /** Agents of other processes. */
  remotes: Remotes
  /** Connects the node with other nodes; null: direct dispatch is off. */
  peering: ((node: PeerNode) => Peering) | null
  /** The candidates of this process for leaderships. */
  candidates: ReadonlySet<Candidate>
  /** The values of settings, and the reader that notices their changes. */
  values: Values
  reader: SettingsReader
  counters: Counters
  /** What runs while this node's supervisor leads; null: nothing. */
  watch: (() => AlertWatch | null) | null
  alert: (alert: RaisedAlert) => void
  telemetry: Telemetry
  /** Called when a task may wait for something that never comes. */
  wonder: (task: string, cause: string) => void
  moved: (state: TaskState) => void
  swept: (report: SweepReport) => void
  failed: (error: unknown) => void
  /** This machine: its wall clock, and what it knows of processes. */
  machine: Environment
  /** The hosts of the fenced node that this one replaces in its process; null: none. */
  before: Hosts | null
  /** Called after each renewal of the lease; sets the clock by the store's. */
  renewed: LeaseOptions['renewed']
  /** Sets the clock by the store's. */
  synchronise: (ask: () => Promise<number>) => Promise<void>
  /** How far the store's clock may be ahead of the environment's (ms). */
  lag: () => number
  /** Called when the store has declared this node dead: it must begin again under another name. */
  fenced: () => void
}

/** The least interval at which a scheduler lets go of tasks that have been idle for long (ms). */
const LEAST_TIDYING = 1_000

/** The format in which the agents' hosts name what runs. */
const STEP = /^(.*) \(step (\d+) of task (.*)\)$/

/** A node checks once in this many leases that the store still has what it acknowledged. */
const LEASES = 2

/**
 * Most dead nodes that a node reports: enough for a leader that checks every 15 s to miss none of a process that restarts several times a
 * second.
 */
const MOST_BURIED = 100

/** Counters since the start of the process. */
export interface Counters {
  /** Replies and heartbeats that came too late, twice, or for an old attempt, and messages that no longer applied. */
  stale: number
  /** How many times this node was declared dead. */
  fenced: number
}

/** One life of a node: its registration, its lease, and its services. Ends when it stops or is fenced. */
export class Node {
  readonly id: string
  /** When the event loop was last blocked: for how long (ms), and when that was noticed (monotonic clock); null: never. */
  blocked: { at: number; ms: number } | null = null
  readonly scheduler: Scheduler | null
  readonly #options: NodeOptions
  readonly #consumer: Consumer | null
  readonly #logs: Logbook
  readonly #breakerSync: BreakerSync
  readonly #rateSync: RateSync
  readonly #cooldownSync: CooldownSync
  readonly hosts: Hosts
  /** Hosts for agents of other nodes, reached by direct dispatch. */
  readonly #reached: Hosts
  readonly #elections: Elections
  readonly #settingsApplier: SettingsApplier
  readonly #capabilities: NodeCapabilities
  /** Not one of the services: it starts before them, may find that nothing is to be started, and ends after the last. */
  readonly #lease: Lease
  readonly #lostTailCheck: LostTailCheck | null
  /** Services that run tasks and steps, which drain first; and those that drain once nothing runs. */
  readonly #running: readonly Service[]
  readonly #others: readonly Service[]
  /** All services, in the order in which they start, stop and are abandoned. */
  readonly #services: readonly Service[]
  #open = true
  #goingBack = false

  constructor(options: NodeOptions) {
    this.#options = options
    const { environment, store, registry, settings, failed, telemetry } = options
    this.id = environment.id()
    const { roles, limits } = settings
    const agents = roles.has('agent') ? [...registry.agents.values()] : []
    const stale = (count: number) => {
      options.counters.stale += count
    }
    // A process that was blocked may hold attempts that others have taken over meanwhile, so the lease is asked before one starts.
    const held = () => this.#lease
    const lease: Leased = {
      holds: () => held().holds(),
      sure: () => held().sure(),
      get trace() {
        return held().trace
      },
    }
    const overrun = (request: StepRequest, ms: number) => this.#overrun(request, ms)
    const threads = Threads.in(options.machine, settings.threads)
    const probation = new Probation(environment)
    this.#logs = new Logbook({ environment, store, node: this.id, failed })
    const trials = new Trials({
      ...{ environment, store, failed, values: options.values, alert: options.alert },
      node: { id: this.id, labels: settings.labels },
      changed: () => options.reader.read(),
    })
    const token = (content: TokenContent) => options.keys.sign('token', tokenText(content))
    const host = {
      logs: this.#logs,
      token,
      ...{ environment, node: this.id, payload: limits.payload },
      ...{ telemetry, failed },
      late: () => stale(1),
      around: (action: string, workflow: string, version: string) => registry.chain(action, workflow, version),
      lease,
      threads,
      probation,
      overrun,
      answers: agents.some(hasCache)
        ? answersOf({ environment, store, node: this.id, telemetry }, settings.cache, settings.codecs)
        : null,
      freed: () => {
        this.#consumer?.wake()
        peering?.stirred()
      },
      cooldownAsked: (queue: string, until: number) => this.#cooldownSync.share(queue, until),
      ended: (agent: string, outcome: Outcome) => trials.count(agent, outcome),
    }
    const guards = BreakerGates.of(agents, environment, settings.poll)
    const paces = RateLimiters.of(agents, environment, settings.poll, options.lag)
    const hosts = new Map(
      agents.map((agent) => {
        const mine = new AgentHost(host, agent, { breakerGate: guards.of(agent), rateLimiter: paces.of(agent) })
        const before = options.before?.of(agent.name)
        if (before) mine.succeed(before)
        return [agent.name, mine]
      }),
    )
    this.hosts = new Hosts(hosts, environment, failed)
    const reached = new Map<string, AgentHost>()
    this.#reached = new Hosts(reached, environment, failed)
    const peering =
      options.peering?.({
        ...{ id: this.id, scheduler: roles.has('scheduler'), hosts },
        offered: (relay, agent, actions, most) => {
          const { ended: _, cooldownAsked: __, ...means } = host
          // Telemetry of these attempts is emitted by the node that runs them.
          const peer =
            reached.get(agent) ?? new AgentHost({ ...means, telemetry: noTelemetry }, null, { elsewhere: true }, agent)
          reached.set(agent, peer)
          if (!this.#open) peer.close()
          peer.offer(relay, actions, most)
        },
        moved: () => this.#lease.tell(),
      }) ?? null
    this.#capabilities = new NodeCapabilities(registry, settings, hosts, options.values, {
      owned: () => this.scheduler?.size ?? 0,
      address: () => peering?.address ?? null,
    })
    const roster = this.#capabilities
    const { values, reader } = options
    const resize = (lease: number) => {
      this.#lease.resize(lease)
      this.#elections.resized()
    }
    this.#settingsApplier = new SettingsApplier({
      values,
      registry,
      settings,
      hosts,
      guards,
      paces,
      resize,
      alert: options.alert,
    })
    this.scheduler = roles.has('scheduler')
      ? new Scheduler({
          environment,
          store,
          node: this.id,
          registry,
          limits,
          ageing: settings.ageing,
          // An agent once reached by direct dispatch is asked there first, as long as this node lives.
          hosts: {
            get: (agent) => reached.get(agent) ?? hosts.get(agent),
            values: () => [...hosts.values(), ...reached.values()],
          },
          lease,
          probation,
          overrun,
          poll: Math.max(settings.poll, LEAST_TIDYING),
          alert: options.alert,
          telemetry,
          logs: this.#logs,
          token,
          committed: options.moved,
          queued: () => this.#consumer?.wake(),
          wonder: options.wonder,
          stale,
          failed,
          every: settings.lease * LEASES,
          wentBack: () => void this.#goBack(),
        })
      : null
    this.#lease = new Lease({
      environment,
      wall: () => options.machine.now(),
      store,
      node: {
        ...{ id: this.id, roles: [...roles], lease: settings.lease },
        get runs() {
          return roster.runs
        },
        ...(options.machine.place && { place: options.machine.place }),
      },
      stall: settings.stall,
      quiet: !settings.notices,
      renewed: options.renewed,
      blocked: (ms, ran) => this.#blocked(ms, ran),
      lost: () => this.#fence(),
      telemetry,
      failed,
    })
    this.#elections = new Elections({
      ...{
        environment,
        store,
        node: this.id,
        lease: () => this.#lease.length,
        candidates: options.candidates,
        telemetry,
        failed,
      },
      tenure: this.#lease,
    })
    this.#consumer = roles.has('agent')
      ? new Consumer({
          environment,
          store,
          node: this.id,
          hosts,
          contextOf: (task) => this.scheduler?.contextOf(task) ?? CallContext.none,
          pulse: Math.min(1_000, settings.lease / 3),
          replied: () => this.scheduler?.wake(),
          asked: () => peering?.stirred(),
          telemetry,
          late: stale,
          failed,
        })
      : null
    const free = (agent: string) => hosts.get(agent)?.slots.free ?? 0
    const wake = () => this.#consumer?.wake()
    this.#breakerSync = guards.breakers({
      ...{ environment, store, node: this.id, alert: options.alert, failed, free, wake },
      lease: () => this.#lease.length,
    })
    const instants = () => {
      for (const host of hosts.values()) host.paced()
      wake()
    }
    this.#rateSync = paces.rates({ environment, store, free, wake: instants, failed, node: this.id, telemetry })
    this.#cooldownSync = new CooldownSync({
      environment,
      store,
      hosts: (agent) => [hosts.get(agent), reached.get(agent)],
      poll: settings.poll,
      failed,
    })
    const watch = roles.has('supervisor') ? (options.watch?.() ?? null) : null
    const supervisor = roles.has('supervisor')
      ? new Supervisor({
          environment,
          store,
          node: this.id,
          lease: settings.lease,
          sweep: settings.sweep,
          audit: settings.audit,
          retention: retentionRules(settings.retention, registry.retentions),
          statistics: settings.statistics,
          paused: (schedule) => this.#settingsApplier.paused(schedule),
          led: (leadership) => watch?.led(leadership),
          swept: (report) => {
            watch?.died(report.deadNodes)
            options.swept(report)
            this.wake()
          },
          submitted: () => this.wake(),
          alert: options.alert,
          telemetry,
          failed,
        })
      : null
    const consumer = this.#consumer
    const taking = consumer && {
      wake: () => {
        this.#rateSync.heard()
        consumer.wake()
      },
    }
    const lookout = new Poller({
      environment,
      store,
      node: this.id,
      poll: settings.poll,
      runnable: () => (this.scheduler ? registry.ready : []),
      settings: (mark) => reader.look(mark),
      rests: () => this.#cooldownSync.read(),
      actions: () => roster.actions,
      scheduler: this.scheduler,
      consumer: taking,
      supervisor,
      synchronise: options.synchronise,
      failed,
    })
    reader.changed = () => {
      // A stopping node applies them too: attempts admitted and not begun yet must not begin if they are paused now.
      this.#settingsApplier.apply()
      if (!this.#open) return
      this.#lease.tell()
      this.wake()
    }
    reader.seen = () => trials.wake()
    reader.become(this.id)
    this.#settingsApplier.apply(supervisor)
    if (roles.has('agent'))
      options.remotes.bind({
        id: this.id,
        offered: (offers) => {
          for (const { agent, actions, most } of offers) {
            const remote = hosts.get(agent) ?? new AgentHost(host, null, {}, agent)
            hosts.set(agent, remote)
            if (!this.#open) remote.close()
            remote.offer(options.remotes, actions, most)
            this.#settingsApplier.host(remote)
          }
          if (roster.update()) this.#lease.tell()
        },
        forgotten: (agent) => {
          const remote = hosts.get(agent)
          if (!remote || remote.slots.running > 0) return !remote
          remote.close()
          return hosts.delete(agent)
        },
        adopted: (item) => this.#consumer?.adopt(item),
      })
    this.#lostTailCheck = this.scheduler
      ? new LostTailCheck({
          environment,
          scheduler: this.scheduler,
          every: settings.lease * LEASES,
          wentBack: () => this.#goBack(),
          failed,
        })
      : null
    this.#running = present([this.hosts, this.#reached, this.scheduler, this.#elections])
    // The consumer stops before the hosts free their slots, so that it takes nothing more.
    const all = [
      this.#breakerSync,
      this.#rateSync,
      this.#cooldownSync,
      this.scheduler,
      this.#consumer,
      this.hosts,
      this.#reached,
      peering,
      this.#elections,
      threads,
      supervisor,
      watch,
      lookout,
      this.#lostTailCheck,
      this.#logs,
      trials,
    ]
    this.#services = present(all)
    this.#others = this.#services.filter((it) => !this.#running.includes(it))
  }

  async start(): Promise<void> {
    await Promise.all([this.#declareDeadNodes(), this.hosts.learn(this.#options.store), this.#options.keys.start()])
    if (!(await this.#lease.start()) || !this.#open) return // stopped, or declared dead, before it began
    for (const it of this.#services) it.start()
  }

  /** Declares nodes dead whose processes on this machine no longer exist, so that others need not wait for their leases to end. */
  async #declareDeadNodes(): Promise<void> {
    const { environment, store, machine, telemetry, failed } = this.#options
    if (!machine.place) return
    try {
      const nodes = await store.nodes()
      const gone = nodes.filter(({ place }) => place !== null && machine.gone?.(place))
      if (gone.length === 0) return
      await store.declareDead(gone.map(({ id }) => id))
      const at = await store.now()
      const { host } = machine.place
      const known = gone.flatMap(({ runs }) => runs?.buried ?? [])
      // The leader counts deaths by this list, because its sweep does not see nodes that are declared dead here.
      this.#capabilities.buried = [...known, ...gone.map(({ id }) => ({ id, host, at }))].slice(-MOST_BURIED)
      if (!telemetry['node:died'].open) return
      for (const { id } of gone)
        telemetry['node:died'].tell({ at: environment.now(), node: this.id, dead: id, silent: null })
    } catch (error) {
      failed(error) // without this, their leases decide
    }
  }

  /** Something was written in this process that tasks or agents may wait for. */
  wake(): void {
    this.scheduler?.wake()
    this.#consumer?.wake()
  }

  /** A candidate of this process was added or withdrawn. */
  stood(): void {
    this.#elections.wake()
  }

  /** Writes buffered log lines, so that they can be read. */
  said(): Promise<void> {
    return this.#logs.flush()
  }

  /** Resolves when the breakers and rate limits of its agents' code are in the store. */
  async known(): Promise<void> {
    await Promise.all([this.#breakerSync.known(), this.#rateSync.known()])
  }

  /** A circuit breaker was changed by this process. */
  changed(): void {
    this.#breakerSync.tell()
  }

  /** The store left a call unanswered and may still carry it out, for example give this node a task. */
  doubt(): void {
    this.#lostTailCheck?.doubt()
  }

  /** Hands everything back. Attempts that still run after `grace` ms are aborted and left as lost. */
  async stop(grace: number, patience: StopBudget): Promise<void> {
    this.#open = false
    const reason = new TriarchError('NODE_STOPPED', 'the node is stopping')
    for (const it of this.#services) it.stop()
    // The store may not answer, so services that only wait for it get a limited time.
    const drained = (services: readonly Service[], ms: number) =>
      Promise.all(services.map((it) => patience.wait(it.drain(grace), ms)))
    await drained(this.#running, grace + STORE_ANSWER_BUDGET_MS)
    await drained(this.#others, STORE_ANSWER_BUDGET_MS)
    for (const it of this.#services) it.abandon(reason)
    await patience.wait(this.#leave(), STORE_ANSWER_BUDGET_MS)
    this.hosts.forget(reason)
    this.#reached.forget(reason)
  }

  /** Leaves only after the last renewal: one that came later would list this node as alive again. */
  async #leave(): Promise<void> {
    const { store, failed } = this.#options
    await this.#lease.stop()
    await store.leave(this.id).catch(failed)
  }

  #overrun({ task, workflow, step, action, name }: StepRequest, ms: number): void {
    const what = action || name
    const message = `the code of ${what} still runs ${ms} ms after it began, long past its complete-by; its slot is given to others`
    this.#options.alert({ code: 'SLOT_OVERRUN', task, workflow, step, action: what, cause: 'slot-overrun', message })
  }

  /** The event loop was blocked. The lease held, but timers, other steps and answers had to wait. */
  #blocked(ms: number, ran: readonly string[]): void {
    this.blocked = { at: this.#options.environment.monotonic(), ms }
    const what = ran.length === 0 ? 'no step ran' : ran.length === 1 ? `${ran[0]} ran` : `one of ${ran.join(', ')} ran`
    const [, action, step, task] = (ran.length === 1 && STEP.exec(ran[0] ?? '')) || []
    this.#options.alert({
      ...{ code: 'LOOP_BLOCKED', node: this.id, cause: 'loop-blocked' },
      ...(task !== undefined && { action, step: Number(step), task }),
      message: `the event loop of node ${this.id} stood still for ${ms} ms while ${what}`,
    })
  }

  /**
   * The store lost what it had acknowledged, so this node's knowledge of tasks, messages, attempts and locks belongs to a history that no
   * longer exists. The node reports what its tasks have lost, gives up everything it may own, and comes back under another name.
   */
  async #goBack(): Promise<void> {
    if (!this.#open || this.#goingBack) return
    this.#goingBack = true
    await this.scheduler?.lostTailDetector.report().catch(this.#options.failed)
    if (this.scheduler) this.scheduler.handsOn = false
    this.#fence(new TriarchError('NODE_FENCED', 'the store went back behind what it had acknowledged'))
    // The next owners of its tasks find attempts of unknown outcome, as after a death. If leaving fails, the lease ends by itself.
    await this.#leave()
  }

  #fence(reason: TriarchError = new TriarchError('NODE_FENCED', 'this node was taken for dead')): void {
    if (!this.#open) return
    this.#open = false
    this.#options.counters.fenced++
    const { environment, telemetry } = this.#options
    if (telemetry['lease:lost'].open) telemetry['lease:lost'].tell({ at: environment.now(), node: this.id })
    void this.#lease.stop()
    for (const it of this.#services) it.abandon(reason)
    const message = `node ${this.id} was taken for dead: what it had goes to others, and it begins anew under another name`
    this.#options.alert({ code: 'NODE_FENCED', node: this.id, cause: 'fenced', message })
    this.#options.fenced()
  }
}

function hasCache({ actions }: Agent): boolean {
  return [...actions.values()].some(({ definition }) => definition.cache !== undefined)
}

function present<T>(list: readonly (T | null)[]): T[] {
  return list.filter((it) => it !== null)
}
