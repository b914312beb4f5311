import { TriarchError } from '../error/error.ts'
import { quantiles, UNKNOWN } from '../statistics/histogram.ts'
import type { StateStore, Tally, TallyColumn } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'

/**
 * What figures can be told apart by.
 * @example const by: readonly FiguresColumn[] = ['hour', 'workflow']
 */
export type FiguresColumn = 'hour' | 'kind' | 'workflow' | 'agent' | 'action' | 'outcome' | 'error' | 'tag'

/**
 * Which figures, and what they are told apart by.
 * @example const query: FiguresQuery = { by: ['action', 'error'], kind: 'attempt', workflow: 'order' }
 */
export interface FiguresQuery {
  /** A row for each combination of these that there is: `['kind', 'workflow', 'outcome']`. */
  by?: readonly FiguresColumn[]
  /** From the hour that this instant is in (ms since the epoch): a day before `to`. */
  from?: number
  /** Up to this instant (ms since the epoch), with the hour that it is in: now. */
  to?: number
  /** Only of tasks, of steps, or of attempts that failed: of all. */
  kind?: 'task' | 'step' | 'attempt'
  /** Only of this workflow. */
  workflow?: string
  /** Only of this agent. */
  agent?: string
  /** Only of this action, as `agent.action`. */
  action?: string
  /** Only of those that became this. */
  outcome?: string
  /** Only with this error: its code, or its name. */
  error?: string
  /** Only with this value of the tag that the supervisor counts by. */
  tag?: string
}

/**
 * How often something was so, and how long that took. What the query does not tell apart is absent.
 * @example const told = ({ workflow, count, p95 }: FiguresRow) => `${workflow} ran ${count} times, ${p95} ms`
 */
export interface FiguresRow {
  /** The beginning of the hour (ms since the epoch). */
  hour?: number
  /** What is counted: tasks, steps, or attempts that failed. */
  kind?: string
  /** The name of the workflow. */
  workflow?: string
  /** The agent; '' where none has a part in it. */
  agent?: string
  /** `agent.action`; '(local)' for all steps that no agent runs, '' for tasks. */
  action?: string
  /**
   * What became of it. A task: `submitted`, or the result that it stopped with. A step: `success`, `cached`, `error`, `skipped`, `cancelled`,
   * `undone`. An attempt: `failed`, `undo failed`, or `lost` with its process.
   */
  outcome?: string
  /** The code of the error, or its name; '' without one. */
  error?: string
  /** The value of the tag that the supervisor counts by; '' without one. */
  tag?: string
  /** How often. Where outcomes are not told apart, submissions are left out: a task counts once, when it stops. */
  count: number
  /** How many of them it is known of how long they took. */
  timed: number
  /** How long they took on average (ms): tasks since they were due, steps in the attempt that counted; null: not known. */
  mean: number | null
  /** Half of them took no longer (ms, within 5 %). */
  p50: number | null
  /** 95 of 100 took no longer (ms, within 5 %). */
  p95: number | null
  /** 99 of 100 took no longer (ms, within 5 %). */
  p99: number | null
}

/**
 * What was counted.
 * @example
 * const { rows, behind } = await triarch.statistics({ by: ['hour'], kind: 'task', outcome: 'error' })
 */
export interface Figures {
  /** In the order of `by`, at most 2,000. */
  rows: FiguresRow[]
  /** There are more than these: ask for fewer hours, or tell less apart. */
  truncated: boolean
  /** All that was written before this instant is counted (ms since the epoch); null: nothing was ever counted whole. */
  asOf: number | null
  /** How far behind that is (ms); null: nothing was ever counted whole. */
  behind: number | null
  /** All is being counted anew; absent: that is done. */
  recount?: RecountProgress
}

/**
 * How far counting anew has come. Until it is done, rows are of what is counted so far.
 * @example const told = ({ share }: RecountProgress) => `${Math.floor(share * 100)} % are counted`
 */
export interface RecountProgress {
  /** When it was asked for (ms since the epoch). */
  since: number
  /** How much of it is done, from 0 to 1: by the tasks that there were then. */
  share: number
}

/**
 * Why, and who wants it.
 * @example const options: RecountOptions = { reason: 'the tag is another now', actor: 'ada' }
 */
export interface RecountOptions {
  /** Why: kept in the audit, up to 1,000 characters; nothing is said. */
  reason?: string
  /** Who; whoever acts. */
  actor?: string
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function recountBy(options: RecountOptions): RecountOptions {
  checkOptions('recount', options, ['reason', 'actor'])
  const { reason, actor } = options
  return {
    ...(reason !== undefined && { reason: checkText('recount: reason', reason, 1_000) }),
    ...(actor !== undefined && { actor: checkText('recount: actor', actor, 200) }),
  }
}

const ALL: readonly FiguresColumn[] = ['hour', 'kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag']
const KINDS: readonly string[] = ['task', 'step', 'attempt']
const FILTERS = ['kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag'] as const
/** Characters of what is chosen by: what is counted is cut to fewer. */
const LONGEST = 300
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Rows of an answer, and of the store for them: each has one for each bucket of its durations. */
const MOST_ROWS = 2_000
const MOST_TALLIES = 50_000

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export async function figures(store: Pick<StateStore, 'tallies' | 'now'>, query: FiguresQuery): Promise<Figures> {
  const { by = ['kind', 'workflow', 'outcome'] } = checked(query)
  const to = query.to ?? (await store.now())
  const from = query.from ?? to - DAY
  const where = Object.fromEntries(FILTERS.flatMap((it) => (query[it] === undefined ? [] : [[it, query[it]]])))
  // A task is counted when it is submitted and when it stops: where outcomes are not told apart, it counts once.
  const isOnce = !by.includes('outcome') && query.outcome === undefined
  const columns: TallyColumn[] = [...ALL.filter((it) => by.includes(it)), 'bucket']
  const start = Math.max(0, from - (from % HOUR))
  const page = await store.tallies({
    from: start,
    to: to + 1,
    where,
    once: isOnce,
    by: columns,
    limit: MOST_TALLIES + 1,
  })
  // Stops that were taken back leave rows of nothing.
  const counted = page.tallies.slice(0, MOST_TALLIES).filter(({ count }) => count > 0)
  const groups = Map.groupBy(counted, (it) => JSON.stringify(by.map((name) => it[name])))
  const rows = [...groups.values()].map((tallies) => rowOf(tallies, by))
  const cut = page.tallies.length > MOST_TALLIES
  // What the bound cut off may be of the last row, which is not whole then.
  if (cut && rows.length > 1) rows.pop()
  return {
    rows: rows.slice(0, MOST_ROWS),
    truncated: cut || rows.length > MOST_ROWS,
    asOf: page.asOf,
    behind: page.asOf === null ? null : Math.max(0, page.at - page.asOf),
    ...(page.recount && { recount: page.recount }),
  }
}

function rowOf(tallies: readonly Tally[], by: readonly FiguresColumn[]): FiguresRow {
  const [first] = tallies
  const told = Object.fromEntries(by.map((name) => [name, first?.[name]])) as Partial<FiguresRow>
  const known = tallies.filter(({ bucket }) => bucket !== UNKNOWN)
  const sum = (of: readonly Tally[], name: 'count' | 'ms') => of.reduce((all, it) => all + it[name], 0)
  const timed = sum(known, 'count')
  const buckets = new Map(known.map(({ bucket, count }) => [bucket, count]))
  const [p50 = null, p95 = null, p99 = null] = quantiles(buckets, [0.5, 0.95, 0.99])
  const mean = timed === 0 ? null : Math.round(sum(known, 'ms') / timed)
  return { ...told, count: sum(tallies, 'count'), timed, mean, p50, p95, p99 }
}

function checked(query: FiguresQuery): FiguresQuery {
  checkOptions('statistics', query, ['by', 'from', 'to', ...FILTERS])
  if (query.by !== undefined && !(Array.isArray(query.by) && query.by.every((it) => ALL.includes(it))))
    throw new TriarchError('INVALID_OPTION', `statistics: by must be a list of ${ALL.join(', ')}`)
  if (query.kind !== undefined && !KINDS.includes(query.kind))
    throw new TriarchError('INVALID_OPTION', `statistics: kind must be one of ${KINDS.join(', ')}`)
  for (const name of ['from', 'to'] as const)
    if (query[name] !== undefined) checkInteger(`statistics: ${name}`, query[name], 0, Number.MAX_SAFE_INTEGER - 1)
  for (const name of FILTERS) if (query[name] !== undefined) checkText(`statistics: ${name}`, query[name], LONGEST)
  return query
}
