import { type Agent, Triarch } from '../../packages/triarch/src/index.ts'
import type { StateStore } from '../../packages/triarch/src/store/port.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { Adaptive } from './adaptive.ts'
import { Alarm } from './alarm.ts'
import type { Ledger } from './book.ts'
import { Kept } from './cache.ts'
import { Calm } from './calm.ts'
import { censor, rethrow } from './censor.ts'
import { Crowd } from './crowd.ts'
import { Dial } from './dial.ts'
import { Entrance } from './entrance.ts'
import { Line } from './line.ts'
import { Mesh } from './mesh.ts'
import { Outage } from './outage.ts'
import type { NodePlan, Plan, Settings, Version } from './plan.ts'
import { Pools } from './pool.ts'
import { Reign } from './reign.ts'
import { Respite } from './respite.ts'
import { Seniority } from './seniority.ts'
import { definitions } from './services.ts'
import type { Sight } from './sight.ts'
import { counted } from './slots.ts'
import { Tenancy } from './tenancy.ts'
import { Throttle } from './throttle.ts'
import { Tuning } from './tuning.ts'
import type { Vault } from './vault.ts'
import { Wire } from './wire.ts'

/** How long a machine stays away after a crash (ms). */
const REBOOT = 300

interface Member {
  plan: NodePlan
  machine: Machine
  triarch: Triarch
  /** Agents that are connected to it are told to go elsewhere. */
  drain: () => void
}

/** The nodes of a run: each on a machine of its own, all on one store. */
export class Cluster {
  /** What nodes reported: error and where. */
  readonly errors: { node: string; error: unknown }[] = []
  /** Times when an agent ran more than it may. */
  readonly excesses: string[] = []
  readonly members: (Member | null)[]
  /** Whether crashed machines come back by themselves. */
  reboots = true
  readonly #world: World
  readonly #link: (machine: Machine) => StateStore
  readonly #ledger: Ledger
  readonly #plan: Plan
  readonly outage: Outage
  readonly throttle: Throttle
  readonly respite: Respite
  readonly tuning: Tuning
  readonly calm: Calm
  readonly reign: Reign
  readonly line: Line
  readonly crowd: Crowd
  readonly pools: Pools
  readonly entrance: Entrance
  readonly seniority: Seniority
  readonly tenancy: Tenancy
  readonly dial: Dial
  readonly alarm: Alarm
  readonly kept: Kept
  readonly adaptive: Adaptive
  readonly wire: Wire
  readonly mesh: Mesh
  readonly #versions = new Map<number, Version[]>()
  #born = 0

  constructor(
    world: World,
    link: (machine: Machine) => StateStore,
    ledger: Ledger,
    { plan, store, sight, count }: { plan: Plan; store: Vault; sight: Sight; count: (kind: string) => void },
  ) {
    this.#world = world
    this.#link = link
    this.#ledger = ledger
    this.#plan = plan
    this.outage = new Outage(world, plan)
    this.throttle = new Throttle(world, { now: () => store.clock.now() }, plan)
    this.calm = new Calm(world, plan)
    this.respite = new Respite(world, { now: () => store.clock.now() }, this.calm, plan)
    this.tuning = new Tuning(world, this.calm, store, plan)
    this.reign = new Reign(world, plan)
    this.line = new Line(store, plan)
    this.crowd = new Crowd(store, plan)
    this.pools = new Pools(store, plan)
    this.entrance = new Entrance(store, plan)
    this.seniority = new Seniority(store, plan)
    this.tenancy = new Tenancy(world, store, plan)
    this.dial = new Dial(world, plan)
    this.alarm = new Alarm(world, plan)
    this.adaptive = new Adaptive(world, plan)
    this.kept = new Kept(world, sight, plan)
    this.wire = new Wire(world, store, plan, { agents: (machine) => this.#agents(machine), count })
    this.mesh = new Mesh(world, plan, count)
    ledger.forgotten = (machine, since) =>
      this.wire.isForgotten(machine, since) ?? (this.mesh.isSilent(machine, since) || undefined)
    this.members = plan.nodes.map(() => null)
  }

  start(): void {
    for (const place of this.members.keys()) this.boot(place)
    this.wire.start()
    this.mesh.start((place) => this.members[place]?.machine)
  }

  /** A new machine in this place, with nothing of the one before. */
  boot(place: number): void {
    const planned = this.#plan.nodes[place]
    const plan = planned && { ...planned, versions: this.#versions.get(place) ?? planned.versions ?? ['1'] }
    if (!plan || this.members[place]?.machine.alive) return
    const name = `node ${place} #${++this.#born}`
    const machine = this.#world.machine(name, { skew: plan.skew })
    this.mesh.join(machine)
    const triarch = this.node(machine, plan, this.#plan.settings)
    const drain = this.wire.serve(place, machine, triarch)
    const member = { plan, machine, triarch, drain }
    this.members[place] = member
    const started = () =>
      member.triarch.start().catch((error: unknown) => {
        // As whoever watches processes does: one that does not start is started again.
        this.errors.push({ node: name, error })
        machine.crash()
        this.revive(place)
      })
    this.#world.after(0, 'boot', () => void started(), machine)
  }

  node(machine: Machine, { roles, limits, versions }: NodePlan, settings: Settings): Triarch {
    const book = this.#ledger.of(machine)
    const { lease, sweep, poll, tasks, retention, throws, strict } = settings
    const { programs, newer, plans } = definitions(book, strict !== undefined, this.kept.bank(machine, book))
    const known = versions?.includes('2') ? [programs, newer] : [programs]
    const triarch = new Triarch({
      ...{ store: () => this.#link(machine), environment: machine, roles, lease, sweep, poll, grace: 500 },
      workflows: [...known, plans],
      ...(strict && { middleware: [censor(book)] }),
      direct: this.mesh.isThere,
      agents: roles.includes('agent') && !this.wire.apart ? this.#agents(machine) : [],
      limits: { tasks, ...limits },
      ...(this.#plan.ageing && { ageing: this.#plan.ageing }),
      ...(retention && { retention }),
      ...this.dial.options(),
      ...this.tenancy.options(),
      ...this.alarm.options(),
      ...this.kept.options(machine),
      telemetry: {
        ...this.dial.telemetry(machine),
        ...this.tuning.telemetry(machine),
        ...this.kept.telemetry(machine),
      },
      notices: false,
      onError: (error) => {
        this.errors.push({ node: machine.name, error })
        if (strict) rethrow()
      },
    })
    this.reign.stand(machine, triarch)
    this.alarm.listen(machine, triarch)
    if (throws) {
      const thrown = () => new Error('injected: a listener throws')
      triarch.on('alert', () => {
        throw thrown()
      })
      triarch.on('recovered', () => Promise.reject(thrown()))
    }
    return triarch
  }

  #agents(machine: Machine): Agent[] {
    const book = this.#ledger.of(machine)
    const { agents } = definitions(book, this.#plan.settings.strict !== undefined, this.kept.bank(machine, book))
    return [...agents, ...this.outage.spares(agents)].map((agent) => {
      const ruled = this.tuning.agent(
        machine,
        this.crowd.agent(
          machine,
          this.dial.agent(
            machine,
            this.adaptive.agent(machine, this.pools.agent(machine, this.tenancy.agent(Line.agent(this.#plan, agent)))),
          ),
        ),
      )
      return this.#counted(
        machine,
        this.kept.agent(this.respite.agent(machine, this.throttle.agent(machine, this.outage.agent(machine, ruled)))),
      )
    })
  }

  #counted(machine: Machine, agent: Agent): Agent {
    return counted(agent, (running) => {
      if (machine.alive) this.excesses.push(`slots: ${machine.name} runs ${running} attempts of ${agent.name} at once`)
    })
  }

  crash(place: number): void {
    this.members[place]?.machine.crash()
    this.revive(place)
  }

  /** The machine in this place was lost: another comes, after a while. */
  revive(place: number, after: number = REBOOT): void {
    if (this.reboots) this.#world.after(after, 'reboot', () => this.boot(place))
  }

  placeOf(machine: Machine): number {
    return this.members.findIndex((member) => member?.machine === machine)
  }

  /** From now on there is other code in this place. */
  update({ node, versions }: { node: number; versions: Version[] }): void {
    this.#versions.set(node, versions)
    this.restart(node)
  }

  /** Which versions of programs the machine has code for. */
  knows(machine: Machine, version: string): boolean {
    const member = this.members.find((one) => one?.machine === machine)
    return member?.plan.versions?.some((one) => one === version) !== false
  }

  /** Stops the node as a signal would, and starts another in its place. */
  restart(place: number): void {
    const member = this.members[place]
    if (!member?.machine.alive) return
    const { machine, triarch, drain } = member
    this.#world.note(`${machine.name} is asked to stop`)
    const stopped = () => {
      machine.crash()
      if (this.reboots) this.boot(place)
    }
    const stop = () => {
      drain()
      void triarch.stop().then(stopped, stopped)
    }
    this.#world.after(0, 'stop', stop, machine)
  }

  /** All that live stop well. */
  async stop(within: number): Promise<boolean> {
    this.reboots = false
    const left = await this.wire.stop(within)
    return (await this.#stopped(within)) && left
  }

  async #stopped(within: number): Promise<boolean> {
    const running = this.members.filter((member) => member?.machine.alive === true) as Member[]
    const left = new Set(running)
    for (const member of running) {
      const stopped = () => void left.delete(member)
      const failed = (error: unknown) => {
        this.errors.push({ node: member.machine.name, error })
        left.delete(member)
      }
      this.#world.after(0, 'stop', () => void member.triarch.stop().then(stopped, failed), member.machine)
    }
    // One that fails to start is taken away meanwhile.
    const over = () => [...left].every(({ machine }) => !machine.alive)
    await this.#world.run(within, over)
    return over()
  }
}
