import { seededRandom } from '../../packages/triarch/src/environment/random.ts'
import type { Order } from '../../packages/triarch/test/crash/workload.ts'
import type { Part } from './blueprint.ts'
import { type Chance, chanceOf } from './chance.ts'
import { type FeatureName, featured } from './feature.ts'
import {
  commonFaults,
  type Hurt,
  hurtKinds,
  type Move,
  moves,
  type NodePlan,
  type Plan,
  type TaskPlan,
} from './plan.ts'
import type { Op, ShopAction } from './program.ts'
import type { Visit } from './yard.ts'

/** How long faults go on (ms). */
const CHAOS = 4_000

/**
 * What a seed stands for. Each seed first draws which kinds of faults it has at all, and how often (swarm testing, Groce
 * et al. 2012): runs with few kinds reach what runs with all of them never would. `only`: in worlds with this feature.
 */
export function swarm(seed: number, only?: FeatureName): Plan {
  const chance = chanceOf(seededRandom(seed))
  const nodes = nodesOf(chance)
  const tasks = Array.from({ length: 1 + chance.below(5) }, (_, index) => taskOf(chance, index))
  const gates = chanceOf(seededRandom(~seed))
  if (gates.yes(0.3)) for (const [index, task] of tasks.entries()) gate(gates, tasks, index, task)
  const skewed = chance.yes(0.2)
  const plan: Plan = {
    seed,
    nodes: nodes.map((roles) => ({ roles, skew: skewed ? chance.between(-3_600_000, 3_600_000) : 0 })),
    settings: {
      lease: chance.between(600, 2_000),
      sweep: chance.between(100, 400),
      poll: chance.pick([20, 50, 100, 250]),
      tasks: chance.yes(0.2) ? chance.between(1, 3) : 1_000,
      tellsChanges: chance.yes(0.7),
      distance: chance.pick([0, 0, 1, 5, 40]),
    },
    tasks,
    moves: chance.yes(0.5) ? chance.some(6, () => moveOf(chance, tasks.length)) : [],
    chaos: CHAOS,
    hurts: chance.yes(0.7) ? hurtsOf(chance, nodes.length, skewed) : [],
    calls: chance.yes(0.8) ? callsOf(chance) : {},
    strike: null,
  }
  return featured(plan, (own) => opsOf(own, 1, true), only)
}

function nodesOf(chance: Chance): NodePlan['roles'][] {
  const all: NodePlan['roles'] = ['scheduler', 'agent', 'supervisor']
  if (chance.yes(0.6)) return Array.from({ length: 1 + chance.below(3) }, () => all)
  const apart: NodePlan['roles'][] = [['scheduler'], ['agent'], ['supervisor']]
  return chance.yes(0.5) ? [...apart, ...apart] : [['scheduler', 'supervisor'], ['agent'], all]
}

/** A machine may crash, stand still, be cut off, restart; each kind is there or not in the whole run. */
function hurtsOf(chance: Chance, nodes: number, skewed: boolean): Hurt[] {
  const kinds = hurtKinds.filter((kind) => chance.yes(0.4) && (kind !== 'jump' || skewed))
  if (kinds.length === 0) return []
  return chance.some(6, () => {
    const kind = chance.pick(kinds)
    const ms = kind === 'jump' ? chance.between(-600_000, 600_000) : chance.between(50, chance.yes(0.5) ? 800 : 3_000)
    return { at: chance.below(CHAOS), kind, node: chance.below(nodes), ms }
  })
}

function callsOf(chance: Chance): Plan['calls'] {
  const often = chance.pick([0.01, 0.03, 0.1])
  return Object.fromEntries(commonFaults.filter(() => chance.yes(0.35)).map((kind) => [kind, rate(kind, often)]))
}

function rate(kind: string, often: number): number {
  return kind.startsWith('crash') ? often / 5 : often
}

function moveOf(chance: Chance, tasks: number): Move {
  return { at: chance.below(CHAOS), kind: chance.pick(moves), task: chance.below(tasks) }
}

function taskOf(chance: Chance, index: number): TaskPlan {
  const at = chance.below(1_500)
  const parts = chance.yes(0.35) && partsOf(chance)
  const ops = parts ? [] : opsOf(chance, 3)
  return {
    id: `t${index}`,
    at,
    ops: !parts && chance.yes(0.15) ? [...ops, { do: 'fail' }] : ops,
    ...(parts && { parts }),
    ...(chance.yes(0.1) && { startAt: chance.below(1_500) }),
    ...(chance.yes(0.05) && { startBefore: chance.below(1_500) }),
    ...(chance.yes(0.1) && { completeBy: chance.below(4_000) }),
    ...(chance.yes(0.1) && { twice: true }),
  }
}

const actions: readonly ShopAction[] = [
  'reserve',
  'reserve',
  'charge',
  'charge',
  'ship',
  'tell',
  'mail',
  'refuse',
  'travel',
]

/** `depth`: how deep operations may lie in each other. `child`: events go to the tasks of the plan only. */
function opsOf(chance: Chance, depth: number, child = false): Op[] {
  return chance.some(4, () => opOf(chance, depth, child))
}

function opOf(chance: Chance, depth: number, child: boolean): Op {
  const of = () => Array.from({ length: 2 + chance.below(2) }, () => opsOf(chance, depth - 1, child))
  const kind = chance.below(depth > 0 ? 24 : 16)
  if (kind < 9) {
    const rescue = chance.yes(0.2) && { rescue: chance.pick(['skip', 'pause', 'fail', 'compensate'] as const) }
    const expires = chance.yes(0.05) && { stepWithin: chance.between(1, 600) }
    return { do: 'step', action: chance.pick(actions), order: orderOf(chance), ...rescue, ...expires }
  }
  if (kind < 10) return { do: 'dock', order: visitOf(chance) }
  if (kind < 11) return { do: 'local', order: { ...orderOf(chance), permanent: false } }
  if (kind < 12) return { do: 'sleep', ms: chance.yes(0.1) ? chance.between(5_000, 8_000) : chance.below(300) }
  if (kind < 14) return { do: 'event', ...((child || chance.yes(0.5)) && { timeout: chance.between(1, 400) }) }
  if (kind < 15) return chance.pick<Op>([{ do: 'undo' }, { do: 'progress' }, { do: 'patched' }])
  if (kind < 16) return chance.yes(0.3) ? { do: 'fail' } : { do: 'undo' }
  if (kind < 18) {
    return {
      do: kind === 16 ? 'call' : chance.pick(['call', 'start'] as const),
      ...(chance.yes(0.3) ? { ops: [], parts: partsOf(chance) } : { ops: opsOf(chance, depth - 1, true) }),
      undo: chance.yes(0.7),
      onCancel: chance.pick(['cancel', 'cancel', 'detach', 'wait'] as const),
    }
  }
  if (kind < 21) return { do: chance.pick(['all', 'settled', 'race'] as const), of: of() }
  if (kind < 22) return { do: 'either', of: of() }
  if (kind < 23) return { do: 'try', ops: opsOf(chance, depth - 1, child) }
  return depth === 3 ? { do: 'anew' } : { do: 'progress' }
}

/** Up to a dozen steps, side by side, in a row, or behind what they refer to. */
function partsOf(chance: Chance): Part[] {
  let steps = 0
  const some = (depth: number): Part[] =>
    chance.some(4, () => {
      if (depth > 0 && chance.yes(0.3))
        return { do: chance.pick(['sequence', 'concurrence'] as const), of: some(depth - 1) }
      const before = steps++
      const numbers = () => (before === 0 ? [] : chance.some(2, () => chance.below(before)))
      const action = chance.pick([...actions, 'dock', 'build', 'build'] as const)
      return {
        do: 'step',
        action,
        order: action === 'dock' ? visitOf(chance) : orderOf(chance),
        ...(chance.yes(0.5) && { refers: numbers() }),
        ...(chance.yes(0.2) && { follows: numbers() }),
        ...(chance.yes(0.3) && { rescue: chance.pick(['skip', 'pause', 'fail', 'compensate'] as const) }),
      }
    })
  return some(2)
}

/** A task that another comes after: it must succeed, or merely end. */
function followed(task: string, merely: boolean): string | { task: string; on: 'end' } {
  return merely ? { task, on: 'end' } : task
}

/** Some seeds also have tasks that exclude each other, come after each other, hold locks, run batches. */
function gate(chance: Chance, tasks: readonly TaskPlan[], index: number, task: TaskPlan): void {
  const name = () => chance.pick(['dock', 'crane'] as const)
  if (chance.yes(0.3)) task.exclusive = { key: name(), ifHeld: chance.pick(['queue', 'queue', 'replace'] as const) }
  if (index > 0 && chance.yes(0.3))
    task.after = [followed((chance.pick(tasks.slice(0, index)) as TaskPlan).id, chance.yes(0.5))]
  if (task.parts) return
  if (chance.yes(0.4)) task.ops = [{ do: 'lock', name: name(), ops: task.ops.filter((op) => op.do !== 'anew') }]
  if (chance.yes(0.2))
    task.ops = [...task.ops, { do: 'batch', items: 1 + chance.below(5), ops: opsOf(chance, 1, true) }]
}

function visitOf(chance: Chance): Visit {
  return {
    ...orderOf(chance),
    ...(chance.yes(0.4) && { waits: chance.between(1, 500) }),
    ...(chance.yes(0.3) && { rings: chance.between(1, 300) }),
    ...(chance.yes(0.3) && { wary: true }),
  }
}

function orderOf(chance: Chance): Order {
  return {
    ...(chance.yes(0.2) && { fails: 1 + chance.below(2) }),
    ...(chance.yes(0.4) && { slow: chance.below(150) }),
    ...(chance.yes(0.1) && { hangs: 1 }),
    ...(chance.yes(0.07) && { permanent: true }),
    ...(chance.yes(0.3) && { undoFails: 1 + chance.below(2) }),
  }
}
