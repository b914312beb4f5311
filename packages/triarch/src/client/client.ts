import type { NoSignals, SignalSchemas } from '../definition/signal.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import type { NodeInfo } from '../view/node.ts'
import type { ListOptions } from '../view/query.ts'
import type { Statistics } from '../view/statistics.ts'
import type { TaskPage } from './page.ts'
import type { ResumeOptions } from './resume.ts'
import type { ScheduleHandle, SchedulePage, SchedulesOptions } from './schedule.ts'
import type { TaskOptions } from './submission.ts'
import type { TaskHandle } from './task.ts'

/**
 * What a program can do with tasks that others run: a `Triarch` on the store, or `connect()` of `@triarch/client` over HTTP. Code
 * that takes one works with both.
 * @example
 * const isPaused = async (client: TriarchClient, id: string) =>
 *   (await client.task(id).status()).status === 'paused'
 */
export interface TriarchClient {
  /**
   * Submits a task; once this resolves, it is never lost. The same id submitted twice is the same task (`ifExists`). Throws
   * UNKNOWN_WORKFLOW, INVALID_INPUT, UNSERIALISABLE, PAYLOAD_TOO_LARGE, TASK_EXISTS, LOCK_HELD, PLAN_*.
   * @example const task = await client.submit(fulfil, order, { id: 'o-1', completeBy: '1h' })
   */
  submit<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    input: NoInfer<I>,
    options?: TaskOptions,
  ): Promise<TaskHandle<O, E>>

  /**
   * A task by its id; whether it exists shows at the first use. `workflow`: what it runs, for the types.
   * @example const { receipt } = await client.task('o-1', fulfil).result()
   */
  task<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: WorkflowRef<unknown, O, E>,
  ): TaskHandle<O, E>

  /**
   * Gives a step a signal with this value, by the token it handed out. Throws INVALID_TOKEN, TOKEN_SPENT, TASK_STOPPED,
   * UNKNOWN_TASK, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example await client.resume(token, { paid: true })
   */
  resume(token: string, value?: unknown, options?: ResumeOptions): Promise<void>

  /**
   * A schedule by its name; whether it exists shows at the first use. Throws INVALID_NAME.
   * @example await client.schedule('nightly').register({ workflow: fulfil, input: order, every: '1d' })
   */
  schedule(name: string): ScheduleHandle

  /**
   * Schedules by name, a page at a time. Throws INVALID_OPTION.
   * @example const { schedules, next } = await client.schedules({ limit: 50 })
   */
  schedules(options?: SchedulesOptions): Promise<SchedulePage>

  /**
   * Tasks by a filter or by options, newest first, a page at a time. Throws INVALID_FILTER, INVALID_OPTION.
   * @example const { tasks, next } = await client.list({ filter: 'status:paused age:>2h' })
   */
  list(options?: ListOptions): Promise<TaskPage>

  /**
   * The nodes that live, and where.
   * @example for (const { id, roles, place } of await client.nodes()) console.log(id, roles, place?.host)
   */
  nodes(): Promise<NodeInfo[]>

  /**
   * How much is in the store, and what the process that was asked counted.
   * @example const { ready, work, stale } = await client.statistics()
   */
  statistics(): Promise<Statistics>
}
