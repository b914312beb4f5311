import { TriarchError } from '../error/error.ts'
import { quantiles, UNKNOWN } from '../statistics/histogram.ts'
import type { StateStore, Tally, TallyColumn } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'

/**
 * Columns by which figures can be grouped.
 * @example const by: readonly FiguresColumn[] = ['hour', 'workflow']
 */
export type FiguresColumn = 'hour' | 'kind' | 'workflow' | 'agent' | 'action' | 'outcome' | 'error' | 'tag'

/**
 * A selection of figures, and the columns by which they are grouped.
 * @example const query: FiguresQuery = { by: ['action', 'error'], kind: 'attempt', workflow: 'order' }
 */
export interface FiguresQuery {
  /** One row for each existing combination of these: `['kind', 'workflow', 'outcome']`. */
  by?: readonly FiguresColumn[]
  /** From the hour of this instant on (ms since the epoch); a day before `to`. */
  from?: number
  /** Up to and including the hour of this instant (ms since the epoch); now. */
  to?: number
  /** Only of tasks, of steps, or of failed attempts; all. */
  kind?: 'task' | 'step' | 'attempt'
  /** Only of this workflow. */
  workflow?: string
  /** Only of this agent. */
  agent?: string
  /** Only of this action, as `agent.action`. */
  action?: string
  /** Only with this outcome. */
  outcome?: string
  /** Only with this error: its code, or its name. */
  error?: string
  /** Only with this value of the tag that the supervisor counts by. */
  tag?: string
}

/**
 * A count with durations. Columns that the query does not group by are absent.
 * @example const told = ({ workflow, count, p95 }: FiguresRow) => `${workflow} ran ${count} times, ${p95} ms`
 */
export interface FiguresRow {
  /** The beginning of the hour (ms since the epoch). */
  hour?: number
  /** The kind that is counted: tasks, steps, or failed attempts. */
  kind?: string
  /** The name of the workflow. */
  workflow?: string
  /** The agent; '' if none is involved. */
  agent?: string
  /** `agent.action`; '(local)' for all steps that no agent runs, '' for tasks. */
  action?: string
  /**
   * The outcome. Of a task: `submitted`, or the result with which it stopped. Of a step: `success`, `cached`, `error`, `skipped`,
   * `cancelled`, `undone`. Of an attempt: `failed`, `undo failed`, or `lost` with its process.
   */
  outcome?: string
  /** The code of the error, or its name; '' without one. */
  error?: string
  /** The value of the tag that the supervisor counts by; '' without one. */
  tag?: string
  /** The count. If rows are not grouped by outcome, submissions are left out: a task counts once, when it stops. */
  count: number
  /** How many of them have a known duration. */
  timed: number
  /** Mean duration (ms): of tasks since they were due, of steps in the attempt that counted; null: unknown. */
  mean: number | null
  /** Median duration (ms, within 5 %). */
  p50: number | null
  /** 95th percentile of the duration (ms, within 5 %). */
  p95: number | null
  /** 99th percentile of the duration (ms, within 5 %). */
  p99: number | null
}

/**
 * The result of a query of figures.
 * @example
 * const { rows, behind } = await triarch.statistics.figures({ by: ['hour'], outcome: 'error' })
 */
export interface Figures {
  /** Rows in the order of `by`, at most 2,000. */
  rows: FiguresRow[]
  /** The rows are cut: query fewer hours, or group by fewer columns. */
  truncated: boolean
  /** All records written before this instant are counted (ms since the epoch); null: no counting was ever complete. */
  asOf: number | null
  /** How long ago that is (ms); null: no counting was ever complete. */
  behind: number | null
  /** Progress of a recount; absent: none is under way. */
  recount?: RecountProgress
}

/**
 * Progress of a recount. Until it is done, rows contain what is counted so far.
 * @example const told = ({ share }: RecountProgress) => `${Math.floor(share * 100)} % are counted`
 */
export interface RecountProgress {
  /** When it was requested (ms since the epoch). */
  since: number
  /** The share that is done, from 0 to 1, of the tasks that existed then. */
  share: number
}

/**
 * The reason for a recount, and who requests it.
 * @example const options: RecountOptions = { reason: 'the tag is another now', actor: 'ada' }
 */
export interface RecountOptions {
  /** The reason, kept in the audit, up to 1,000 characters; none. */
  reason?: string
  /** Who requests it; the caller. */
  actor?: string
}

/** Checks the options. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function recountBy(options: RecountOptions): RecountOptions {
  checkOptions('statistics.recount', options, ['reason', 'actor'])
  const { reason, actor } = options
  return {
    ...(reason !== undefined && { reason: checkText('statistics.recount: reason', reason, 1_000) }),
    ...(actor !== undefined && { actor: checkText('statistics.recount: actor', actor, 200) }),
  }
}

const ALL: readonly FiguresColumn[] = ['hour', 'kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag']
const KINDS: readonly string[] = ['task', 'step', 'attempt']
const FILTERS = ['kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag'] as const
/** Largest length of a filter value (characters); counted values are cut to fewer. */
const LONGEST = 300
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Largest number of rows of an answer, and of the store's rows that they are made of: the store has one for each bucket of durations. */
const MOST_ROWS = 2_000
const MOST_TALLIES = 50_000

/** Queries the figures. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export async function figures(store: Pick<StateStore, 'tallies' | 'now'>, query: FiguresQuery): Promise<Figures> {
  const { by = ['kind', 'workflow', 'outcome'] } = checked(query)
  const to = query.to ?? (await store.now())
  const from = query.from ?? to - DAY
  const where = Object.fromEntries(FILTERS.flatMap((it) => (query[it] === undefined ? [] : [[it, query[it]]])))
  // A task is counted when it is submitted and when it stops; without grouping by outcome, only the stop counts.
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
  // Stops that were taken back leave rows with a count of zero.
  const counted = page.tallies.slice(0, MOST_TALLIES).filter(({ count }) => count > 0)
  const groups = Map.groupBy(counted, (it) => JSON.stringify(by.map((name) => it[name])))
  const rows = [...groups.values()].map((tallies) => rowOf(tallies, by))
  const cut = page.tallies.length > MOST_TALLIES
  // The cut rows may belong to the last group, which is incomplete then.
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
  checkOptions('statistics.figures', query, ['by', 'from', 'to', ...FILTERS])
  if (query.by !== undefined && !(Array.isArray(query.by) && query.by.every((it) => ALL.includes(it))))
    throw new TriarchError('INVALID_OPTION', `statistics.figures: by must be a list of ${ALL.join(', ')}`)
  if (query.kind !== undefined && !KINDS.includes(query.kind))
    throw new TriarchError('INVALID_OPTION', `statistics.figures: kind must be one of ${KINDS.join(', ')}`)
  for (const name of ['from', 'to'] as const)
    if (query[name] !== undefined)
      checkInteger(`statistics.figures: ${name}`, query[name], 0, Number.MAX_SAFE_INTEGER - 1)
  for (const name of FILTERS)
    if (query[name] !== undefined) checkText(`statistics.figures: ${name}`, query[name], LONGEST)
  return query
}
