import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import type { Tally } from '../store/statistics.ts'
import { bucketOf, UNKNOWN } from './histogram.ts'

/** The data about a task from its earlier records that counting the next ones needs. */
export interface Following {
  workflow: string
  /** The value of the tag by which statistics are grouped. */
  tag: string
  /** When the task became due (ms since the epoch). */
  since: number
  stopped: boolean
  /**
   * How the last stop was counted. If the task goes on, for example to be undone, this count is taken back, and only the next stop counts.
   */
  last: Stop | null
  /** `agent.action` of each step of this run, by its number. */
  actions: Map<number, string>
}

/** The columns that identify the count of a stop. */
type Stop = Pick<Tally, 'hour' | 'outcome' | 'error' | 'bucket' | 'ms'>

const HOUR = 3_600_000
/** Largest length of names given by users (characters); longer ones are cut, and characters that no store can keep are removed. */
const LONGEST = 128
/** Stands for all local steps, because their names may be arbitrarily many. */
const LOCAL = '(local)'

/** The data about a task before its first record. */
export function unknownTask(): Following {
  return { workflow: '', tag: '', since: 0, stopped: false, last: null, actions: new Map() }
}

/** Counts the events of one record, given and updating the data from earlier ones. A pure function otherwise: no clock, no reads. */
export function tally(task: Following, at: number, events: readonly TaskEvent[], tag?: string): Tally[] {
  const counted: Tally[] = []
  const about = (
    kind: Tally['kind'],
    outcome: string,
    more: { id?: number; error?: ErrorRecord | undefined; ms?: number | null } = {},
  ) => {
    const action = more.id === undefined ? '' : (task.actions.get(more.id) ?? LOCAL)
    const dot = action.indexOf('.')
    const known = typeof more.ms === 'number'
    counted.push({
      hour: at - (((at % HOUR) + HOUR) % HOUR),
      kind,
      workflow: task.workflow,
      agent: dot > 0 ? action.slice(0, dot) : '',
      action,
      outcome,
      error: cut(more.error?.code ?? more.error?.name ?? ''),
      tag: task.tag,
      bucket: known ? bucketOf(more.ms ?? 0) : UNKNOWN,
      count: 1,
      ms: known ? Math.max(0, Math.round(more.ms ?? 0)) : 0,
    })
  }
  for (const event of events) {
    switch (event.type) {
      case 'submitted':
        task.workflow = cut(event.workflow)
        task.tag =
          tag === undefined ? '' : cut(event.tags && Object.hasOwn(event.tags, tag) ? (event.tags[tag] ?? '') : '')
        task.since = Math.max(at, event.startAt ?? 0)
        about('task', 'submitted')
        break
      case 'planned':
        for (const [index, { action, lock, unlock }] of event.plan.steps.entries())
          if (action !== null && lock === undefined && unlock === undefined)
            task.actions.set(event.plan.first + index, cut(action))
        break
      case 'stepRequested':
        if (event.action !== null) task.actions.set(event.id, cut(event.action))
        break
      case 'fallbackRequested':
        task.actions.set(event.id, cut(event.action))
        break
      case 'attemptFailed': {
        const { id, error, operation } = event
        const outcome = event.lost ? 'lost' : operation === 'undo' ? 'undo failed' : 'failed'
        about('attempt', outcome, { id, error, ms: took(event) })
        break
      }
      case 'stepCompleted':
        about('step', event.cached ? 'cached' : 'success', { id: event.id, ms: event.cached ? null : took(event) })
        break
      case 'stepFailed':
      case 'plannedStepFailed':
        about('step', 'error', { id: event.id, error: event.error })
        break
      case 'stepSkipped':
        about('step', 'skipped', { id: event.id })
        break
      case 'stepCancelled':
        about('step', 'cancelled', { id: event.id })
        break
      case 'undone':
        about('step', 'undone', { id: event.id, ms: took(event) })
        break
      case 'continuedAsNew':
        task.actions.clear()
        break
      case 'reset':
        task.stopped = false
        break
      case 'stopped': {
        task.stopped = true
        about('task', event.result, { error: event.error, ms: at - task.since })
        const stop = counted.at(-1) as Tally
        if (task.last) counted.push({ ...stop, ...task.last, count: -1, ms: -task.last.ms })
        const { hour, outcome, error, bucket, ms } = stop
        task.last = { hour, outcome, error, bucket, ms }
        break
      }
      default:
    }
  }
  return counted
}

function took({ startedAt, endedAt }: { startedAt: number | null; endedAt: number }): number | null {
  return startedAt === null ? null : endedAt - startedAt
}

function cut(text: string): string {
  return (text.length > LONGEST ? text.slice(0, LONGEST) : text).replaceAll('\0', '').toWellFormed()
}

/** Adds up counts that are otherwise equal. */
export function mergedTallies(tallies: readonly Tally[]): Tally[] {
  const all = new Map<string, Tally>()
  for (const one of tallies) {
    const { count, ms, ...told } = one
    const key = JSON.stringify(Object.values(told))
    const known = all.get(key)
    all.set(key, known ? { ...known, count: known.count + count, ms: known.ms + ms } : one)
  }
  return [...all.values()]
}

/** The stored form: each action once, with the numbers of its steps. */
export function followingText({ workflow, tag, since, stopped, last, actions }: Following): string {
  const steps = new Map<string, number[]>()
  for (const [id, action] of actions) {
    const known = steps.get(action)
    if (known) known.push(id)
    else steps.set(action, [id])
  }
  const stop = last && [last.hour, last.outcome, last.error, last.bucket, last.ms]
  return JSON.stringify([workflow, tag, since, stopped, Object.fromEntries(steps), ...(stop ? [stop] : [])])
}

/** Decodes the stored form. */
export function followingOf(text: string | null): Following {
  if (text === null) return unknownTask()
  const [workflow, tag, since, stopped, steps, stop] = JSON.parse(text) as [
    ...[string, string, number, boolean],
    ...[Record<string, number[]>, [number, string, string, number, number]?],
  ]
  const [hour = 0, outcome = '', error = '', bucket = UNKNOWN, ms = 0] = stop ?? []
  const last = stop ? { hour, outcome, error, bucket, ms } : null
  const actions = new Map<number, string>()
  for (const [action, ids] of Object.entries(steps)) for (const id of ids) actions.set(id, action)
  return { workflow, tag, since, stopped, last, actions }
}
