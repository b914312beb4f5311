import { hash32, seededRandom } from '../../packages/triarch/src/environment/random.ts'
import { AFTERWARDS } from './adaptive.ts'
import { type Chance, chanceOf } from './chance.ts'
import { keyOf } from './outage.ts'
import type { Bounds, NodePlan, Plan, SchedulePlan, TaskPlan, Version } from './plan.ts'
import type { Op } from './program.ts'
import { QUIET } from './tenancy.ts'
import type { TunedPolicy } from './tuning.ts'

/** Adds something to the plan, in the places that chance picks. */
type Feature = (chance: Chance, plan: Plan, opsOf: (chance: Chance) => Op[]) => void

const schedules: Feature = (chance, plan, opsOf) => {
  plan.schedules = chance
    .some(2, () => scheduleOf(chance, opsOf))
    .map((schedule, index) => ({ ...schedule, name: `s${index}` }))
}

const retention: Feature = (chance, { settings, tasks, moves, chaos }) => {
  const results = (['success', 'warning', 'error', 'cancelled', 'compensated'] as const).filter(() => chance.yes(0.7))
  settings.retention = Object.fromEntries(results.map((result) => [result, chance.between(300, 3_000)]))
  for (const [place, task] of tasks.entries()) {
    if (chance.yes(0.5)) task.again = true
    // Children that outlive their parents, and words about what stopped long ago.
    const child = { do: 'start', ops: [{ do: 'sleep', ms: chance.between(500, 4_000) }], onCancel: 'detach' } as const
    if (!task.parts && chance.yes(0.5)) task.ops.unshift({ ...child, ops: [...child.ops] })
    if (chance.yes(0.5))
      moves.push({ at: chance.between(1_000, chaos), kind: chance.pick(['retry', 'compensate'] as const), task: place })
  }
}

const poison: Feature = (chance, plan) => {
  const poisoned = plan.tasks.filter(() => chance.yes(0.4))
  plan.poison = poisoned.map(({ id }, place) => {
    // While it refuses all of several, it may be the store: that is given ten minutes.
    const kind = place === 0 ? chance.pick(['refused', 'unreadable'] as const) : 'unreadable'
    return { task: id, kind, at: chance.below(plan.chaos) }
  })
  // What cannot be read cannot be compared.
  for (const task of poisoned) {
    delete task.twice
    delete task.again
  }
}

const transactions: Feature = (chance, { tasks }) => {
  const make = (): Op => ({
    do: 'transaction',
    ...(chance.yes(0.4) && { slow: chance.between(1, 150) }),
    ...(chance.yes(0.2) && { fails: 1 + chance.below(2) }),
    ...(chance.yes(0.6) && { undo: true }),
  })
  for (const task of tasks) enter(chance, task, make)
}

const callbacks: Feature = (chance, { settings, tasks }) => {
  settings.throws = true
  for (const task of tasks) if (chance.yes(0.5)) enter(chance, task, () => ({ do: 'picky' }))
}

const clocks: Feature = (chance, plan) => {
  if (plan.schedules || plan.settings.retention) return
  plan.leaps = chance.some(3, () => ({ at: chance.below(plan.chaos), ms: chance.between(500, 300_000) }))
  plan.calls = {}
  plan.hurts = chance.some(4, () => {
    const [at, node] = [chance.below(plan.chaos), chance.below(plan.nodes.length)]
    return { at, kind: 'jump' as const, node, ms: chance.between(-600_000, 600_000) }
  })
}

const loss: Feature = (chance, plan) => {
  if (plan.schedules || plan.settings.retention || plan.leaps || plan.poison) return
  const at = chance.between(1_000, plan.chaos - 1)
  plan.loss = { at, last: chance.between(10, Math.min(at, 1_500)) }
}

const silence: Feature = (chance, plan) => {
  if (plan.leaps || plan.loss) return
  // Whoever gives up an answer that is to come is wrong: none takes that long.
  const { slow: _, twice: __, ...calls } = plan.calls
  plan.settings.patience = chance.between(300, 2_000)
  plan.calls = { ...calls, unanswered: chance.pick([0.003, 0.01, 0.03]) }
  plan.hurts = plan.hurts.filter(({ kind }) => kind !== 'cut')
}

/** All nodes have the same, or each its own, as while they are changed. */
const bounds: Feature = (chance, { nodes }) => {
  const draw = (): Bounds => {
    const historyBytes = chance.between(800, 8_000)
    return {
      history: chance.between(5, 40),
      historyBytes,
      inbox: chance.between(1, 6),
      inboxBytes: chance.between(60, 600),
      fanOut: chance.between(1, 5),
      memory: historyBytes * chance.between(1, 6),
    }
  }
  const all = chance.yes(0.6) && draw()
  for (const node of nodes) node.limits = all || draw()
}

/** Nodes come to know another version one after the other, or go back behind it; one that knows it is there in the end. */
const versions: Feature = (chance, plan) => {
  const { nodes, tasks, chaos } = plan
  const keeper = nodes.findIndex(({ roles }) => roles.includes('scheduler'))
  const back = nodes.length > 1 && chance.yes(0.5)
  const [before, after]: Version[][] = back ? [['1', '2'], ['1']] : [['1'], ['1', '2']]
  plan.rollout = []
  for (const [node, it] of nodes.entries()) {
    it.versions = before ?? []
    if (node === keeper ? !back : chance.yes(0.7))
      plan.rollout.push({ at: chance.below(chaos), node, versions: after ?? [] })
  }
  for (const task of tasks) if (!task.parts && chance.yes(0.6)) task.version = '2'
}

const strict: Feature = (chance, { settings, tasks }) => {
  settings.strict = chance.pick(['nodes', 'all'] as const)
  const make = (): Op => ({ do: 'weigh', ...(chance.yes(0.6) && { unfit: chance.pick(['input', 'output'] as const) }) })
  for (const task of tasks) {
    if (chance.yes(0.5)) enter(chance, task, make)
    if (chance.yes(0.4)) enter(chance, task, () => ({ do: 'event', timeout: chance.between(200, 900) }))
  }
}

/** Services are ill for a while, and what calls them is much. */
const outage: Feature = (chance, plan) => {
  const { tasks, chaos } = plan
  const open = chance.between(100, 800)
  plan.outage = {
    ills: chance.some(3, () => ({ at: chance.below(chaos), ms: chance.between(100, 2_500) })),
    rule: {
      failureRate: chance.pick([0.3, 0.5, 0.9]),
      window: chance.between(500, 4_000),
      minimum: chance.between(1, 6),
      ...{ open, openMax: open * chance.between(1, 4) },
      probes: chance.between(1, 3),
      ...(chance.yes(0.2) && { whenOpen: 'fail' as const }),
      ...(chance.yes(0.4) && { keyed: true }),
    },
    words: chance.yes(0.4)
      ? chance.some(4, () => ({
          at: chance.below(chaos),
          agent: chance.pick(['shop', 'yard'] as const),
          word: chance.pick(['open', 'open', 'close', 'reset'] as const),
          ms: chance.between(100, 2_000),
        }))
      : [],
  }
  const { keyed } = plan.outage.rule
  if (keyed) for (const ill of plan.outage.ills) if (chance.yes(0.5)) ill.key = keyOf({ where: chance.below(2) })
  const call = (): Op[] => [callOf(chance, keyed)]
  for (const task of tasks)
    enter(chance, task, () => ({ do: 'settled', of: Array.from({ length: chance.between(2, 8) }, call) }))
  if (chance.yes(0.3)) plan.outage.rule.fallback = true
}

/** Limits may be by keys: a breaker beside them is, too. */
function isKeyed({ outage }: Plan): boolean {
  return outage === undefined || outage.rule.keyed === true
}

/** One call of the shop; `keyed`: of one key or another. */
function callOf(chance: Chance, keyed = false): Op {
  const action = chance.pick(['reserve', 'charge', 'ship'] as const)
  return { do: 'step', action, order: keyed ? { where: chance.below(2) } : {} }
}

/** Few attempts may begin in a time, and there are many. */
const throttle: Feature = (chance, plan) => {
  const limit = chance.between(5, 40)
  // Nodes need a tenth of a second to agree, and more where calls take long: what is taken has asked twice by then.
  const least = 0.1 + (8 * plan.settings.distance) / 1_000
  const burstOf = (of: number, share: number) => Math.max(1, Math.ceil(of * Math.min(1, Math.max(least, share))))
  const burst = burstOf(limit, chance.pick([0.1, 0.2, 0.5]))
  plan.throttle = {
    ...{ limit, per: 1_000, burst },
    ...(chance.yes(0.4) && { rests: { each: chance.between(10, 40), ms: chance.between(100, 3_000) } }),
  }
  if (isKeyed(plan) && chance.yes(0.4)) plan.throttle.keyed = true
  if (chance.yes(0.5)) {
    const own = chance.between(3, limit)
    plan.throttle.charges = { limit: own, burst: burstOf(own, chance.pick([0.1, 0.3])) }
  }
  const { keyed } = plan.throttle
  const call = (): Op[] => [callOf(chance, keyed)]
  for (const task of plan.tasks)
    enter(chance, task, () => ({ do: 'settled', of: Array.from({ length: chance.between(4, 10) }, call) }))
}

/** What services rest, and how long the slowest rate takes, in all, if each call is made once (ms). */
const ALL_RESTS = 60_000
const ALL_CALLS = 60_000
/** So long schedules go on, at most (ms). */
const SCHEDULED = 14_000

/** Services without a rate limit ask to be left alone, and much waits for them on several nodes. */
const respite: Feature = (chance, plan) => {
  // What the store forgets; what else says when attempts begin, or for whom a service rests; whose agents are elsewhere; what is too much
  // for so slow a service; and processes that are other nodes all at once.
  const { crowd, loss, leaps, outage, throttle, tenancy, wire, adaptive, poison } = plan
  if (loss || leaps || outage || throttle || tenancy || wire || adaptive || poison || crowd?.keyed) return
  plan.respite = { each: chance.between(8, 30), ms: chance.between(500, 3_000) }
  if (plan.nodes.length === 1) plan.nodes.push({ roles: ['scheduler', 'agent', 'supervisor'], skew: 0 })
  const call = (): Op[] => [callOf(chance)]
  for (const task of plan.tasks)
    enter(chance, task, () => ({ do: 'settled', of: Array.from({ length: chance.between(4, 10) }, call) }))
  // All rests together are over long before what waits must be.
  plan.respite.each = Math.max(plan.respite.each, Math.ceil((allStepsOf(plan) * plan.respite.ms) / ALL_RESTS))
}

/** An operator gives agents rate limits, bounds and breakers, other ones, and takes them away, while much waits for them; also when all is well again. */
const tuning: Feature = (chance, plan) => {
  // What else says when attempts begin or how many run, or sets what this one sets; what is forgotten; whose agents are elsewhere.
  const { outage, throttle, crowd, line, dial, adaptive, pools, tenancy, respite, wire, loss, leaps, poison } = plan
  if (outage || throttle || crowd || line || dial || adaptive || pools || tenancy) return
  if (respite || wire || loss || leaps || poison) return
  const { tasks, chaos, settings } = plan
  const until = 2 * chaos
  const policy = (): TunedPolicy => {
    const limit = chance.between(5, 40)
    // As in a throttle: nodes need their time to agree.
    const least = Math.max(0.1 + (8 * settings.distance) / 1_000, chance.pick([0.1, 0.2, 0.5]))
    const rateLimit = { limit, per: 1_000, burst: Math.ceil(limit * Math.min(1, least)) }
    const open = chance.between(100, 800)
    const circuitBreaker = {
      failureRate: chance.pick([0.3, 0.5, 0.9]),
      window: chance.between(500, 4_000),
      minimum: chance.between(1, 6),
      ...{ open, openMax: open * chance.between(1, 4) },
      probes: chance.between(1, 3),
    }
    const concurrency = { shared: chance.between(1, 4) }
    return {
      ...(chance.yes(0.6) && { rateLimit }),
      ...(chance.yes(0.6) && { concurrency }),
      ...(chance.yes(0.5) && { circuitBreaker }),
    }
  }
  plan.tuning = {
    coded: chance.yes(0.5) ? policy() : {},
    ills: chance.some(3, () => ({ at: chance.below(until), ms: chance.between(100, 2_500) })),
    opens: chance.some(3, () => ({
      at: chance.below(until),
      agent: 'shop' as const,
      ms: chance.between(1_000, 4_000),
    })),
    words: Array.from({ length: chance.between(2, 6) }, () => ({
      at: chance.below(until),
      agent: chance.yes(0.8) ? ('shop' as const) : ('yard' as const),
      policy: chance.yes(0.75) ? policy() : null,
    })),
  }
  const call = (): Op[] => [callOf(chance)]
  const burst = (): Op => ({ do: 'settled', of: Array.from({ length: chance.between(4, 12) }, call) })
  for (const task of tasks) enter(chance, task, burst)
  for (const place of Array.from({ length: 12 }).keys())
    tasks.push({ id: `busy ${place}`, at: chance.below(until), ops: [burst(), burst()] })
  // All has begun long before it must be done, whatever is live in the end.
  const { coded, words } = plan.tuning
  const slowest = Math.ceil((allStepsOf(plan) * 1_000) / ALL_CALLS)
  for (const rule of [coded, ...words.map((word) => word.policy)].flatMap((it) => it?.rateLimit ?? [])) {
    const limit = Math.max(rule.limit, slowest)
    rule.burst = Math.ceil((rule.burst * limit) / rule.limit)
    rule.limit = limit
  }
}

/** Few attempts may run over all nodes, and there are many. */
const crowd: Feature = (chance, plan) => {
  const shared = chance.between(1, 4)
  plan.crowd = { shared, ...(shared > 1 && chance.yes(0.5) && { charges: chance.between(1, shared - 1) }) }
  const call = (): Op[] => [{ do: 'step', action: chance.pick(['reserve', 'charge', 'ship'] as const), order: {} }]
  for (const task of plan.tasks)
    enter(chance, task, () => ({ do: 'settled', of: Array.from({ length: chance.between(4, 10) }, call) }))
  if (isKeyed(plan) && chance.yes(0.4)) plan.crowd.keyed = true
}

/** Much waits for few slots, of several tenants or of several priorities. */
const line: Feature = (chance, plan) => {
  // What the store forgets, and how old something is where clocks leap, nobody can say.
  if (plan.loss || plan.leaps || plan.outage || plan.throttle) return
  const fair = chance.yes(0.6)
  const order = fair ? { tenants: chance.between(2, 3) } : { ageing: chance.between(1_000, 3_000), slack: 1_500 }
  plan.line = { concurrency: chance.between(1, 2), ...order }
  for (const task of plan.tasks) if (!fair || chance.yes(0.1)) task.priority = chance.below(3)
  for (const node of plan.nodes)
    if (node.roles.includes('scheduler') && !node.roles.includes('agent')) node.roles.push('agent')
  const call = (): Op[] => [{ do: 'step', action: chance.pick(['reserve', 'charge', 'ship'] as const), order: {} }]
  const burst = (): Op => ({ do: 'settled', of: Array.from({ length: chance.between(8, 20) }, call) })
  const at = chance.below(plan.chaos / 2)
  // All of one tenant, and the others among them.
  for (const [place, id] of ['loud 1', 'loud 2', 'loud 3', 'loud 4'].entries())
    plan.tasks.push({
      id,
      at: fair ? at : at + place * 700,
      ops: [burst(), burst()],
      ...(!fair && { priority: 2 - (place % 3) }),
    })
  for (const task of plan.tasks) enter(chance, task, () => call()[0] as Op)
}

/** Processes want to lead, and go on for a while when they are told to end. */
const reign: Feature = (chance, plan) => {
  plan.reign = {
    names: chance.pick([['x'], ['x', 'supervisor']]),
    lasts: chance.yes(0.4) ? chance.between(100, 3_000) : null,
    lingers: chance.yes(0.5) ? chance.between(1, 4_000) : 0,
  }
}

/** An operator turns settings, pauses agents, and changes how long leases are and how often is swept. */
const dial: Feature = (chance, plan) => {
  const { chaos } = plan
  plan.dial = {
    words: Array.from({ length: chance.between(1, 6) }, (_, n) => ({
      at: chance.below(chaos),
      n: n + 1,
      share: chance.yes(0.6) ? chance.pick([0.1, 0.5, 0.9]) : null,
    })),
    pauses: chance.yes(0.7)
      ? Array.from({ length: chance.between(1, 3) }, () => ({
          at: chance.below(chaos),
          ms: chance.between(100, 2_000),
          agent: chance.pick(['shop', 'yard'] as const),
        }))
      : [],
    paces: chance.some(3, () => ({
      at: chance.below(chaos),
      ms: chance.between(100, 4_000),
      lease: chance.between(3_000, 6_000),
      sweep: chance.between(100, 1_000),
    })),
  }
}

/** Services are overloaded for a while, and each process finds out how much they bear. */
const adaptive: Feature = (chance, plan) => {
  // What bounds the same attempts, or keeps them from beginning.
  if (plan.outage || plan.throttle || plan.crowd || plan.line || plan.dial || plan.leaps || plan.loss) return
  const { tasks, nodes, chaos } = plan
  const least = chance.between(1, 4)
  plan.adaptive = {
    least,
    most: least + chance.between(1, 16),
    takes: chance.between(4, 30),
    ills: chance.some(2, () => ({
      at: chance.below(chaos - 500),
      ms: chance.between(500, 2_500),
      fails: chance.yes(0.7),
    })),
    after: 100 * nodes.length,
  }
  // None of them goes on when all is well again.
  for (const ill of plan.adaptive.ills) ill.ms = Math.min(ill.ms, chaos - ill.at)
  const call = (): Op[] => [{ do: 'step', action: chance.pick(['reserve', 'charge'] as const), order: {} }]
  const burst = (of: number): Op => ({ do: 'settled', of: Array.from({ length: of }, call) })
  for (const task of tasks) enter(chance, task, () => burst(chance.between(10, 30)))
  tasks.push({ id: AFTERWARDS, at: chaos + 300, ops: [burst(plan.adaptive.after)] })
}

/** Many ask the same of a service whose answers are kept, wherever, and now and then declared wrong. */
const cache: Feature = (chance, plan) => {
  // What the store forgets, and how old something is where clocks leap, nobody can say.
  if (plan.loss || plan.leaps) return
  const keys = chance.between(1, 3)
  const slow = chance.yes(0.3) ? chance.between(200, 800) : chance.between(5, 150)
  plan.cache = {
    ttl: chance.between(300, 4_000),
    stale: chance.yes(0.5) ? chance.between(100, 2_000) : 0,
    negative: chance.yes(0.4) ? chance.between(100, 2_000) : 0,
    scope: chance.yes(0.15) ? 'process' : 'shared',
    ...(chance.yes(0.3) && {
      other: {
        throws: chance.pick([0, 0.05, 0.5]),
        hangs: chance.pick([0, 0.05, 0.2]),
        forgets: chance.pick([0, 0.1, 1]),
      },
    }),
    ...{ slow, ills: chance.pick([0, 2, 5]), refusals: chance.pick([0, 0, 3, 7]) },
    words: chance.yes(0.8)
      ? Array.from({ length: chance.between(1, 5) }, () => ({
          at: chance.below(plan.chaos),
          by: chance.pick(['key', 'action', 'tag'] as const),
          key: chance.below(keys),
        }))
      : [],
  }
  const ask = (): Op => ({ do: 'ask', key: chance.below(keys) })
  const rest = (): Op => ({ do: 'sleep', ms: chance.between(20, 600) })
  for (const place of Array.from({ length: chance.between(2, 6) }).keys())
    plan.tasks.push({
      id: `curious ${place}`,
      at: chance.below(plan.chaos),
      ops: Array.from({ length: chance.between(2, 8) }, () => (chance.yes(0.3) ? rest() : ask())),
    })
  for (const task of plan.tasks) enter(chance, task, ask)
}

/** Slots are parted by priority, and much waits for both parts. */
const pools: Feature = (chance, plan) => {
  // What else says how many slots there are, or who is next.
  if (plan.line || plan.dial || plan.adaptive) return
  plan.pools = { high: chance.between(1, 2), rest: chance.between(1, 2) }
  const call = (): Op[] => [
    { do: 'step', action: chance.pick(['reserve', 'charge', 'ship'] as const), order: { slow: chance.below(100) } },
  ]
  for (const task of plan.tasks) {
    task.priority = chance.below(2)
    enter(chance, task, () => ({ do: 'settled', of: Array.from({ length: chance.between(3, 8) }, call) }))
  }
}

/** More is submitted at once than may wait. */
const entrance: Feature = (chance, plan) => {
  // What the store forgets, and what is written although nobody waited for the answer any more.
  if (plan.loss || plan.settings.patience !== undefined) return
  plan.entrance = { most: chance.between(1, 4), waits: chance.yes(0.5) }
  plan.settings.tasks = chance.between(1, 3)
  const at = chance.below(plan.chaos / 2)
  for (const place of Array.from({ length: chance.between(6, 20) }).keys())
    plan.tasks.push({
      id: `caller ${place}`,
      at: at + chance.below(300),
      ops: [{ do: 'step', action: 'charge', order: { slow: chance.below(150) } }],
    })
}

/** More tasks are ready than nodes have room for, some of them urgent, and they age while they wait. */
const ageing: Feature = (chance, plan) => {
  // What the store forgets, and whose calls somebody else watches.
  if (plan.loss || plan.leaps || plan.line) return
  plan.ageing = chance.between(1_000, 3_000)
  plan.settings.tasks = chance.between(1, 2)
  const at = chance.below(plan.chaos / 2)
  for (const task of plan.tasks) task.priority = chance.below(3)
  for (const place of Array.from({ length: chance.between(15, 40) }).keys())
    plan.tasks.push({
      id: `waiting ${place}`,
      at: at + chance.below(3_000),
      ops: [{ do: 'step', action: 'charge', order: { slow: chance.below(300) } }],
      priority: chance.below(3),
    })
}

/** Tenants of whom two are loud share few slots and few places, and their steps wait in several queues. */
const tenancy: Feature = (chance, plan) => {
  // What the store forgets, and what else orders queues, or bounds what is taken of them.
  if (
    plan.loss ||
    plan.leaps ||
    plan.line ||
    plan.outage ||
    plan.throttle ||
    plan.crowd ||
    plan.pools ||
    plan.ageing ||
    plan.entrance ||
    plan.adaptive
  )
    return
  const keys = chance.between(1, 24)
  const ill = { at: chance.below(plan.chaos / 2), ms: chance.between(200, 1_500) }
  plan.tenancy = {
    concurrency: chance.between(1, 2),
    gold: chance.pick([0.5, 1, 4]),
    by: chance.yes(0.6) ? 'bound' : { ill },
  }
  plan.settings.tasks = chance.between(2, 6)
  for (const node of plan.nodes)
    if (node.roles.includes('scheduler') && !node.roles.includes('agent')) node.roles.push('agent')
  const call = (from: number): Op[] => [
    {
      do: 'step',
      action: chance.pick(['reserve', 'charge', 'ship'] as const),
      order: { where: from + chance.below(keys), slow: chance.below(80) },
    },
  ]
  const at = chance.below(1_000)
  // Whose weights count have queues of their own: in one queue its own order gives what is before it.
  for (const [place, tenant] of ['loud', 'gold'].entries())
    for (let n = 0; n < 16; n++) {
      const burst = Array.from({ length: n === 0 ? 50 : chance.between(1, 3) }, () => call(place * keys))
      plan.tasks.push({ id: `${tenant} ${n}`, at: at + chance.below(300), ops: [{ do: 'settled', of: burst }] })
    }
  for (let n = 0; n < QUIET; n++) {
    const ops = [...call(chance.below(2) * keys), ...call(0)]
    plan.tasks.push({ id: `quiet ${n}`, at: chance.below(plan.chaos), ops })
  }
}

/** Agents are elsewhere, behind links that fail. */
const wire: Feature = (chance, plan) => {
  // What shapes the agents of nodes; and what was acknowledged and then forgotten.
  if (
    plan.outage ||
    plan.throttle ||
    plan.line ||
    plan.dial ||
    plan.crowd ||
    plan.pools ||
    plan.cache ||
    plan.tenancy ||
    plan.adaptive ||
    plan.settings.strict ||
    plan.loss ||
    plan.leaps
  )
    return
  const processes = chance.between(1, 3)
  const share = (of: number) => (chance.yes(0.5) ? chance.pick([0.01, 0.05, of]) : 0)
  plan.wire = {
    processes,
    share: { lost: share(0.2), twice: share(0.2), slow: share(0.2), halfOpen: share(0.5) },
    hurts: chance.yes(0.7)
      ? chance.some(5, () => ({
          at: chance.below(plan.chaos),
          process: chance.below(processes),
          kind: chance.pick(['crash', 'freeze', 'cut', 'leave'] as const),
          ms: chance.between(50, 3_000),
        }))
      : [],
    sockets: Array.from({ length: processes }, () => chance.yes(0.5)),
  }
}

/** Schedulers and agents are in different processes, which talk to each other. */
const direct: Feature = (chance, plan) => {
  // What was acknowledged and then forgotten; agents that are no nodes; and those whose steps age: who does not have them queues by priority alone.
  if (plan.wire || plan.loss || plan.leaps || plan.line?.ageing !== undefined) return
  const schedulers = chance.between(1, 2)
  const roles: NodePlan['roles'][] = [
    ...Array.from({ length: schedulers }, (): NodePlan['roles'] => ['scheduler', 'supervisor']),
    ...Array.from({ length: chance.between(1, 2) }, (): NodePlan['roles'] => ['agent']),
  ]
  plan.nodes = roles.map((own, place) => ({ ...(plan.nodes[place] ?? { skew: 0 }), roles: own }))
  const share = (of: number) => (chance.yes(0.5) ? chance.pick([0.01, 0.05, of]) : 0)
  plan.direct = {
    share: { lost: share(0.2), slow: share(0.2), halfOpen: share(0.5) },
    hurts: chance.yes(0.5)
      ? chance.some(5, () => ({
          at: chance.below(plan.chaos),
          node: chance.below(roles.length),
          kind: chance.pick(['deaf', 'mute', 'cut'] as const),
          ms: chance.between(50, 3_000),
        }))
      : [],
  }
  // Without trouble at the store, and with none of agents, no answer may be lost.
  if (chance.yes(0.4)) {
    plan.calls = {}
    plan.hurts = plan.hurts.filter(({ kind, node }) => kind === 'crash' && node < schedulers)
    plan.direct.share = { ...plan.direct.share, slow: 0, halfOpen: 0 }
    plan.direct.hurts = []
  }
}

/** Tasks hand on large values, also to what they continue as. */
const cargo: Feature = (chance, { tasks }) => {
  const carry = (): Op => ({ do: 'carry', n: chance.between(1, 3) })
  for (const task of tasks) {
    enter(chance, task, carry)
    if (!task.parts && chance.yes(0.3)) task.ops.unshift(carry(), { do: 'anew' }, carry())
  }
}

/** A store that takes no writes for seconds, for minutes, and for longer than anybody waits; mostly where nothing else goes wrong. */
const refusal: Feature = (chance, plan) => {
  if (plan.loss || plan.leaps || plan.settings.retention) return
  const span = () => {
    const ms = chance.yes(0.5) ? chance.between(100, 3_000) : chance.between(3_000, chance.yes(0.7) ? 15_000 : 90_000)
    return { at: chance.between(100, 3_500), ms }
  }
  const busy = JSON.stringify(plan.tasks).includes('"transaction"')
  const alone = chance.yes(0.7) && !plan.wire && !plan.direct && !plan.poison && !plan.rollout && !busy
  const kind = chance.pick(['sqlite', 'postgres'] as const)
  // Who waits for the lock is answered before it gives the call up.
  const { patience: most = 2_000, distance } = plan.settings
  const patience = chance.between(50, Math.max(60, Math.min(1_500, most - 2 * distance - 30)))
  plan.refusal = { kind, patience, spans: chance.some(2, span), alone }
  plan.chaos = Math.max(plan.chaos, ...plan.refusal.spans.map(({ at, ms }) => at + ms + 1_000))
  // Of nodes that die all the time, and cannot record that a task did them no harm, a task may well be suspected.
  const { 'crash-before': _, 'crash-after': __, ...calls } = plan.calls
  plan.calls = alone ? {} : calls
  if (alone) plan.hurts = []
}

/** Code that waits for what is not the task's, on nodes that are stopped or full. */
const outside: Feature = (chance, plan) => {
  const { tasks, nodes, chaos } = plan
  plan.outside = true
  // Beside other branches it would change their order when it is replayed, as no code may.
  for (const task of tasks)
    if (chance.yes(0.7) && !/"do":"(race|all|settled)"/.test(JSON.stringify(task.ops)))
      enter(chance, task, () => ({ do: 'outside' }))
  for (const task of tasks) if (chance.yes(0.3)) task.completeBy = 3_600_000
  plan.hurts.push(
    ...chance.some(3, () => ({
      at: chance.below(chaos),
      kind: 'restart' as const,
      node: chance.below(nodes.length),
      ms: 0,
    })),
  )
}

/** What only some worlds have, and how many of them (shares of one). */
const features = {
  schedules: { of: 0.12, add: schedules },
  retention: { of: 0.1, add: retention },
  transactions: { of: 0.12, add: transactions },
  poison: { of: 0.12, add: poison },
  callbacks: { of: 0.1, add: callbacks },
  clocks: { of: 0.08, add: clocks },
  loss: { of: 0.08, add: loss },
  silence: { of: 0.1, add: silence },
  bounds: { of: 0.1, add: bounds },
  versions: { of: 0.1, add: versions },
  strict: { of: 0.1, add: strict },
  outage: { of: 0.1, add: outage },
  throttle: { of: 0.1, add: throttle },
  line: { of: 0.1, add: line },
  crowd: { of: 0.1, add: crowd },
  reign: { of: 0.1, add: reign },
  dial: { of: 0.1, add: dial },
  adaptive: { of: 0.08, add: adaptive },
  cache: { of: 0.1, add: cache },
  pools: { of: 0.06, add: pools },
  entrance: { of: 0.06, add: entrance },
  wire: { of: 0.1, add: wire },
  cargo: { of: 0.1, add: cargo },
  direct: { of: 0.1, add: direct },
  ageing: { of: 0.06, add: ageing },
  tenancy: { of: 0.06, add: tenancy },
  respite: { of: 0.06, add: respite },
  tuning: { of: 0.06, add: tuning },
  outside: { of: 0.08, add: outside },
  refusal: { of: 0.12, add: refusal },
} satisfies Record<string, { of: number; add: Feature }>

export type FeatureName = keyof typeof features

export const featureNames = Object.keys(features) as FeatureName[]

export function isFeature(name: string): name is FeatureName {
  return Object.hasOwn(features, name)
}

/**
 * The plan with its features. Each is drawn by itself, so that seeds keep the others when there are more of them.
 * `only`: this one for certain, and no other.
 */
export function featured(plan: Plan, opsOf: (chance: Chance) => Op[], only?: FeatureName): Plan {
  for (const [name, { of, add }] of Object.entries(features)) {
    const chance = chanceOf(seededRandom(hash32(`${name} of ${plan.seed}`)))
    const drawn = chance.yes(of)
    if (only === undefined ? drawn : name === only) add(chance, plan, opsOf)
  }
  return plan
}

/** How many steps a plan has, with those of its schedules. */
function allStepsOf({ tasks, schedules = [] }: Plan): number {
  const scheduled = schedules.map(({ ops, every }) => stepsOf(ops) * Math.ceil(SCHEDULED / every))
  return scheduled.reduce((sum, steps) => sum + steps, stepsOf(tasks))
}

function stepsOf(plan: unknown): number {
  return JSON.stringify(plan).split('"do":"step"').length - 1
}

/** Puts one to three operations somewhere into the task's program. */
function enter(chance: Chance, { ops, parts }: TaskPlan, make: () => Op): void {
  if (!parts) for (const op of chance.some(3, make)) ops.splice(chance.below(ops.length + 1), 0, op)
}

/** Without long sleeps: occurrences may wait for each other. */
function brief(ops: Op[]): Op[] {
  const shorter = (key: string, value: unknown) => (key === 'ms' ? Math.min(value as number, 300) : value)
  return JSON.parse(JSON.stringify(ops, shorter)) as Op[]
}

function scheduleOf(chance: Chance, opsOf: (chance: Chance) => Op[]): SchedulePlan {
  return {
    name: '',
    at: chance.below(2_000),
    every: chance.between(400, 2_500),
    from: chance.below(2_500),
    overlap: chance.pick(['skip', 'queue', 'allow', 'cancel-previous'] as const),
    limit: chance.between(1, 4),
    ...(chance.yes(0.3) && { within: chance.between(100, 2_000) }),
    jitter: chance.yes(0.2) ? chance.below(300) : 0,
    ops: brief(opsOf(chance).slice(0, 2)),
  }
}
