import { createHash } from 'node:crypto'
import { TriarchError } from '../error/error.ts'
import type { BatchPolicy, Page, PageItem } from '../kernel/batch/batch.ts'
import type { IfHeld } from '../kernel/lock/lock.ts'
import { positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkInteger, checkOptions } from '../value/options.ts'
import { encode } from '../value/payload.ts'
import { invalid, validateSync } from '../value/schema.ts'
import { checkTags } from '../value/tag.ts'
import type { Items, PageRequest } from './batch.ts'
import type { BatchDefinition, LocalBatchDefinition } from './definition.ts'
import { exclusiveKeys } from './exclusive.ts'
import { toHookOrders } from './hook.ts'
import { checkPriority, policyKeys } from './policy.ts'
import type { StepContext } from './step.ts'
import { checkWorkflow } from './workflow.ts'

const batchKeys = ['workflow', 'items', 'concurrency', 'page', 'tolerate', 'failFast', 'quorum', 'onCancel', 'undo', 'child'] as const // biome-ignore format: one line
/** A page of items may have at most this many times the payload limit. */
const PAGE_PAYLOADS = 64
interface BatchItem {
  input: unknown
  exclusive: { key: string; ifHeld: IfHeld }[]
}

const pages = new WeakSet<object>()

/** The policy of a batch as it is recorded. Throws UNKNOWN_OPTION, INVALID_OPTION, UNKNOWN_WORKFLOW, INVALID_DURATION. */
export function toBatchPolicy(
  what: string,
  definition: Omit<BatchDefinition, 'items'> & { items?: unknown },
): BatchPolicy {
  checkOptions(what, definition, [...batchKeys, ...policyKeys.filter((key) => key !== 'semantics')])
  const { workflow, concurrency, page, tolerate, failFast = true, quorum, onCancel = 'cancel', child = {} } = definition
  checkWorkflow(workflow)
  if (!['cancel', 'detach', 'wait'].includes(onCancel))
    throw new TriarchError('INVALID_OPTION', `${what}: onCancel must be one of cancel, detach, wait`)
  if (typeof failFast !== 'boolean') throw new TriarchError('INVALID_OPTION', `${what}: failFast must be true or false`)
  checkOptions(`${what}: child`, child, ['tags', 'priority', 'taskWithin'])
  const { tags, priority = workflow.definition.priority } = child
  const { taskWithin = workflow.definition.taskWithin } = child
  return {
    workflow: workflow.name,
    version: workflow.version,
    concurrency: checkInteger(`${what}: concurrency`, concurrency ?? 100, 1, 10_000),
    page: checkInteger(`${what}: page`, page ?? 1_000, 1, 10_000),
    tolerate: toTolerance(what, tolerate ?? (quorum === undefined ? 0 : 'any')),
    failFast,
    quorum: quorum === undefined ? null : checkInteger(`${what}: quorum`, quorum, 1, Number.MAX_SAFE_INTEGER),
    onCancel,
    ...(priority !== undefined && { priority: checkPriority(`${what}: child.priority`, priority) }),
    ...(tags && { tags: checkTags(`${what}: child`, tags) }),
    ...(taskWithin !== undefined && {
      completeWithin: positiveMilliseconds(taskWithin, `${what}: child.taskWithin`),
    }),
    ...(workflow.definition.secrets && { secrets: [...workflow.definition.secrets] }),
    ...(workflow.definition.hooks && { hooks: toHookOrders(what, workflow.definition.hooks) }),
  }
}

/** The `run` of a step that returns the pages of a batch. */
export function pageOf(
  what: string,
  { workflow, items, page = 1_000 }: Pick<BatchDefinition<never>, 'workflow' | 'page'> & { items: Source },
): (input: unknown, step: StepContext) => Promise<object> {
  checkFunction(`${what}: items`, items)
  return async (input, step) => {
    const request = { offset: (step.received?.payload as { offset?: number } | undefined)?.offset ?? 0, limit: page }
    const { inputs, last, paged } = await take(what, await items(input as never, request, step), request)
    const schema = workflow.definition.input
    const children = inputs.map((input): BatchItem => {
      const checked = schema && validateSync(schema, input)
      if (checked && checked !== 'async' && 'issues' in checked)
        throw invalid(checked, 'INVALID_INPUT', `input of a child (${workflow.name}) of ${what}`)
      const value = checked && checked !== 'async' ? checked.value : input
      return { input, exclusive: exclusiveKeys(workflow, value, undefined) }
    })
    const found = { offset: request.offset, children, last, paged, secrets: workflow.definition.secrets }
    pages.add(found)
    return found
  }
}

type Source = (input: never, page: PageRequest, step: StepContext) => GivenItems | Promise<GivenItems>
type GivenItems = Items<unknown> | ListPage<unknown>

/** The items of a local batch as a function of the page. */
export function itemsOf<C>(items: LocalBatchDefinition<C>['items']): Source {
  if (typeof items === 'function') return (_, page, step) => items(page, step)
  return (_, { offset, limit }) =>
    Array.isArray(items) ? new ListPage(items.slice(offset, offset + limit), offset + limit >= items.length) : items
}

/** A page taken from a list whose end is known. */
class ListPage<C> {
  readonly inputs: C[]
  readonly last: boolean
  readonly paged = false

  constructor(inputs: C[], last: boolean) {
    this.inputs = inputs
    this.last = last
  }
}

interface BatchChildren {
  offset: number
  children: BatchItem[]
  last: boolean
  /** The source was asked for this page; false: it returned the whole list. */
  paged: boolean
  secrets?: readonly string[]
}

/** Whether the output of an attempt is a page. */
export function isPage(output: unknown): output is BatchChildren {
  return typeof output === 'object' && output !== null && pages.has(output)
}

/** The page as it is recorded. Throws UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS. */
export function toPage({ offset, children, last, paged, secrets }: BatchChildren, limit: number): Page {
  const items = children.map(({ input, exclusive }, n): PageItem => {
    const encoded = encode(input, `input of child ${offset + n}`, limit, secrets)
    return exclusive.length > 0 ? { input: encoded, exclusive } : { input: encoded }
  })
  encode(items, 'a page of a batch', limit * PAGE_PAYLOADS)
  return { offset, items, last, ...(paged && !last && digested(items)) }
}

/** A digest by which a repeated page is recognised. None if all inputs are equal, because pages of equal inputs may well be equal. */
function digested(items: PageItem[]): { digest?: string } {
  const texts = items.map(({ input }) => JSON.stringify(input))
  if (texts.every((text) => text === texts[0])) return {}
  return { digest: createHash('sha256').update(texts.join()).digest('base64url') }
}

async function take<C>(
  what: string,
  items: Items<C> | ListPage<C>,
  { offset, limit }: PageRequest,
): Promise<{ inputs: readonly C[]; last: boolean; paged: boolean }> {
  if (items instanceof ListPage) return items
  if (Array.isArray(items)) {
    const given = items.length
    if (given > limit) {
      const message = `the items of ${what} gave ${given} inputs at once, and ${limit} at most were asked for: give that part, or an iterable of all that there is`
      throw new TriarchError('BATCH_PAGE_INVALID', message, { details: { offset, limit, given } })
    }
    return { inputs: items, last: given < limit, paged: true }
  }
  const inputs: C[] = []
  let at = 0
  for await (const item of items as AsyncIterable<C>) {
    if (at++ < offset) continue
    if (inputs.length === limit) return new ListPage(inputs, false)
    inputs.push(item)
  }
  return new ListPage(inputs, true)
}

function toTolerance(what: string, tolerate: number | string): number | string | null {
  if (tolerate === 'any') return null
  if (typeof tolerate === 'number') return checkInteger(`${what}: tolerate`, tolerate, 0, Number.MAX_SAFE_INTEGER)
  const share = /^(?<percent>\d{1,3}(\.\d+)?)%$/.exec(tolerate)?.groups?.percent
  if (share !== undefined && Number(share) <= 100) return tolerate
  throw new TriarchError('INVALID_OPTION', `${what}: tolerate must be a number, a share such as "5%", or "any"`)
}
