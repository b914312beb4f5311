import type { TaskEvent } from '../../src/kernel/event.ts'
import { rebuild } from '../../src/kernel/rebuild.ts'
import { summarise } from '../../src/kernel/summary.ts'
import { snapshotOf } from '../../src/scheduler/transition.ts'
import { batches, type Dated, dated, type Evidence, forced, rewound, type Story } from './evidence.ts'

export type Rule = (evidence: Evidence) => string[]

/** A rule about each task by itself. */
const each =
  (check: (story: Story, events: Dated[]) => string[]): Rule =>
  ({ tasks }) =>
    tasks.flatMap((story) => check(story, dated(story)).map((fault) => `${story.row.id}: ${fault}`))

const accepted: Rule = ({ accepted, tasks }) => {
  const known = tasks.map(({ row }) => row.id)
  const there = new Set<string>()
  const twice = known.filter((id) => there.size === there.add(id).size)
  return [
    ...accepted.filter((id) => !there.has(id)).map((id) => `${id}: was accepted and is lost`),
    ...twice.map((id) => `${id}: is there twice`),
  ]
}

const gapless = each(({ records }) => {
  const faults: string[] = []
  for (const [index, { seq, at }] of records.entries()) {
    if (seq !== index + 1) faults.push(`record ${index + 1} has number ${seq}`)
    if (at < (records[index - 1]?.at ?? 0)) faults.push(`record ${seq} is older than the one before`)
  }
  return faults
})

const fold = each(({ row }, events) => {
  try {
    const summary = snapshotOf(summarise(rebuild(row.id, events).state))
    return Object.entries(summary)
      .filter(([name, value]) => row[name as keyof typeof row] !== value)
      .map(([name, value]) => `the row's ${name} is ${row[name as keyof typeof row]}, its history's is ${value}`)
  } catch (error) {
    return [`its history cannot be folded: ${error}`]
  }
})

const outcome = each((_, events) => {
  const faults: string[] = []
  const settled = new Map<number, string>()
  for (const { event } of events) {
    switch (event.type) {
      case 'continuedAsNew':
        settled.clear()
        break
      case 'reset': {
        const order = [...settled.keys()]
        const from = event.step === null ? order.length : order.indexOf(event.step)
        for (const [index, id] of order.entries()) {
          if ((from >= 0 && index >= from) || settled.get(id) === 'stepCancelled') settled.delete(id)
        }
        break
      }
      case 'childStopped':
        settled.set(event.id, event.type) // a place to go back to
        break
      case 'stepCompleted':
      case 'stepFailed':
      case 'stepSkipped':
      case 'stepCancelled':
        if (settled.has(event.id)) faults.push(`step ${event.id} is ${event.type} after ${settled.get(event.id)}`)
        settled.set(event.id, event.type)
    }
  }
  return faults
})

/** One answer to an attempt, whoever sends how many. */
const answers = each((_, events) => {
  const seen = new Set<string>()
  return events.flatMap(({ event }) => {
    // After a rewind the same decision is made anew, and its attempts count anew.
    if (event.type === 'stepRequested')
      for (const key of seen) if (key.endsWith(` of step ${event.id}`)) seen.delete(key)
    if (event.type !== 'stepCompleted' && event.type !== 'attemptFailed' && event.type !== 'undone') return []
    if ('by' in event && event.by === 'operator') return []
    const operation =
      event.type === 'attemptFailed'
        ? event.operation
        : event.type === 'undone'
          ? 'undo'
          : event.by === 'verify'
            ? 'verify'
            : 'run'
    const attempt = `${operation} attempt ${event.attempt} of step ${event.id}`
    if (seen.has(attempt)) return [`${attempt} is answered twice`]
    seen.add(attempt)
    return []
  })
})

const dependencies = each((_, events) => {
  const done = new Set<number>()
  return events.flatMap(({ event }) => {
    if (event.type === 'stepCompleted' || event.type === 'stepSkipped') done.add(event.id)
    if (event.type !== 'stepRequested') return []
    const { after = [] } = (event.input ?? {}) as { after?: number[] }
    return after
      .filter((id) => id > 0 && !done.has(id)) // 0 stands for what was skipped
      .map((id) => `step ${event.id} was requested before its dependency ${id} was recorded`)
  })
})

const starts: readonly TaskEvent['type'][] = ['stepRequested', 'childStarted', 'timerStarted', 'waitStarted']
const ends: readonly TaskEvent['type'][] = ['returned', 'threw', 'continueAsNewRequested', 'closing', 'stopped']

const closed = each((_, events) => {
  let end: string | null = null
  return events.flatMap(({ event }) => {
    if (event.type === 'reset' || event.type === 'continuedAsNew') end = null
    if (end !== null && starts.includes(event.type)) return [`${event.type} after ${end}`]
    if (ends.includes(event.type)) end = event.type
    return []
  })
})

const timers = each((_, events) => {
  const due = new Map<number, number>()
  let start = 0
  return events.flatMap(({ at, event }) => {
    if (event.type === 'submitted') start = event.startAt ?? 0
    if (event.type === 'started' && at < start) return [`it started ${start - at} ms early`]
    if (event.type === 'timerStarted') due.set(event.id, event.until)
    if (event.type === 'waitStarted' && event.until !== null) due.set(event.id, event.until)
    if (event.type !== 'timerFired' && event.type !== 'waitTimedOut') return []
    const until = due.get(event.id)
    if (until === undefined) return [`${event.type} of ${event.id}, which has none or fired before`]
    due.delete(event.id)
    return at < until ? [`${event.type} of ${event.id} is ${until - at} ms early`] : []
  })
})

interface Unit {
  undo: boolean
  requested: number
  completed: number | null
  asked: boolean
  undone: boolean
}

/** Exactly what was done and can be undone is, and before it all that came after it. */
const compensation = each((story, events) => {
  if (rewound(story)) return []
  const faults: string[] = []
  const units = new Map<number, Unit>()
  let compensate = false
  // A plan is undone against its own edges, which are not those of its history.
  const planned = events.some(({ event }) => event.type === 'planned')
  const request = (id: number, undo: boolean, at: number, completed: number | null = null) =>
    units.set(id, { undo, requested: at, completed, asked: false, undone: false })
  const well = new Set<number>()
  const left = () => [...units].filter(([, unit]) => unit.undo && unit.completed !== null && !unit.undone)
  for (const [place, { event }] of events.entries()) {
    if (event.type === 'continuedAsNew') units.clear()
    if (event.type === 'stepRequested') request(event.id, event.policy.undo === true, place)
    if (event.type === 'undoRegistered') request(event.id, true, place, place)
    if (event.type === 'childStarted') request(event.id, event.undo, place)
    if (event.type === 'threw') compensate = event.rescue === 'compensate'
    if (event.type === 'returned') compensate = false
    if (event.type === 'closing') compensate = event.compensate
    const unit = 'id' in event ? units.get(event.id) : undefined
    if (event.type === 'stopped' && compensate && !forced(story)) {
      faults.push(...left().map(([id]) => `it stopped with ${id} not undone`))
    }
    if (!unit || !('id' in event)) continue
    const { id } = event
    if (event.type === 'stepCompleted') unit.completed = place
    // A batch that is stopped on its way has children to undo.
    const ended = event.type === 'batchAdvanced' ? (event.ended ?? []) : []
    if (ended.some(([, , result]) => result === 'success' || result === 'warning')) unit.completed = place
    // A batch that did not finish may have children that did.
    if (event.type === 'batchAdvanced' && !unit.asked && event.ended?.some(([, , result]) => result === 'success'))
      well.add(id)
    if (well.has(id) && unended.includes(event.type)) unit.completed = place
    if (event.type === 'childStopped' && (event.result === 'success' || event.result === 'warning'))
      unit.completed = place
    if (event.type === 'undoRequested') {
      if (unit.completed === null || !unit.undo) faults.push(`the undo of ${id}, never done, was asked for`)
      const since = planned ? [] : left().filter(([, other]) => other.requested > (unit.completed ?? 0))
      faults.push(...since.map(([other]) => `the undo of ${id} was asked for before ${other} was undone`))
      unit.asked = true
    }
    if (event.type === 'undone') {
      if (!unit.asked || unit.undone) faults.push(`${id} was undone ${unit.undone ? 'twice' : 'unasked'}`)
      unit.undone = true
    }
  }
  return faults
})

const unended: readonly TaskEvent['type'][] = ['stepFailed', 'stepSkipped', 'stepCancelled']

/** Each child of a batch is started once and counted once, and its counts are those of the children. */
const batched: Rule = ({ tasks }) =>
  tasks.flatMap((story) => {
    const { row } = story
    if (rewound(story) || forced(story)) return []
    return [...batches(story)].flatMap((id) => {
      const moves = dated(story).flatMap(({ event }) =>
        event.type === 'batchAdvanced' && event.id === id ? [event] : [],
      )
      const undone = dated(story).findIndex(({ event }) => event.type === 'undoRequested' && event.id === id)
      const ended = moves.flatMap((move) => move.ended ?? []).reduce((sum, [from, to]) => sum + to - from + 1, 0)
      const started = moves.reduce((sum, move) => sum + (move.started ?? 0), 0)
      const children = tasks.filter((one) => one.row.parent === row.id && isOf(one.row.id, row.id, id))
      const faults = ended === started ? [] : [`${started} children were started and ${ended} have ended`]
      if (undone < 0 && children.length !== started)
        faults.push(`${started} children were started, there are ${children.length}`)
      if (undone < 0 && row.result === 'success') {
        const counts = countsOf(story, id)
        if (counts === null) return []
        const well = children.filter(({ row: { result } }) => result === 'success' || result === 'warning').length
        if (counts.success !== well) faults.push(`${well} children succeeded, ${counts.success} were counted`)
      }
      return faults.map((fault) => `${row.id}: batch ${id}: ${fault}`)
    })
  })

/** As the task gave them; where its output is another, as the batch did; null: that belongs to a run before the last. */
function countsOf(story: Story, id: number): { success?: number } | null {
  const output = JSON.parse(story.row.output ?? '{}') as { success?: number }
  if (!Array.isArray(output)) return output
  const done = dated(story).find(({ event }) => event.type === 'stepCompleted' && event.id === id)?.event
  return done?.type === 'stepCompleted' ? (done.output as { success?: number }) : null
}

/** A child its parent holds for undone is. */
const children: Rule = ({ tasks }) => {
  const byId = new Map(tasks.map((story) => [story.row.id, story]))
  return tasks.flatMap((story) => {
    const started = new Map<number, string>()
    return dated(story).flatMap(({ event }) => {
      if (event.type === 'childStarted') started.set(event.id, event.task)
      // What a retry forgot of the history gives its numbers to others.
      if (event.type === 'stepRequested') started.delete(event.id)
      const child = 'id' in event ? started.get(event.id) : undefined
      if (child === undefined) return []
      const row = byId.get(child)?.row
      if (!row) return [`${story.row.id}: its child ${child} does not exist`]
      if (event.type === 'childStopped' && row.status !== 'stopped') return [`${child}: runs on after its end was told`]
      if (event.type === 'undone' && row.result !== 'compensated' && !isGivenUp(byId.get(child)))
        return [`${child}: is ${row.result}, not undone`]
      return []
    })
  })
}

/** It had stopped and was quarantined while it was to be undone, and an operator ended it by force: nobody undoes it any more. */
function isGivenUp(story: Story | undefined): boolean {
  return (
    story !== undefined &&
    dated(story).some(({ event }) => event.type === 'messageIgnored' && event.message === 'quarantine')
  )
}

/** From here on, numbers that a program gives are no signals that it heard: they only make its output large. */
export const FREIGHT = 10_000

const events: Rule = ({ tasks, emitted, doubtful }) =>
  tasks.flatMap(({ row }) => {
    const sent = emitted[row.id]
    if (!sent || row.result !== 'success') return []
    const given = JSON.parse(row.output ?? '[]') as number[]
    const heard = given.filter((payload) => payload < FREIGHT)
    const twice = new Set(doubtful?.[row.id])
    const first = heard.filter((payload, index) => payload !== heard[index - 1] || !twice.has(payload))
    return first.every((payload, index) => payload === sent[index])
      ? []
      : [`${row.id}: heard ${heard.join()} of ${sent.join()}`]
  })

/** When all is said and done, nobody holds anything and nothing waits. */
const rest: Rule = ({ tasks, inbox, work, nodes }) => [
  ...tasks.filter(({ row }) => row.status !== 'stopped').map(({ row }) => `${row.id}: is still ${row.status}`),
  ...tasks.filter(({ row }) => row.locked_by !== null).map(({ row }) => `${row.id}: is still owned`),
  ...tasks.filter(({ row }) => row.ready !== 0).map(({ row }) => `${row.id}: still wants an owner`),
  ...inbox.map((letter) => `a letter was never read: ${JSON.stringify(letter)}`),
  ...work.map((item) => `work was left behind: ${JSON.stringify(item)}`),
  ...nodes.filter(({ dead }) => dead === 0).map(({ id }) => `node ${id} left and is still listed as alive`),
]

/** Ids of a batch's children end with its step and their ordinal. */
function isOf(child: string, parent: string, step: number): boolean {
  const rest = child.startsWith(parent) ? child.slice(parent.length) : ''
  const place = rest.slice(Math.max(0, rest.lastIndexOf('~')) + 1)
  // After a step began anew, those that begin later say of which generation they are.
  return new RegExp(`^${step}(-\\d+)?\\.`).test(place)
}

export const historyRules: Record<string, Rule> = {
  accepted,
  gapless,
  fold,
  outcome,
  answers,
  dependencies,
  closed,
  timers,
  compensation,
  children,
  batched,
  events,
  rest,
}
