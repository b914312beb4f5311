// Did the engine keep its word? Judged from the outside: by what the shop ordered, what the services have in their own
// ledgers, and how the tasks ended. The judge believes nobody: it re-checks even what the services promise to prevent.
import type { Effect } from './services/ledger.ts'
import type { Evidence, Rule, Verdict, Violation } from './verdict.ts'

const fulfilledOutcomes = ['success', 'warning']
const undoneOutcomes = ['compensated', 'error']
/** What a fulfilled order needs. The mail may be skipped, but then the task says so with a warning. */
const needed = { success: ['payment', 'stock', 'shipping', 'mail'], warning: ['payment', 'stock', 'shipping'] }

type Work = Effect & { service: string }

export function judge({ orders, ledgers, tasks, dependsOn = {} }: Evidence): Verdict {
  const violations: Violation[] = []
  const blame = (rule: Rule, orderId: string | null, detail: string) => violations.push({ rule, orderId, detail })

  const receipts = ledgers.flatMap(({ service, receipts }) => receipts.map((receipt) => ({ ...receipt, service })))
  for (const { service, kind, key, orderId, violation } of receipts) {
    if (violation) blame(violation as Rule, orderId, `${service} refused ${kind} with key ${key}`)
  }

  const works = ledgers.flatMap(({ service, effects }) => effects.map((effect): Work => ({ ...effect, service })))
  const worksByOrder = Map.groupBy(works, ({ orderId }) => orderId)
  const tasksByOrder = Map.groupBy(tasks, ({ orderId }) => orderId)
  const known = new Set<string | null>(orders.map(({ id }) => id)).add(null)
  const traces = [
    ...receipts.map(({ service, kind, orderId }) => ({ orderId, detail: `${kind} asked of ${service}` })),
    ...works.map(({ service, id, orderId }) => ({ orderId, detail: `${service} did ${id}` })),
    ...tasks.map(({ orderId }) => ({ orderId, detail: 'a task' })),
  ]
  for (const { orderId, detail } of traces) if (!known.has(orderId)) blame('unknown-order', orderId, detail)

  for (const { id } of orders) {
    const orderWorks = worksByOrder.get(id) ?? []
    const accuse = (rule: Rule, detail: string) => blame(rule, id, detail)
    judgeRepeats(orderWorks, accuse)
    judgeUndos(orderWorks, dependsOn, accuse)
    const [task, ...others] = tasksByOrder.get(id) ?? []
    if (others.length > 0) accuse('duplicate-task', `${others.length + 1} tasks`)
    if (!task) accuse('lost-order', 'no task')
    else if (task.status !== 'stopped') accuse('not-stopped', `status ${task.status}`)
    else judgeOutcome(task.outcome, orderWorks, accuse)
  }

  const results = Map.groupBy(tasks, ({ outcome }) => (fulfilledOutcomes.includes(outcome) ? 'fulfilled' : outcome))
  const faults = Map.groupBy(
    receipts.filter(({ fault }) => fault !== null),
    ({ fault }) => String(fault),
  )
  return {
    ok: violations.length === 0,
    violations,
    counts: {
      orders: orders.length,
      fulfilled: results.get('fulfilled')?.length ?? 0,
      undone: undoneOutcomes.reduce((sum, result) => sum + (results.get(result)?.length ?? 0), 0),
      requests: receipts.length,
      effects: works.filter(({ undoes }) => undoes === null).length,
      undos: works.filter(({ undoes }) => undoes !== null).length,
      refusals: receipts.filter(({ status, violation }) => !violation && [402, 409, 422].includes(status ?? 0)).length,
      faults: Object.fromEntries([...faults].map(([fault, rows]) => [fault, rows.length])),
    },
  }
}

type Accuse = (rule: Rule, detail: string) => void

/** Holds the way an order's task ended against what was done for it. */
function judgeOutcome(outcome: string, works: Work[], accuse: Accuse): void {
  const done = works.filter(({ undoes }) => undoes === null)
  const undone = new Set(works.map(({ undoes }) => undoes))
  if (outcome === 'success' || outcome === 'warning') {
    for (const service of needed[outcome]) {
      if (!done.some((work) => work.service === service)) accuse('not-done', `${outcome}, but nothing from ${service}`)
    }
    for (const { service, id } of done.filter(({ id }) => undone.has(id))) {
      accuse('undone-but-fulfilled', `${service} took back ${id}`)
    }
  } else if (undoneOutcomes.includes(outcome)) {
    for (const { service, id } of done.filter(({ id }) => !undone.has(id))) {
      accuse('not-undone', `${outcome}, but ${service} kept ${id}`)
    }
  } else accuse('wrong-outcome', `outcome ${outcome}`)
}

function judgeRepeats(works: Work[], accuse: Accuse): void {
  const done = works.filter(({ undoes }) => undoes === null)
  for (const [service, own] of Map.groupBy(done, ({ service }) => service)) {
    if (own.length > 1) accuse('done-twice', `${service}: ${own.map(({ id }) => id).join(', ')}`)
  }
}

/** Every undo belongs to one earlier effect, and undos come in reverse. */
function judgeUndos(works: Work[], dependsOn: Record<string, string[]>, accuse: Accuse): void {
  const done = works.filter(({ undoes }) => undoes === null)
  const undos = works.filter(({ undoes }) => undoes !== null)
  for (const [target, own] of Map.groupBy(undos, ({ undoes }) => undoes)) {
    const effect = done.find(({ id }) => id === target)
    if (!effect || own.some(({ service, at }) => service !== effect.service || at < effect.at)) {
      accuse('undo-without-effect', `${own[0]?.kind} of ${target}`)
    }
    if (own.length > 1) accuse('undone-twice', `${target}: ${own.length} times`)
  }
  const began = Math.min(...undos.map(({ at }) => at))
  for (const { service, id } of done.filter(({ at }) => at > began)) {
    accuse('undo-order', `${service} did ${id} after undoing began`)
  }
  for (const later of undos) {
    const bases = dependsOn[later.service] ?? []
    const early = undos.find(({ service, at }) => bases.includes(service) && at < later.at)
    if (early) accuse('undo-order', `${early.kind} (${early.service}) came before ${later.kind} (${later.service})`)
  }
}
