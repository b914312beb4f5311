import { agent } from '../definition/agent.ts'
import { type ControlOptions, checkControl } from '../definition/control.ts'
import type { Agent, Workflow } from '../definition/definition.ts'
import { workflow } from '../definition/workflow.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { PermanentError } from '../error/step-error.ts'
import { checkLabel, checkNewTaskId } from '../value/name.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { actingAs } from './act.ts'
import { type Matching, MOST_MATCHING, without } from './matching.ts'
import type { TaskHandle } from './task.ts'
import { isPassing } from './waiting.ts'

/**
 * What an operation requests of each of its tasks.
 * @example const action: OperationAction = 'cancel'
 */
export type OperationAction = 'cancel' | 'pause' | 'resume' | 'retry' | 'compensate' | 'thaw' | 'signal'

/**
 * One control for all tasks that fit a filter.
 * @example
 * const order: OperationOrder = {
 *   filter: 'status:paused error:DECLINED',
 *   action: 'retry',
 *   confirm: 120,
 *   reason: 'the bank is back',
 * }
 */
export interface OperationOrder extends ControlOptions {
  /** The tasks, in the filter language (docs/reference/filter.md). Operations themselves are never included. */
  filter: string
  /** What is requested of each task. */
  action: OperationAction
  /** The options of the control (`{ compensate: false }`), or `{ name, payload }` of a signal; none by default. */
  options?: Readonly<Record<string, unknown>>
  /** Most tasks: 1 to 10,000. If more fit, the order is refused with MORE_THAN_CONFIRMED. */
  confirm: number
}

/**
 * The result of an operation: the output of its task.
 * @example const { done, failed }: OperationReport = await (await triarch.tasks.operate(operation)).result()
 */
export interface OperationReport extends OperationOrder {
  /** Tasks that matched when it began. */
  matched: number
  /** Tasks that accepted the request. */
  done: number
  /** Tasks that did not, for example because they had stopped; each child of the operation's task says why. */
  failed: number
}

/** The workflow of operations, and the prefix of the names of its workflows. */
export const OPERATION = 'triarch-operation'
const actions: readonly OperationAction[] = ['cancel', 'pause', 'resume', 'retry', 'compensate', 'thaw', 'signal']
const keys = ['filter', 'action', 'options', 'confirm', 'reason', 'actor'] as const
const LONGEST_ID = 180
/** Most ids found by one step. */
const PAGE = 1_000
/** Tasks asked at a time. */
const CONCURRENCY = 20

/** What the engine provides to carry operations out. */
export interface Operator {
  matching(query: { filter: string; after?: number; limit: number }): Promise<Matching>
  task(id: string): TaskHandle
}

export interface BulkOperations {
  operation: Workflow<OperationOrder, OperationReport>
  workflows: Workflow[]
  agents: Agent[]
}

interface Target {
  target: string
  operation: string
  order: OperationOrder
}

/** Checks the order. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_FILTER. */
export function checkOrder(order: OperationOrder): OperationOrder {
  checkOptions('tasks.operate', order, keys)
  const { filter, action, options, confirm, reason, actor } = order
  if (!actions.includes(action)) throw invalid(`action must be one of ${actions.join(', ')}`)
  if (options !== undefined && (typeof options !== 'object' || options === null || Array.isArray(options)))
    throw invalid('options must be an object')
  const { name } = options ?? {}
  if (action === 'signal') checkLabel('a signal', name)
  checkInteger('tasks.operate: confirm', confirm, 1, MOST_MATCHING)
  checkControl('tasks.operate', { ...(reason !== undefined && { reason }), ...(actor !== undefined && { actor }) })
  without(filter, OPERATION)
  return order
}

/** Checks an id, which becomes part of the key of each request. Throws INVALID_NAME. */
export function checkOperationId(id: string): string {
  if (typeof id === 'string' && id.length > LONGEST_ID)
    throw new TriarchError('INVALID_NAME', `the id of an operation has at most ${LONGEST_ID} characters`)
  return checkNewTaskId(id)
}

/** The workflows and the agent that carry operations out. */
export function operationsOf(operator: () => Operator): BulkOperations {
  const hands = agent(OPERATION, { concurrency: CONCURRENCY })
  const find = hands.action('find', {
    run: async ({ filter, after, limit }: { filter: string; after: number | null; limit: number }) => {
      const { ids, next = null } = await operator().matching({ filter, limit, ...(after !== null && { after }) })
      return { ids, next }
    },
    rescue: 'fail',
  })
  const ask = hands.action('ask', {
    secrets: ['order.options.payload'],
    run: async ({ target, operation, order }: Target) => {
      // Repeated after a crash, it is the same request, which a task takes only once.
      const task = operator().task(target).once(`operation ${operation}`)
      try {
        await actingAs({ request: `operation ${operation}` }, () => asked(task, order))
      } catch (error) {
        if (!isTriarchError(error) || isPassing(error)) throw error
        throw Object.assign(new PermanentError(error.message, { cause: error }), { code: error.code })
      }
      return null
    },
    rescue: 'fail',
  })
  const each = workflow(`${OPERATION}-target`, {
    rescue: 'fail',
    secrets: ['order.options.payload'],
    run: (target: Target, task) => task.run(ask, target),
  })
  const operation = workflow(OPERATION, {
    rescue: 'fail',
    // What a task marks as secret is not known here, so no payload of a signal is shown.
    secrets: ['options.payload'],
    run: async (order: OperationOrder, task): Promise<OperationReport> => {
      task.progress(order)
      const filter = without(order.filter, OPERATION)
      const ids: string[] = []
      // The tasks are determined before anything is requested of the first.
      for (let after: number | null = null; ; ) {
        const limit = Math.min(PAGE, order.confirm - ids.length)
        const page: { ids: string[]; next: number | null } = await task.run(find, { filter, after, limit })
        ids.push(...page.ids)
        after = page.next
        if (after === null || ids.length >= order.confirm) break
      }
      const report = { ...order, matched: ids.length }
      task.progress(report)
      if (ids.length === 0) return { ...report, done: 0, failed: 0 }
      const { success, failed } = await task.batch('targets', {
        workflow: each,
        items: ids.map((target) => ({ target, operation: task.id, order })),
        ...{ concurrency: CONCURRENCY, tolerate: 'any', undo: false },
      })
      return { ...report, done: success, failed }
    },
  })
  return { operation, workflows: [operation as unknown as Workflow, each as unknown as Workflow], agents: [hands] }
}

async function asked(task: TaskHandle, { action, options = {}, reason, actor }: OperationOrder): Promise<void> {
  const said = { ...(reason !== undefined && { reason }), ...(actor !== undefined && { actor }) }
  switch (action) {
    case 'cancel':
      return task.cancel({ ...options, ...said })
    case 'pause':
      return task.pause({ ...options, ...said })
    case 'resume':
      return task.resume({ ...options, ...said })
    case 'retry':
      return task.retry({ ...options, ...said })
    case 'compensate':
      return task.compensate({ ...options, ...said })
    case 'thaw': {
      const { startAt, ...rest } = options
      return task.thaw({ ...rest, ...said, ...(startAt !== undefined && { startAt: new Date(String(startAt)) }) })
    }
    case 'signal': {
      const { name, payload = null } = options
      return (task as TaskHandle<unknown, never>).signal(name as never, ...([payload, said] as never))
    }
  }
}

function invalid(problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `tasks.operate: ${problem}`)
}
