import { TriarchError } from '../error/error.ts'
import { moves, type TaskResult, type TaskStatus } from '../kernel/status.ts'
import type { ListQuery } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkTags } from '../value/tag.ts'
import { checkText } from '../value/text.ts'

/**
 * Which tasks to list, and how many.
 * @example const { tasks } = await triarch.list({ status: ['running', 'paused'], limit: 50 })
 */
export interface ListOptions {
  /** Tasks in this state, or in one of these. */
  status?: TaskStatus | readonly TaskStatus[]
  /** Tasks with this result, or with one of these. */
  result?: TaskResult | readonly TaskResult[]
  /** Tasks of the workflow of this name. */
  workflow?: string
  /** Tasks of this version of their workflow. */
  version?: string
  /** Children of this task. */
  parent?: string
  /** Tasks in quarantine, paused or stopped. */
  quarantined?: true
  /** Tasks that have all of these. */
  tags?: Readonly<Record<string, string>>
  /** Tasks that were submitted later than this. */
  submittedAfter?: Date
  /** Tasks that were submitted earlier than this. */
  submittedBefore?: Date
  /** `next` of the page before. */
  cursor?: string
  /** Rows a page: 1 to 1,000; 100. */
  limit?: number
  /** By submission; newest. */
  order?: 'newest' | 'oldest'
}

const keys = [
  'status',
  'result',
  'workflow',
  'version',
  'parent',
  'quarantined',
  'tags',
  'submittedAfter',
  'submittedBefore',
  'cursor',
  'limit',
  'order',
] as const
/** Ids of children hold those of all their ancestors. */
const LONGEST_NAME = 10_000
const statuses = Object.keys(moves.task)
const results: readonly TaskResult[] = ['pending', 'success', 'warning', 'error', 'cancelled', 'compensated']

/** What the store is asked for. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function listQuery(options: ListOptions): ListQuery {
  checkOptions('list', options, keys)
  const { cursor, limit = 100, order = 'newest', submittedAfter, submittedBefore, tags, ...rest } = options
  oneOf('order', order, ['newest', 'oldest'])
  if (rest.status !== undefined) oneOf('status', rest.status, statuses)
  if (rest.quarantined !== undefined && rest.quarantined !== true) throw invalid('quarantined must be true')
  if (rest.result !== undefined) oneOf('result', rest.result, results)
  for (const name of ['workflow', 'version', 'parent'] as const) {
    if (rest[name] !== undefined) checkText(`list: ${name}`, rest[name], LONGEST_NAME)
  }
  return {
    ...rest,
    ...(tags !== undefined && { tags: checkTags('list', tags) }),
    ...(submittedAfter !== undefined && { submittedAfter: instant('submittedAfter', submittedAfter) }),
    ...(submittedBefore !== undefined && { submittedBefore: instant('submittedBefore', submittedBefore) }),
    ...(cursor !== undefined && { after: checkInteger('list: cursor', Number(cursor), 0, Number.MAX_SAFE_INTEGER) }),
    limit: checkInteger('list: limit', limit, 1, 1_000),
    order,
  }
}

function oneOf(name: string, value: unknown, allowed: readonly string[]): void {
  for (const one of [value].flat()) {
    if (typeof one !== 'string' || !allowed.includes(one)) throw invalid(`${name} must be of ${allowed.join(', ')}`)
  }
}

function instant(name: string, value: unknown): number {
  const at = value instanceof Date ? value.getTime() : Number.NaN
  if (Number.isNaN(at)) throw invalid(`${name} must be a valid date`)
  return at
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `list: ${problem}`)
}
