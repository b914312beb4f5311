import { LONGEST_ANSWER } from '../../packages/triarch/src/store/deadline.ts'
import type { Transition } from '../../packages/triarch/src/store/port.ts'
import type { CallInterference, LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { type CallFault, callFaults, type Plan } from './plan.ts'
import { Refusal } from './refusal.ts'

/** Decides what becomes of each call, and counts what it did to them. */
export class Fortune {
  /** Faults fired, by kind. */
  readonly fired: Record<string, number> = {}
  /** Machines that hear nothing of the store, until when. */
  readonly cut: Map<string, number> = new Map()
  /** Faults by chance come in the first phase; a planned strike also while all come to rest. */
  phase: 'faults' | 'healed' | 'over' = 'faults'
  readonly #world: World
  readonly #plan: Plan
  /** Calls that get no answer, until nobody waits for it any more. */
  readonly #unanswered = new Set<{ machine: Machine; name: string; at: number }>()
  readonly #faults: string[] = []
  readonly refusal: Refusal

  constructor(world: World, plan: Plan) {
    this.#world = world
    this.#plan = plan
    this.refusal = new Refusal(world, plan)
  }

  count(kind: string): void {
    this.fired[kind] = (this.fired[kind] ?? 0) + 1
  }

  readonly fate = (call: LinkCall): CallInterference => {
    const { distance } = this.#plan.settings
    const fate: CallInterference = { there: this.#upTo(distance), back: this.#upTo(distance) }
    const { strike } = this.#plan
    if (this.phase !== 'over' && strike?.index === call.index && possible(strike.fault, call))
      return this.#strike(call, { ...fate, fault: strike.fault })
    const dark = this.#dark(call)
    if (dark > 0) return { there: dark, back: this.#upTo(dark), fault: 'refused' }
    if (this.phase !== 'faults') return fate
    for (const kind of callFaults) {
      const share = this.#plan.calls[kind]
      if (share !== undefined && this.#world.random() < share && possible(kind, call))
        return this.#meet(kind, call, fate)
    }
    const refused = this.refusal.fate(call, fate)
    if (refused.fault) this.count(refused.fault)
    return refused
  }

  /** The machine no longer waits for an answer. */
  readonly gaveUp = (machine: Machine, name: string): void => {
    const call = [...this.#unanswered].find((one) => one.machine === machine && one.name === name)
    if (!call) return void this.#faults.push(`${machine.name} gave up ${name}, which was to be answered`)
    this.#unanswered.delete(call)
    const waited = this.#world.now - call.at
    if (waited < this.#patience) this.#faults.push(`${machine.name} gave up ${name} after ${waited} ms`)
  }

  /** No call is given up too soon, and none waited for without end, but for looks (ms) and for as long as machines stood still. */
  impatience(looks: number): string[] {
    const still = new Map<number, number>()
    // One freeze may begin before another ends.
    for (const { kind, node, ms } of this.#plan.hurts)
      if (kind === 'freeze' || kind === 'cut') still.set(node, (still.get(node) ?? 0) + ms)
    const since = this.#world.now - this.#patience * 1.25 - looks - Math.max(0, ...still.values())
    const endless = [...this.#unanswered].filter(({ machine, at }) => machine.alive && at < since)
    return [...this.#faults, ...endless.map(({ machine, name }) => `${machine.name} waits for ${name} without end`)]
  }

  get #patience(): number {
    return this.#plan.settings.patience ?? LONGEST_ANSWER
  }

  #meet(kind: CallFault, call: LinkCall, fate: CallInterference): CallInterference {
    const { lease, retention = {} } = this.#plan.settings
    if (kind === 'unanswered') {
      const { machine, name } = call
      this.#unanswered.add({ machine, name, at: this.#world.now })
      const done = this.#world.random() < 0.5
      // A letter that is late would overtake the next one of its sender.
      const late = done && name !== 'post' ? this.#upTo(2 * this.#patience) : 0
      return this.#strike(call, { ...fate, there: fate.there + late, fault: done ? 'unanswered' : 'swallowed' })
    }
    // After retention has dropped its task, a submission that comes again is another task, and a commit finds none to be of.
    const isOfTasks = call.name === 'submit' || call.name === 'commit'
    const kept = isOfTasks ? Math.min(...Object.values(retention)) / 2 : Infinity
    if (kind !== 'slow')
      return this.#strike(call, { ...fate, fault: kind, again: this.#upTo(Math.floor(Math.min(lease, kept))) })
    this.count('slow')
    const late = this.#upTo(3 * lease)
    this.#world.note(`${call.machine.name} ${call.name} is slow by ${late} ms`)
    return this.#world.random() < 0.5 ? { ...fate, there: fate.there + late } : { ...fate, back: fate.back + late }
  }

  #strike(call: LinkCall, fate: CallInterference): CallInterference {
    this.count(fate.fault ?? '')
    this.#world.note(`${call.machine.name} ${call.name} #${call.index} meets ${fate.fault}`)
    return fate
  }

  /** How long a call from a machine that is cut off waits for nothing. */
  #dark({ machine }: LinkCall): number {
    return Math.max(0, (this.cut.get(machine.name) ?? 0) - this.#world.now)
  }

  #upTo(most: number): number {
    return most === 0 ? 0 : this.#world.below(most + 1)
  }
}

/**
 * What the port does not let adapters send again: an event would arrive twice, a claim's first answer would be lost, and so would that of an
 * end by force, whose caller would hear that another had ended the task.
 */
function possible(kind: CallFault, { name, machine, args }: LinkCall): boolean {
  if (kind === 'unanswered') return name !== 'transact'
  if (kind === 'twice' && name === 'commit') return (args[0] as Transition[]).every(({ events }) => events !== null)
  if (kind === 'twice') return !['post', 'claim', 'terminate'].includes(name)
  if (kind === 'crash-before' || kind === 'crash-after') return machine.name.startsWith('node')
  return true
}
