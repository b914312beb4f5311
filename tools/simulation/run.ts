import { Triarch } from '../../packages/triarch/src/index.ts'
import { callText } from '../../packages/triarch/src/testing/fault.ts'
import { isMoment, type LinkCall, SimulatedNetwork } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { World } from '../../packages/triarch/src/testing/world.ts'
import { type Evidence, readStore } from '../../packages/triarch/test/crash/evidence.ts'
import { violations } from '../../packages/triarch/test/crash/rules.ts'
import { Archive } from './archive.ts'
import { Asleep } from './asleep.ts'
import { Ledger } from './book.ts'
import { Bounds } from './bounds.ts'
import { accepted } from './censor.ts'
import { Client } from './client.ts'
import { Cluster } from './cluster.ts'
import { isHarmless, refusals, textOf } from './complaint.ts'
import { Desk, entryOf, type Written } from './desk.ts'
import { Fortune } from './fault.ts'
import { Journal } from './journal.ts'
import { Operator } from './operator.ts'
import { heard, judge, judged, lasts, remade } from './oracle.ts'
import type { Hurt, Plan } from './plan.ts'
import { Poison } from './poison.ts'
import { rests, unfinished } from './rest.ts'
import { Rollout } from './rollout.ts'
import { definitions } from './services.ts'
import { Sight } from './sight.ts'
import { Timetable } from './timetable.ts'
import { Vault } from './vault.ts'

export interface Report {
  /** Each with the name of the oracle before the colon; empty when every rule held. */
  violations: string[]
  /** Faults fired, by kind. */
  fired: Record<string, number>
  evidence: Evidence
  /** The same for the same plan. */
  hash: number
  /** Events that happened, calls to the store, and time that passed (ms). */
  steps: number
  calls: number
  elapsed: number
  /** Which calls found or changed anything: the moments worth a fault. */
  moments: number[]
  /** What happened, line by line, when it was asked for. */
  trace: string[]
}

/**
 * Between two looks of the operator, between two events for whoever still waits for one, and the time in which all must
 * come to rest once the faults are over (ms).
 */
const LOOK = 250
const FEED = 5_000
const LIVENESS = 120_000
/** What services ask for by `retryAfter` in every world (ms). */
const RETRY_AFTER = 10
/** The number of the last letter that there was. */
const LAST_LETTER = "SELECT seq FROM sqlite_sequence WHERE name = 'triarch_inbox'"
/** What the audit has. */
const ACTS = 'SELECT action, subject FROM triarch_audit'
/** When the operator ends by force what is poison, once the faults are over (ms). */
const GIVES_UP = [1_000, 5_000, 20_000]
/** Between two prunings where there is retention (ms). */
const PRUNE = 300

/** One store for all runs of a process: setting it up costs more than most runs. */
const store = new Vault()

/** One run of a plan: faults for a while; then they stop, all must come to rest, and the oracles judge. */
export async function run(plan: Plan, options: { trace?: boolean } = {}): Promise<Report> {
  return new Run(plan, options.trace === true).whole()
}

class Run {
  readonly #plan: Plan
  readonly #world: World
  readonly #fortune: Fortune
  readonly #sight: Sight
  readonly #timetable: Timetable
  readonly #ledger: Ledger
  readonly #asleep: Asleep = new Asleep(store)
  readonly #network: SimulatedNetwork
  readonly #desk: Desk
  readonly #archive: Archive
  readonly #poison: Poison
  readonly #bounds: Bounds
  readonly #journal: Journal
  readonly #rollout: Rollout
  readonly #cluster: Cluster
  readonly #client: Client
  readonly #operator: Operator
  /** The store's. */
  readonly #clock = { now: () => this.#world.now + this.#leapt }
  #leapt = 0
  readonly #trace: string[] = []
  readonly #moments: number[] = []
  /** When the nodes began to stop. */
  #lastLetter = Number.MAX_SAFE_INTEGER
  /** The way of the longest call (ms). */
  #longest = 0

  constructor(plan: Plan, trace: boolean) {
    this.#plan = plan
    const world = new World({ seed: plan.seed })
    this.#world = world
    if (trace) world.trace = (line) => this.#trace.push(line)
    store.reset(this.#clock)
    this.#fortune = new Fortune(world, plan)
    this.#sight = new Sight(this.#clock, store, plan)
    this.#archive = new Archive(world, store, (id) => this.#sight.forget(id))
    this.#bounds = new Bounds(store, plan)
    this.#journal = new Journal(world, store, plan)
    this.#poison = new Poison(world, store, plan.poison ?? [], (one) => this.#bounds.explains(one))
    this.#timetable = new Timetable(world, store, plan.schedules ?? [])
    this.#ledger = new Ledger(world, this.#sight, this.#clock)
    const fate = (call: LinkCall) => {
      const found = this.#fortune.fate(call)
      this.#cluster.calm.met(call, found)
      this.#longest = Math.max(this.#longest, found.there + found.back)
      return found
    }
    this.#network = new SimulatedNetwork(world, store, {
      ...plan.settings,
      unanswered: this.#fortune.gaveUp,
      fate,
      observe: (call, answer) => {
        this.#sight.observe(call, answer)
        this.#timetable.observe(call, answer)
        this.#archive.observe(call, answer)
        this.#poison.observe(call)
        this.#bounds.observe(call, answer)
        this.#operator.acts.observe(call, answer)
        this.#cluster.entrance.observe(call)
        this.#rollout.observe(call, answer)
        this.#cluster.outage.observe(call, answer)
        this.#cluster.throttle.observe(call, answer)
        this.#cluster.respite.observe(call, answer)
        this.#cluster.dial.observe(call, answer)
        this.#cluster.tuning.observe(call, answer)
        this.#cluster.adaptive.observe(call)
        this.#cluster.kept.observe(call, answer)
        this.#cluster.tenancy.observe(call, answer)
        if (!isMoment(call, answer)) return
        this.#moments.push(call.index)
        if (trace) this.#trace.push(`${world.elapsed} ${callText(call)} #${call.index}${refusals(call, answer)}`)
      },
      crashed: (machine) => this.#lose(machine),
    })
    const network = this.#network
    this.#desk = new Desk({ world, vault: store, network, fate, crashed: (machine) => this.#lose(machine) })
    store.before = (call, args) => {
      this.#desk.check()
      this.#archive.before(call)
      this.#poison.before(call, args)
      this.#rollout.before(call, args)
    }
    const link = (machine: Machine) => {
      const store = network.link(machine)
      // While somebody's transaction is open all others are refused: what is to be shared is said later.
      const said = <A extends unknown[], R>(call: (...given: A) => Promise<R>) => {
        return (...given: A): Promise<R> =>
          call(...given).catch((error) => {
            this.#cluster.calm.trouble(machine, 0)
            throw error
          })
      }
      const { breakers, writeBreaker } = store
      return this.#desk.link(machine, { ...store, breakers: said(breakers), writeBreaker: said(writeBreaker) })
    }
    this.#rollout = new Rollout(store, (machine, version) => this.#cluster.knows(machine, version))
    const count = (kind: string) => this.#fortune.count(kind)
    this.#cluster = new Cluster(world, link, this.#ledger, { plan, store, sight: this.#sight, count })
    const { client, application, machine } = this.#application()
    this.#client = client
    this.#operator = new Operator(application, plan)
    this.#cluster.outage.plan(machine, application)
    this.#cluster.dial.plan(machine, application)
    this.#cluster.tuning.plan(machine, application)
    this.#cluster.kept.plan(machine, application)
    this.#schedule(machine)
  }

  /** Submits and operates: a process without roles, whose machine is never hurt. */
  #application(): { client: Client; application: Triarch; machine: Machine } {
    const machine = this.#world.machine('application', { skew: this.#plan.nodes[0]?.skew ?? 0 })
    const known = this.#cluster.entrance.bounded(
      definitions(null, this.#plan.settings.strict === 'all', this.#cluster.kept.bank(null, null)),
    )
    const application = new Triarch({
      store: () => this.#network.link(machine),
      environment: machine,
      roles: [],
      notices: false,
      onError: (error) => this.#cluster.errors.push({ node: machine.name, error }),
      workflows: [known.programs, known.newer, known.plans],
      limits: this.#plan.nodes[0]?.limits ?? {},
      ...this.#cluster.dial.options(),
      ...this.#cluster.tenancy.options(),
      telemetry: this.#cluster.dial.telemetry(machine),
    })
    const client = new Client(machine, application, known, this.#plan)
    this.#ledger.told = (token) => client.resume(token)
    return { application, machine, client }
  }

  #schedule(machine: Machine): void {
    for (const hurt of this.#plan.hurts) this.#world.after(hurt.at, hurt.kind, () => this.#hurt(hurt))
    for (const { at, kind, task } of this.#plan.moves) {
      const id = this.#plan.tasks[task]?.id
      if (id !== undefined) machine.timer(at, () => void this.#operator.move(id, kind))
    }
    for (const one of this.#plan.rollout ?? []) this.#world.after(one.at, 'update', () => this.#cluster.update(one))
    const look = () => {
      void this.#operator.decide()
      if (!this.#desk.open) this.#asleep.look()
      machine.timer(LOOK, look)
    }
    machine.timer(LOOK, look)
    if (this.#plan.loss) this.#forget(this.#plan.loss)
    for (const { at, ms } of this.#plan.leaps ?? []) this.#world.after(at, 'leap', () => this.#leap(ms))
    // Nobody can give a step what it waits for whose task cannot be read.
    for (const id of this.#poison.tasks)
      for (const wait of GIVES_UP) machine.timer(this.#plan.chaos + wait, () => void this.#operator.move(id, 'force'))
    const { retention } = this.#plan.settings
    if (retention) this.#retain(retention)
  }

  /** Leaders come and go, so retention may be thought of at any time. */
  #retain(ages: NonNullable<Plan['settings']['retention']>): void {
    const prune = () => {
      if (!this.#desk.open) this.#archive.prune(ages)
    }
    for (let at = PRUNE; at < this.#plan.chaos + 10 * LOOK; at += PRUNE) this.#world.after(at, 'prune', prune)
    this.#archive.asked = () => void this.#world.after(0, 'prune', prune)
  }

  #forget({ at, last }: NonNullable<Plan['loss']>): void {
    this.#world.after(at - last, 'remember', () => {
      const accepted = this.#client.accepted.length
      const goBack = store.remember()
      const forget = () => {
        if (this.#desk.open) return void this.#world.after(1, 'forget', forget)
        goBack()
        this.#client.accepted.splice(accepted)
        this.#client.repeat()
        this.#cluster.dial.repeat()
        this.#fortune.count('loss')
        this.#world.note(`the store has forgotten what it took in the last ${last} ms`)
      }
      this.#world.after(last, 'forget', forget)
    })
  }

  #leap(ms: number): void {
    this.#leapt += ms
    this.#fortune.count('leap')
    this.#world.note(`the store's clock leaps ahead by ${ms} ms`)
  }

  async whole(): Promise<Report> {
    const faults: string[] = []
    this.#cluster.start()
    try {
      await this.#world.run(this.#plan.chaos)
      this.#heal()
      const rested = await this.#settle()
      const late = `not at rest ${LIVENESS} ms after the last fault`
      if (!rested) faults.push(`liveness: ${late}: ${unfinished(store, this.#client.owed, this.#waiting)}`)
      const { retention } = this.#plan.settings
      if (retention && rested) this.#archive.overdue(retention)
      this.#fortune.phase = 'over'
      this.#lastLetter = store.database.get<{ seq: number }>(LAST_LETTER)?.seq ?? 0
      if (!(await this.#cluster.stop(30_000))) faults.push('liveness: a node did not stop within 30 s')
      await this.#lapse()
    } catch (error) {
      faults.push(`engine: ${(error as Error).stack}`)
    }
    this.#sight.look()
    return this.#report(faults)
  }

  #heal(): void {
    this.#world.note('the faults are over')
    this.#fortune.phase = 'healed'
    this.#fortune.cut.clear()
    this.#cluster.wire.heal()
    this.#cluster.mesh.heal()
    this.#ledger.open = true
    // Nobody else goes on with what waits for ever in a process.
    if (this.#plan.outside) for (const place of this.#cluster.members.keys()) this.#cluster.restart(place)
    // Who stands still goes on in his time: what came meanwhile waits for him until then.
    for (const [place, member] of this.#cluster.members.entries()) {
      if (!member?.machine.alive) this.#cluster.boot(place)
    }
  }

  async #settle(): Promise<boolean> {
    for (let waited = 0; waited < LIVENESS; waited += LOOK) {
      if (this.#client.idle && this.#operator.idle && this.#rests()) return true
      if (this.#poison.hopeless) return false
      if (waited % FEED === 0) this.#client.feed()
      await this.#world.run(LOOK)
    }
    return false
  }

  #rests(): boolean {
    // Machines that crashed are still to be found dead, those that came to be heard of.
    const named = (member: Cluster['members'][number]) =>
      (member?.machine.alive && this.#sight.nodeOf(member.machine)) || null
    return rests(store, this.#cluster.members.map(named)) && this.#waiting.length === 0
  }

  /** Names by which nobody leads, nodes that do not run what they are to, and alerts that are not over. */
  get #waiting(): string[] {
    const { reign, dial, tuning, alarm, kept, members } = this.#cluster
    const living = members.map((member) => (member?.machine.alive ? member.machine : null))
    return [
      ...reign.vacant(store),
      ...dial.apart(store, living),
      ...tuning.apart(living),
      ...alarm.owed(store),
      ...kept.owed,
    ]
  }

  /**
   * A node that could not say that it leaves, or whose last renewal came in after that, is listed until its lease is
   * over; nobody is left to bury it.
   */
  async #lapse(): Promise<void> {
    const listed = 'SELECT 1 FROM triarch_nodes WHERE dead = 0 AND lease_until >= ?'
    // A renewal may still be under way, for the second time.
    for (let round = 0; round < 3 && store.database.get(listed, this.#clock.now()); round++)
      await this.#world.run(this.#longest + this.#plan.settings.lease + 1)
  }

  #hurt({ kind, node, ms }: Hurt): void {
    const machine = this.#cluster.members[node]?.machine
    if (!machine?.alive) return
    this.#fortune.count(kind)
    this.#cluster.calm.trouble(machine, kind === 'freeze' ? ms : 0)
    if (kind === 'crash') {
      this.#journal.died()
      machine.crash()
      this.#cluster.revive(node, ms)
    }
    if (kind === 'freeze') machine.freeze(ms)
    if (kind === 'restart') this.#cluster.restart(node)
    if (kind === 'jump') machine.skew += ms
    if (kind === 'cut') this.#fortune.cut.set(machine.name, this.#world.now + ms)
  }

  #lose(machine: Machine): void {
    this.#journal.died()
    const place = this.#cluster.placeOf(machine)
    if (place >= 0) this.#cluster.revive(place)
  }

  #report(faults: string[]): Report {
    const written = store.database.all<Written>('SELECT * FROM world_effects')
    const evidence = this.#evidence(written)
    const {
      errors,
      outage,
      throttle,
      tuning,
      respite,
      reign,
      line,
      crowd,
      pools,
      entrance,
      seniority,
      tenancy,
      dial,
      alarm,
      kept,
      adaptive,
      wire,
      mesh,
    } = this.#cluster
    // A node's idea of the store's clock lags by what an answer takes to come.
    const slack = 2 * Math.max(this.#longest, wire.longest, mesh.longest) + this.#standstill() + this.#leapt
    const { settings, respite: rests, throttle: limits } = this.#plan
    const { strict } = settings
    const hindsight = {
      asked: Math.max(RETRY_AFTER, rests?.ms ?? 0, limits?.rests?.ms ?? 0),
      evidence: { ...evidence, slack },
      ...{ asleep: this.#asleep, refusal: this.#fortune.refusal },
      sight: this.#sight,
      sent: this.#archive.once(accepted(this.#client.sent, strict)),
      timetable: this.#timetable,
      ...{ archive: this.#archive, poison: this.#poison, bounds: this.#bounds },
      wrapped: strict ? this.#ledger.wrapped : null,
      ...{
        rollout: this.#rollout,
        outage,
        throttle,
        tuning,
        respite,
        reign,
        dial,
        alarm,
        kept,
        adaptive,
        wire,
        mesh,
        written,
        line,
        crowd,
        pools,
        entrance,
        seniority,
        tenancy,
      },
    }
    const found = [
      ...faults,
      ...this.#sight.faults,
      ...this.#fortune.impatience(LOOK).map((fault) => `patience: ${fault}`),
      ...this.#cluster.excesses,
      ...errors
        .filter(({ error }) => !isHarmless(error) && !this.#poison.explains(error))
        .map(({ node, error }) => `errors: ${node}: ${textOf(error)}`),
      ...this.#operator.astonished.map((fault) => `pauses: ${fault}`),
      ...this.#operator.acts.faults(store.database.all(ACTS)).map((fault) => `audit: ${fault}`),
      ...judged(() =>
        this.#journal.faults(evidence, this.#sight, this.#fortune.fired).map((fault) => `logs: ${fault}`),
      ),
      ...judged(() => [...violations(hindsight.evidence), ...judge(hindsight)]),
    ]
    for (const { row } of evidence.tasks) this.#world.note(`${row.id} ${row.status} ${row.result} ${row.output}`)
    const { hash, steps, elapsed } = this.#world
    const [trace, moments, calls] = [this.#trace, this.#moments, this.#network.calls]
    const told = this.#plan.loss ? found.filter(lasts) : found
    return { violations: told, fired: this.#fortune.fired, evidence, hash, steps, calls, elapsed, moments, trace }
  }

  /** What nodes hand on while they stop is for the next node: of a task that has stopped it would be read and ignored. */
  #leaveParting(stored: Pick<Evidence, 'tasks' | 'inbox'>): void {
    const stopped = new Map(stored.tasks.filter(({ row }) => row.status === 'stopped').map(({ row }) => [row.key, row]))
    const letters = stored.inbox as { id: number; task: number }[]
    const isParting = ({ id, task }: { id: number; task: number }) => id > this.#lastLetter && stopped.has(task)
    stored.inbox = letters.filter((letter) => !isParting(letter))
    for (const { task } of letters.filter(isParting)) {
      const row = stopped.get(task)
      if (row && !letters.some((letter) => letter.task === task && !isParting(letter))) row.ready = 0
    }
  }

  #evidence(written: readonly Written[]): Evidence {
    this.#poison.restore()
    const stored = readStore((sql, ...values) => store.database.all(sql, ...values))
    const emitted: Evidence['emitted'] = {}
    for (const story of stored.tasks) {
      if (this.#client.sent[story.row.id] && !remade(story)) emitted[story.row.id] = heard(story)
    }
    // An agent hears of a forced stop with its next pulse, which may have to wait for its machine and for the network.
    const way = Math.max(this.#longest, this.#cluster.wire.longest, this.#cluster.mesh.longest)
    const pulse = this.#plan.settings.lease / 3 + 2 * way + this.#standstill() + 10
    const lapsed = 'SELECT id FROM triarch_nodes WHERE lease_until < ?'
    const gone = new Set(store.database.all<{ id: string }>(lapsed, this.#clock.now()).map(({ id }) => id))
    stored.nodes = stored.nodes.filter(({ id }) => !gone.has(id))
    this.#leaveParting(stored)
    const ledger = [...this.#ledger.entries, ...written.map(entryOf)]
    const heeded = accepted(emitted, this.#plan.settings.strict)
    const evidence = { accepted: this.#client.accepted, emitted: heeded, ...stored, ledger, pulse }
    return this.#poison.without(this.#archive.complete(evidence))
  }

  /** The longest (ms) that a machine stood still or heard nothing. */
  #standstill(): number {
    const all = [...this.#plan.hurts, ...(this.#plan.wire?.hurts ?? [])]
    const hurts = all.filter(({ kind }) => kind === 'freeze' || kind === 'cut')
    return Math.max(0, ...[...hurts, ...(this.#plan.direct?.hurts ?? [])].map(({ ms }) => ms))
  }
}
