import type { NoSignals, SignalSchemas } from '../definition/signal.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import { TriarchError } from '../error/error.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import { checkTaskId } from '../value/name.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { conditionsOf } from '../view/condition.ts'
import type { TaskExport } from '../view/export.ts'
import { type ListOptions, listedBy } from '../view/query.ts'
import { fitsTrouble } from '../view/trouble.ts'
import { actor } from './act.ts'
import type { Connection } from './connection.ts'
import { StoredTask } from './handle.ts'
import { type ImportOptions, importTask } from './import.ts'
import { countMatching, MOST_MATCHING, matching, type TaskCount, without } from './matching.ts'
import {
  type BulkOperations,
  checkOperationId,
  checkOrder,
  OPERATION,
  type OperationOrder,
  type OperationReport,
  type Operator,
} from './operation.ts'
import { readPage, type TaskPage } from './page.ts'
import { type ResumeOptions, resumeStep } from './resume.ts'
import type { Submitter } from './submitter.ts'
import type { TaskHandle } from './task.ts'
import { type ListChange, type WatchOptions, watchedBy } from './watcher.ts'

/**
 * The tasks.
 * @example
 * const tasks: TaskCollection = triarch.tasks
 * const { status } = await tasks.get('o-1').status()
 */
export interface TaskCollection {
  /**
   * A task by its id; whether it exists is only checked when it is used. `workflow`: its workflow, for the types and its `signals`.
   * @example const { receipt } = await triarch.tasks.get('o-1', fulfil).result()
   */
  get<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: WorkflowRef<unknown, O, E>,
  ): TaskHandle<O, E>

  /**
   * Tasks by a filter or by options, newest first, a page at a time. If too many other tasks have to be inspected, the page is
   * `truncated`, and `next` continues. Throws INVALID_FILTER, INVALID_OPTION.
   * @example
   * const { tasks, next } = await triarch.tasks.list({ filter: 'age:>2h status:paused' })
   * const all = await triarch.tasks.list({ status: 'paused', tags: { customer: 'c-7' } })
   */
  list(options?: ListOptions): Promise<TaskPage>

  /**
   * How many tasks fit the filter, counted up to `most` (1 to 10,000; 10,000). Throws INVALID_FILTER, INVALID_OPTION.
   * @example const { count, truncated } = await triarch.tasks.count({ filter: 'status:paused error:DECLINED' })
   */
  count(options?: { filter?: string; most?: number }): Promise<TaskCount>

  /**
   * A list of tasks now, and its changes: the tasks that match the filter, in its order, at most `limit`. All watches of a process share
   * their polls of the store. Changes in quick succession may be seen as one; those of other processes may take seconds to show. Rejects
   * with the signal's reason; with STORE_* if the store is unreachable, and NODE_STOPPED; over HTTP if the server is unreachable for
   * long. Throws INVALID_FILTER, INVALID_OPTION, INVALID_DURATION.
   * @example
   * for await (const change of triarch.tasks.watch({ filter: 'status:paused' }))
   *   if (change.type === 'task') console.log(change.task.id, change.task.status)
   */
  watch(options?: WatchOptions): AsyncIterableIterator<ListChange>

  /**
   * Sends a signal with this value to a step, by the token that the step handed out; the step runs again as soon as it is suspended.
   * Throws INVALID_TOKEN, TOKEN_SPENT, TASK_STOPPED, UNKNOWN_TASK, INBOX_FULL, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example await triarch.tasks.resume(token, { paid: true })
   */
  resume(token: string, value?: unknown, options?: ResumeOptions): Promise<void>

  /**
   * Imports a task with its history from another store, as exported there by `export({ secrets: true })`, completely or not at all. A
   * task that has not stopped is paused (`paused`), and its attempts under way have unknown outcomes. Importing the same history again is
   * the same task (`isNew`). Its children must be imported first. Locks, and tasks that it waits for, are not imported: the import is
   * refused as long as it needs them. Neither are logs and statistics. Over HTTP its size is limited by that of a body. Throws
   * IMPORT_REFUSED (`details.cause`: history, secrets, locks, predecessors, children), IMPORT_TOO_LARGE (64 MiB), TASK_EXISTS,
   * UNKNOWN_OPTION, INVALID_OPTION, INVALID_NAME, STORE_*.
   * @example
   * const exported = await triarch.tasks.get('o-1').export({ secrets: true })
   * const { isNew } = await triarch.tasks.import(exported, { reason: 'the shop moves' })
   */
  import(exported: TaskExport, options?: ImportOptions): Promise<TaskHandle>

  /**
   * Makes one request to all tasks that match a filter, at most `confirm` of them. The operation is a task, carried out by any node with
   * `operations`, with a child for each of them; its result is a report. The tasks are determined when it begins, and each is asked once.
   * `id`: the same id is the same operation. Throws MORE_THAN_CONFIRMED, INVALID_FILTER, INVALID_OPTION, TASK_EXISTS.
   * @example
   * const filter = 'status:paused'
   * const { count } = await triarch.tasks.count({ filter })
   * const operation = await triarch.tasks.operate({ filter, action: 'retry', confirm: count })
   * const { done, failed } = await operation.result()
   */
  operate(order: OperationOrder, options?: { id?: string }): Promise<TaskHandle<OperationReport>>
}

interface TasksDeps {
  connection: Connection
  signing: SigningKeys
  operations: () => BulkOperations
  /** Throws unless tasks can be submitted now. */
  admit: () => Promise<void>
  submitter: Submitter
}

/** The tasks in the store. */
export class StoredTasks implements TaskCollection {
  readonly #connection: Connection
  readonly #means: TasksDeps

  constructor(means: TasksDeps) {
    this.#connection = means.connection
    this.#means = means
  }

  get<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: WorkflowRef<unknown, O, E>,
  ): TaskHandle<O, E> {
    const known = workflow === undefined ? undefined : this.#connection.registry.resolve(workflow as WorkflowRef)
    return new StoredTask<O, E>(this.#connection, checkTaskId(id), known)
  }

  async list(options: ListOptions = {}): Promise<TaskPage> {
    const { filter, page } = listedBy(options)
    await this.#connection.opened()
    const { where, rest } = conditionsOf(filter, this.#connection.environment.now())
    const query = { where, ...page, order: filter.order ?? 'newest', copy: true }
    return readPage(this.#connection, query, rest.length > 0 ? (row) => fitsTrouble(row, rest) : undefined)
  }

  async count(options: { filter?: string; most?: number } = {}): Promise<TaskCount> {
    checkOptions('tasks.count', options, ['filter', 'most'])
    const { filter = '', most = MOST_MATCHING } = options
    checkInteger('tasks.count: most', most, 1, MOST_MATCHING)
    await this.#connection.opened()
    return countMatching(rowsOf(this.#connection), filter, most, true)
  }

  async *watch(options: WatchOptions = {}): AsyncIterableIterator<ListChange> {
    const { filter, limit, quiet } = watchedBy('tasks.watch', options)
    await this.#connection.opened()
    const watcher = await this.#connection.live.watchList(filter, limit)
    yield* watcher.changes(quiet, options.signal) as AsyncIterableIterator<ListChange>
  }

  async resume(token: string, value: unknown = null, options: ResumeOptions = {}): Promise<void> {
    await resumeStep(this.#connection, this.#means.signing, token, value, options)
  }

  async import(exported: TaskExport, options: ImportOptions = {}): Promise<TaskHandle> {
    await this.#means.admit()
    const isNew = await importTask(this.#connection, exported, options)
    this.#connection.posted()
    return new StoredTask(this.#connection, exported.task, undefined, { isNew })
  }

  async operate(order: OperationOrder, options: { id?: string } = {}): Promise<TaskHandle<OperationReport>> {
    checkOptions('tasks.operate', options, ['id'])
    const { action, confirm, filter } = checkOrder(order)
    const { id } = options
    await this.#connection.opened()
    // An existing operation was counted before, and may have changed which tasks match.
    if (id === undefined || (await this.#connection.store.task(checkOperationId(id))) === null) {
      const found = await countMatching(rowsOf(this.#connection), without(filter, OPERATION), confirm + 1)
      if (found.count > confirm)
        throw new TriarchError('MORE_THAN_CONFIRMED', `tasks.operate: more than ${confirm} tasks fit the filter`)
    }
    const given = { ...(id !== undefined && { id: checkOperationId(id) }), tags: { triarch: 'operation', action } }
    const by = actor()
    const named = order.actor === undefined && by !== undefined ? { ...order, actor: by } : order
    return this.#means.submitter.submit(this.#means.operations().operation, named, given)
  }
}

/** What operations need to be carried out. */
export function operatorOf(connection: Connection): Operator {
  return {
    matching: (query) => matching(rowsOf(connection), query),
    task: (id) => new StoredTask(connection, checkTaskId(id)),
  }
}

function rowsOf({ store, environment }: Connection) {
  return { store, now: () => environment.now() }
}
