import { TriarchError } from '../error/error.ts'
import { filterFields } from '../filter/field.ts'
import type { Filter, FilterTerm } from '../filter/filter.ts'
import { parseFilter } from '../filter/grammar.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import type { ListQuery } from '../store/port.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkTags } from '../value/tag.ts'
import { checkText } from '../value/text.ts'

/**
 * A selection of tasks, and the page of the list.
 * @example const { tasks } = await triarch.tasks.list({ status: ['running', 'paused'], limit: 50 })
 */
export interface ListOptions {
  /** Tasks that match this filter (docs/reference/filter.md) as well as the other options. INVALID_FILTER if it cannot be parsed. */
  filter?: string
  /** Tasks in this state, or in one of these. */
  status?: TaskStatus | readonly TaskStatus[]
  /** Tasks with this outcome, or with one of these. */
  outcome?: TaskOutcome | readonly TaskOutcome[]
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
  /** `next` of the previous page. */
  cursor?: string
  /** Rows per page: 1 to 1,000; 100. */
  limit?: number
  /** Order by submission; newest, unless the filter has `sort:oldest`. */
  order?: 'newest' | 'oldest'
}

const keys = [
  'filter',
  'status',
  'outcome',
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
/** Ids of children contain those of all their ancestors, so they may be this long. */
const LONGEST_NAME = 10_000

/** Converts the options to a filter and a page. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_FILTER. */
export function listedBy(options: ListOptions): { filter: Filter; page: Pick<ListQuery, 'after' | 'limit'> } {
  checkOptions('tasks.list', options, keys)
  const { filter: text, cursor, limit = 100, order } = options
  if (order !== undefined) oneOf('order', order, ['newest', 'oldest'])
  const filter = text === undefined ? { terms: [] } : parseFilter(text)
  if (order && filter.order && order !== filter.order) throw invalid('order says otherwise than the filter does')
  return {
    filter: { terms: [...termsOf(options), ...filter.terms], order: order ?? filter.order ?? 'newest' },
    page: {
      ...(cursor !== undefined && {
        after: checkInteger('tasks.list: cursor', Number(cursor), 0, Number.MAX_SAFE_INTEGER),
      }),
      limit: checkInteger('tasks.list: limit', limit, 1, 1_000),
    },
  }
}

/** The terms that are equivalent to the options. */
function termsOf({ tags, quarantined, submittedAfter, submittedBefore, ...options }: ListOptions): FilterTerm[] {
  const terms: FilterTerm[] = []
  for (const field of ['status', 'outcome'] as const) {
    const given = options[field]
    if (given === undefined) continue
    oneOf(field, given, filterFields.find(({ name }) => name === field)?.values ?? [])
    terms.push(is(field, ...[given].flat()))
  }
  for (const field of ['workflow', 'version', 'parent'] as const) {
    const given = options[field]
    if (given !== undefined) terms.push(is(field, checkText(`tasks.list: ${field}`, given, LONGEST_NAME)))
  }
  if (quarantined !== undefined && quarantined !== true) throw invalid('quarantined must be true')
  if (quarantined) terms.push(is('quarantined', 'true'))
  const given = tags === undefined ? {} : checkTags('tasks.list', tags)
  for (const [name, value] of Object.entries(given)) terms.push(is(`tag.${name}`, value))
  const from = submittedAfter === undefined ? {} : { from: instant('submittedAfter', submittedAfter) + 1 }
  const to = submittedBefore === undefined ? {} : { to: instant('submittedBefore', submittedBefore) - 1 }
  if (submittedAfter || submittedBefore) terms.push({ field: 'submitted', test: { type: 'range', ...from, ...to } })
  return terms
}

function is(field: string, ...texts: string[]): FilterTerm {
  return { field, test: { type: 'is', values: texts.map((text) => ({ text })) } }
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
  return new TriarchError('INVALID_OPTION', `tasks.list: ${problem}`)
}
