import type { Part } from './blueprint.ts'
import { oracleOf } from './oracle.ts'
import type { Plan } from './plan.ts'
import type { Op } from './program.ts'
import { run } from './run.ts'

const roles = ['scheduler', 'agent', 'supervisor'] as const

/** Runs spent on making one failure small, and how long that may take (ms): those that never come to rest are slow. */
const MOST_RUNS = 400
const LONGEST = 20_000

/** Whether the plan breaks a rule of this oracle. */
export const breaks =
  (oracle: string) =>
  async (plan: Plan): Promise<boolean> =>
    (await run(plan)).violations.some((violation) => oracleOf(violation) === oracle)

/**
 * The smallest plan found that still fails: parts are left out, one after the other, while it does. `clock`: of the time that
 * is spent on it (ms).
 */
export async function shrink(
  plan: Plan,
  fails: (plan: Plan) => Promise<boolean>,
  clock: () => number = () => performance.now(),
): Promise<Plan> {
  let best = plan
  let left = MOST_RUNS
  const until = clock() + LONGEST
  for (let smaller = true; smaller && left > 0; ) {
    smaller = false
    for (const candidate of smallerPlans(best)) {
      if (left-- <= 0 || clock() >= until) return best
      if (!(await fails(candidate))) continue
      best = candidate
      smaller = true
      break
    }
  }
  return best
}

/** Of a plan: there or not. */
const whole = ['loss', 'throttle', 'respite', 'crowd', 'pools', 'entrance', 'ageing', 'line', 'adaptive'] as const

/** Boldest first. */
function* smallerPlans(plan: Plan): Generator<Plan> {
  if (plan.moves.length > 0) yield { ...plan, moves: [] }
  if (plan.hurts.length > 0) yield { ...plan, hurts: [] }
  if (Object.keys(plan.calls).length > 0) yield { ...plan, calls: {} }
  if (plan.schedules?.length) yield { ...plan, schedules: plan.schedules.slice(1) }
  for (const name of whole) {
    if (!plan[name]) continue
    const { [name]: _, ...rest } = plan
    yield rest
  }
  if (plan.leaps?.length) yield { ...plan, leaps: plan.leaps.slice(1) }
  if (plan.reign) {
    const { reign: _, ...rest } = plan
    yield rest
    if (plan.reign.names.length > 1) yield { ...plan, reign: { ...plan.reign, names: plan.reign.names.slice(1) } }
  }
  if (plan.dial) {
    const { dial: _, ...rest } = plan
    yield rest
    if (plan.dial.words.length > 0) yield { ...plan, dial: { ...plan.dial, words: plan.dial.words.slice(1) } }
    if (plan.dial.pauses.length > 0) yield { ...plan, dial: { ...plan.dial, pauses: plan.dial.pauses.slice(1) } }
    const { paces = [] } = plan.dial
    if (paces.length > 0) yield { ...plan, dial: { ...plan.dial, paces: paces.slice(1) } }
  }
  if (plan.tuning) {
    const { tuning, ...rest } = plan
    yield rest
    for (const index of tuning.words.keys())
      yield { ...plan, tuning: { ...tuning, words: tuning.words.toSpliced(index, 1) } }
  }
  if (plan.cache) {
    const { cache, ...rest } = plan
    yield rest
    for (const index of cache.words.keys())
      yield { ...plan, cache: { ...cache, words: cache.words.toSpliced(index, 1) } }
    if (cache.other) yield { ...plan, cache: { ...cache, other: { throws: 0, hangs: 0, forgets: 0 } } }
  }
  if (plan.wire) {
    const { wire, ...rest } = plan
    yield rest
    if (wire.processes > 1) yield { ...plan, wire: { ...wire, processes: 1 } }
    if (wire.sockets?.includes(true)) yield { ...plan, wire: { ...wire, sockets: [] } }
    for (const kind of Object.keys(wire.share) as (keyof typeof wire.share)[])
      if (wire.share[kind] > 0) yield { ...plan, wire: { ...wire, share: { ...wire.share, [kind]: 0 } } }
    for (const index of wire.hurts.keys()) yield { ...plan, wire: { ...wire, hurts: wire.hurts.toSpliced(index, 1) } }
  }
  if (plan.direct) {
    const { direct, ...rest } = plan
    yield rest
    for (const kind of Object.keys(direct.share) as (keyof typeof direct.share)[])
      if (direct.share[kind] > 0) yield { ...plan, direct: { ...direct, share: { ...direct.share, [kind]: 0 } } }
    for (const index of direct.hurts.keys())
      yield { ...plan, direct: { ...direct, hurts: direct.hurts.toSpliced(index, 1) } }
  }
  if (plan.throttle) {
    const { charges: _, rests: __, ...throttle } = plan.throttle
    if (plan.throttle.charges || plan.throttle.rests) yield { ...plan, throttle }
  }
  if (plan.outage) {
    const { outage: _, ...rest } = plan
    yield rest
    if (plan.outage.words.length > 0) yield { ...plan, outage: { ...plan.outage, words: [] } }
  }
  if (plan.tenancy) {
    const { tenancy: _, ...rest } = plan
    yield rest
  }
  if (plan.poison?.length) yield { ...plan, poison: plan.poison.slice(1) }
  for (const index of plan.tasks.keys()) if (plan.tasks.length > 1) yield without(plan, index)
  for (const kind of Object.keys(plan.calls)) {
    yield { ...plan, calls: Object.fromEntries(Object.entries(plan.calls).filter(([name]) => name !== kind)) }
  }
  for (const index of plan.hurts.keys()) yield { ...plan, hurts: plan.hurts.toSpliced(index, 1) }
  for (const index of plan.moves.keys()) yield { ...plan, moves: plan.moves.toSpliced(index, 1) }
  for (const index of plan.nodes.keys()) {
    const nodes = plan.nodes.toSpliced(index, 1)
    // What is left must still be able to do the work.
    if (roles.every((role) => nodes.some((node) => node.roles.includes(role)))) yield { ...plan, nodes }
  }
  if (plan.nodes.some(({ skew }) => skew !== 0))
    yield { ...plan, nodes: plan.nodes.map((node) => ({ ...node, skew: 0 })) }
  if (plan.settings.distance > 0) yield { ...plan, settings: { ...plan.settings, distance: 0 } }
  for (const [index, task] of plan.tasks.entries()) {
    for (const parts of task.parts ? smallerParts(task.parts) : [])
      yield { ...plan, tasks: plan.tasks.with(index, { ...task, parts }) }
    for (const ops of smallerOps(task.ops)) yield { ...plan, tasks: plan.tasks.with(index, { ...task, ops }) }
  }
}

/** Without the task, and the moves that were for it. */
function without(plan: Plan, index: number): Plan {
  const moves = plan.moves
    .filter(({ task }) => task !== index)
    .map((move) => ({ ...move, task: move.task > index ? move.task - 1 : move.task }))
  return { ...plan, tasks: plan.tasks.toSpliced(index, 1), moves }
}

/** A step that is left out changes what the numbers behind it mean; so it is emptied instead, unless it is the last. */
function* smallerParts(parts: readonly Part[]): Generator<Part[]> {
  if (parts.length > 1) yield parts.slice(0, -1)
  for (const [index, part] of parts.entries()) {
    if (part.do !== 'step') {
      yield parts.toSpliced(index, 1, ...part.of)
      for (const of of smallerParts(part.of)) yield parts.with(index, { ...part, of })
    } else if (part.order && Object.keys(part.order).length > 0) {
      const { order: _, ...rest } = part
      yield parts.with(index, rest)
    } else if (part.refers || part.follows) {
      const { refers: _, follows: __, ...rest } = part
      yield parts.with(index, rest)
    }
  }
}

function* smallerOps(ops: readonly Op[]): Generator<Op[]> {
  for (const [index, op] of ops.entries()) {
    if (ops.length > 1) yield ops.toSpliced(index, 1)
    const parts = 'of' in op ? op.of : 'ops' in op ? [op.ops] : []
    for (const part of parts) yield ops.toSpliced(index, 1, ...part)
    if ('ops' in op) for (const inner of smallerOps(op.ops)) yield ops.with(index, { ...op, ops: inner })
    if ('of' in op) {
      for (const [place, part] of op.of.entries()) {
        for (const inner of smallerOps(part)) yield ops.with(index, { ...op, of: op.of.with(place, inner) })
      }
    }
    if ('order' in op && op.order && Object.keys(op.order).length > 0) yield ops.with(index, { ...op, order: {} })
  }
}
