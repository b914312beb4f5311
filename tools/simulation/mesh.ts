import type {
  Address,
  Channel,
  ChannelEar,
  ChannelKeys,
  Network,
} from '../../packages/triarch/src/environment/network.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { AgentResponse } from '../../packages/triarch/src/wire/message.ts'
import { dated, type Evidence } from '../../packages/triarch/test/crash/evidence.ts'
import type { DirectPlan, Plan } from './plan.ts'
import { type FrameFate, Lane } from './socket.ts'

/** After how long an end hears that the connection broke (ms). */
const RESET = 50
/** Until a connection that nobody answers is given up (ms). */
const PATIENCE = 10_000

/** What a plan has where nothing but crashes of schedulers and the links themselves can cost an answer. */
const CALM: readonly (keyof Plan)[] = [
  ...(['seed', 'nodes', 'settings', 'tasks', 'moves', 'chaos', 'hurts', 'calls', 'strike', 'direct'] as const),
]

/** Where connections are taken. */
interface Listener {
  machine: Machine
  keys: ChannelKeys
  accept: (channel: Channel) => ChannelEar
}

/** When a node with agents was heard last by one that gave it attempts; and when a silence last was as long as a lease. */
interface Hearing {
  heardAt: number
  lapsedAt: number
}

/** What happens to this node's connections with others, until then. */
interface Hurt {
  deafUntil: number
  muteUntil: number
}

/**
 * How nodes reach each other: connections that carry texts whole and in order, late, or in one direction alone for a while, or break; and
 * that an end may hold long after the other one is gone.
 */
export class Mesh {
  /** What happened, by kind. */
  readonly count: (kind: string) => void
  /** The longest way of a text (ms). */
  longest = 0
  readonly world: World
  readonly #plan: DirectPlan | null
  readonly #isCalm: boolean
  readonly #lease: number
  readonly #distance: number
  readonly #listeners = new Map<number, Listener>()
  readonly #held = new Map<Machine, Set<End>>()
  readonly #hurts = new Map<Machine, Hurt>()
  readonly #hearings = new Map<Machine, Map<Machine, Hearing>>()
  #isOver = false
  #ports = 0

  constructor(world: World, plan: Plan, count: (kind: string) => void) {
    const { direct, settings } = plan
    this.#isCalm = direct !== undefined && isCalm(plan, direct)
    this.world = world
    this.#plan = direct ?? null
    this.#lease = settings.lease
    this.#distance = settings.distance
    this.count = count
  }

  get isThere(): boolean {
    return this.#plan !== null
  }

  /** Nodes are hurt as planned: `living` is who is in that place then. */
  start(living: (place: number) => Machine | undefined): void {
    for (const { at, kind, node, ms } of this.#plan?.hurts ?? [])
      this.world.after(at, `direct ${kind}`, () => {
        const machine = living(node)
        if (!machine || this.#isOver) return
        this.count(`direct ${kind}`)
        const until = this.world.now + ms
        const { deafUntil = 0, muteUntil = 0 } = this.#hurts.get(machine) ?? {}
        this.#hurts.set(machine, {
          deafUntil: kind === 'mute' ? deafUntil : until,
          muteUntil: kind === 'deaf' ? muteUntil : until,
        })
      })
  }

  /** Others are within the machine's reach, from now on. */
  join(machine: Machine): void {
    if (!this.#plan) return
    machine.network = this.#networkOf(machine)
    machine.crashed = () => {
      // Its kernel ends what it held, unless that is gone as well.
      for (const end of this.#held.get(machine) ?? []) end.other?.abandoned(this.world.random() < 0.5)
      this.#held.delete(machine)
    }
  }

  /** No connection fails any more, and those of which nobody was told that they broke are found out. */
  heal(): void {
    this.#isOver = true
  }

  /** Who gave the machine attempts may not have heard of it for a lease, since then. */
  isSilent(machine: Machine, since: number): boolean {
    for (const [far, { heardAt, lapsedAt }] of this.#hearings.get(machine) ?? [])
      if (far.alive && (lapsedAt > since || this.world.now - heardAt >= this.#lease)) return true
    return false
  }

  /** Answers that nobody heard, though neither their process nor the store came to harm. */
  losses({ tasks, ledger }: Evidence): string[] {
    if (!this.#isCalm) return []
    const calls = ledger.filter(({ kind, pid }) => kind === 'call' && this.world.machines[pid - 1]?.alive)
    const ran = new Set(calls.map(({ operation, task, step, attempt }) => nameOf(operation, task, { step, attempt })))
    return tasks.flatMap((story) =>
      dated(story).flatMap(({ event }) => {
        if (event.type !== 'attemptFailed' || event.error.code !== 'STEP_LOST') return []
        const name = nameOf(event.operation, story.row.id, { step: event.id, attempt: event.attempt })
        return ran.has(name) ? [`${name} is taken for lost, and its process lives`] : []
      }),
    )
  }

  #networkOf(machine: Machine): Network {
    return {
      listen: async (at, keys, accept) => {
        const port = at.port || ++this.#ports
        this.#listeners.set(port, { machine, keys, accept })
        return { port, close: () => void this.#listeners.delete(port) }
      },
      dial: (at, keys, ear) => this.#dial(machine, { at, keys }, ear),
    }
  }

  #dial(machine: Machine, to: { at: Address; keys: ChannelKeys }, ear: ChannelEar & { opened(): void }): Channel {
    const { world } = this
    const near = new End(this, machine, ear)
    const there = this.fate()
    const lost = () => world.after(there.told ? RESET : PATIENCE, 'dial', () => near.over('no connection'), machine)
    if (there.breaks !== null || this.#isMute(machine)) {
      lost()
      return near
    }
    world.after(there.late, 'dial', () => {
      const listener = this.#listeners.get(to.at.port)
      if (!listener?.machine.alive || !isShown(to.keys, listener.keys))
        return void world.after(there.late, 'refused', () => near.over('refused'), machine)
      if (this.#isDeaf(listener.machine)) return void lost()
      const take = () => {
        if (near.isOver) return
        const far = new End(this, listener.machine, null)
        near.join(far)
        far.join(near)
        far.ear = listener.accept(far)
        this.#hold(near)
        this.#hold(far)
        this.#hear(near.machine, far.machine)
        far.pass(() => ear.opened())
      }
      world.after(0, 'take', take, listener.machine)
    })
    return near
  }

  #hold(end: End): void {
    const held = this.#held.get(end.machine) ?? new Set()
    this.#held.set(end.machine, held.add(end))
  }

  letGo(end: End): void {
    this.#held.get(end.machine)?.delete(end)
  }

  /** A text came from `from` to `to`. */
  heard(text: string, from: Machine, to: Machine): void {
    if (this.#hearings.get(from)?.has(to)) this.#hear(from, to)
    const { messages } = JSON.parse(text) as AgentResponse
    for (const { type } of messages) if (type === 'attempt') this.count('direct attempt')
  }

  #hear(from: Machine, by: Machine): void {
    const all = this.#hearings.get(from) ?? new Map<Machine, Hearing>()
    this.#hearings.set(from, all)
    const { now } = this.world
    const known = all.get(by) ?? { heardAt: now, lapsedAt: Number.NEGATIVE_INFINITY }
    const lapsedAt = now - known.heardAt >= this.#lease ? now : known.lapsedAt
    all.set(by, { heardAt: now, lapsedAt })
  }

  /** What becomes of one text. */
  fate(): FrameFate {
    const fate: FrameFate = { late: this.#upTo(this.#distance), breaks: null, told: true }
    if (!this.#isOver && this.#plan) {
      const { lost, slow, halfOpen } = this.#plan.share
      if (this.#meets('slow', slow)) fate.late += this.#upTo(2 * this.#lease)
      if (this.#meets('lost', lost)) fate.breaks = this.world.random() < 0.5 ? 'before' : 'after'
      if (fate.breaks !== null && this.#meets('half-open', halfOpen)) fate.told = false
    }
    this.longest = Math.max(this.longest, fate.late)
    return fate
  }

  #meets(kind: string, share: number): boolean {
    const met = share > 0 && this.world.random() < share
    if (met) this.count(`direct ${kind}`)
    return met
  }

  /** Until when nothing passes from one to the other. */
  stalled(from: Machine, to: Machine): number {
    if (this.#isOver) return 0
    return Math.max(this.#hurts.get(from)?.muteUntil ?? 0, this.#hurts.get(to)?.deafUntil ?? 0)
  }

  #isMute(machine: Machine): boolean {
    return !this.#isOver && (this.#hurts.get(machine)?.muteUntil ?? 0) > this.world.now
  }

  #isDeaf(machine: Machine): boolean {
    return !this.#isOver && (this.#hurts.get(machine)?.deafUntil ?? 0) > this.world.now
  }

  #upTo(most: number): number {
    return most === 0 ? 0 : this.world.below(most + 1)
  }
}

function nameOf(operation: string, task: string, { step, attempt }: { step: number; attempt: number }): string {
  return `${operation} attempt ${attempt} of step ${step} of ${task}`
}

/** Crashes of those who give attempts away, and connections that break and say so: an answer goes another way then. */
function isCalm(plan: Plan, { share, hurts }: DirectPlan): boolean {
  if (share.slow + share.halfOpen + hurts.length > 0 || plan.strike !== null || plan.settings.patience !== undefined)
    return false
  if (Object.keys(plan.calls).length > 0 || Object.keys(plan).some((key) => !CALM.includes(key as keyof Plan)))
    return false
  return plan.hurts.every(({ kind, node }) => kind === 'crash' && !plan.nodes[node]?.roles.includes('agent'))
}

/** One end of a connection. */
class End implements Channel {
  readonly waiting = 0
  readonly machine: Machine
  ear: ChannelEar | null
  other: End | null = null
  /** Nothing is heard here any more. */
  isOver = false
  readonly #mesh: Mesh
  #lane: Lane | null = null
  /** Nothing that is said here arrives. */
  #isBroken = false
  #paused = false
  readonly #unheard: string[] = []

  constructor(mesh: Mesh, machine: Machine, ear: ChannelEar | null) {
    this.#mesh = mesh
    this.machine = machine
    this.ear = ear
  }

  join(other: End): void {
    this.other = other
    this.#lane = new Lane(this.#mesh.world, other.machine, () => this.#mesh.stalled(this.machine, other.machine))
  }

  send(text: string): void {
    this.pass(() => this.other?.hear(text))
  }

  /** To the other end, after what was said before. */
  pass(deliver: () => void): void {
    const { other } = this
    if (this.isOver || this.#isBroken || !other || !this.machine.alive) return
    const { late, breaks, told } = this.#mesh.fate()
    if (!other.machine.alive) return this.#break(told)
    if (breaks !== 'before') this.#lane?.send(late, deliver)
    if (breaks !== null) this.#break(told)
  }

  hear(text: string): void {
    if (this.isOver || !this.other) return
    if (this.#paused) return void this.#unheard.push(text)
    this.#mesh.heard(text, this.other.machine, this.machine)
    this.ear?.heard(text)
  }

  pause(on: boolean): void {
    this.#paused = on
    while (!this.#paused && this.#unheard.length > 0) this.hear(this.#unheard.shift() as string)
  }

  close(): void {
    if (this.isOver) return
    this.isOver = true
    this.#mesh.letGo(this)
    const { other } = this
    if (other && !this.#isBroken && this.machine.alive)
      this.#lane?.send(this.#mesh.fate().late, () => other.over('the other side ended it'))
  }

  over(why: string): void {
    if (this.isOver) return
    this.isOver = true
    this.#mesh.letGo(this)
    this.ear?.closed(why)
  }

  /** The other end is no more; who is not told goes on as if it were there. */
  abandoned(told: boolean): void {
    this.#isBroken = true
    if (told) this.#mesh.world.after(RESET, 'closed', () => this.over('reset'), this.machine)
  }

  #break(told: boolean): void {
    this.abandoned(told)
    this.other?.abandoned(told)
  }
}

/** Whether one who listens has the key that is shown. */
function isShown(shown: ChannelKeys, taken: ChannelKeys): boolean {
  const { number, key } = shown.current()
  return taken.numbered(number)?.equals(key) ?? false
}
