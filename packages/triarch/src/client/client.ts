import type { SignalSchemas } from '../definition/signal.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import type { AlertCollection } from './alert.ts'
import type { AuditCollection } from './audit.ts'
import type { BreakerCollection } from './breaker.ts'
import type { CacheCollection } from './caches.ts'
import type { HealthCollection } from './health.ts'
import type { AgentCollection, LockCollection, NodeCollection, WorkflowCollection } from './inventory.ts'
import type { KeyCollection } from './key.ts'
import type { LeaderCollection } from './leaders.ts'
import type { SubmitResult, TaskEntry } from './many.ts'
import type { RateLimitCollection } from './rate-limit.ts'
import type { ScheduleCollection } from './schedule.ts'
import type { SettingCollection } from './setting.ts'
import type { StatisticsCollection } from './statistics.ts'
import type { TaskOptions } from './submission.ts'
import type { TaskHandle } from './task.ts'
import type { TaskCollection } from './tasks.ts'

/**
 * What a program can do with tasks that others run: a `Triarch` on the store, or `connect()` of `@triarch/client` over HTTP. Code that
 * takes a `TriarchClient` works with both.
 * @example
 * const isPaused = async (client: TriarchClient, id: string) =>
 *   (await client.tasks.get(id).status()).status === 'paused'
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
   * Submits each task of a list separately and returns the result of each, in the order of the list; a task that cannot be submitted does
   * not keep others from being submitted. Throws INVALID_OPTION, UNKNOWN_WORKFLOW.
   * @example
   * const entries = [1, 2, 3].map((amount) => ({ input: { id: `o-${amount}`, amount } }))
   * const results = await client.submitMany(fulfil, entries)
   */
  submitMany<I, O, E extends SignalSchemas>(
    workflow: WorkflowRef<I, O, E>,
    entries: Iterable<TaskEntry<NoInfer<I>>>,
  ): Promise<SubmitResult<O, E>[]>

  /**
   * The tasks.
   * @example const { tasks } = await client.tasks.list({ filter: 'status:paused' })
   */
  readonly tasks: TaskCollection

  /**
   * The schedules.
   * @example await client.schedules.get('nightly').pause({ reason: 'stock-taking' })
   */
  readonly schedules: ScheduleCollection

  /**
   * The circuit breakers.
   * @example await client.breakers.get('payments').open({ reason: 'maintenance of the bank' })
   */
  readonly breakers: BreakerCollection

  /**
   * The rate limits.
   * @example await client.rateLimits.get('payments').lift({ reason: 'the bank has no limit tonight' })
   */
  readonly rateLimits: RateLimitCollection

  /**
   * The settings.
   * @example await client.settings.get('payments.limits').rollback({ reason: 'too many refusals' })
   */
  readonly settings: SettingCollection

  /**
   * The alerts.
   * @example await client.alerts.get('no-agent:mail').acknowledge({ reason: 'I look' })
   */
  readonly alerts: AlertCollection

  /**
   * The API keys, and the secret that signs tokens.
   * @example const { secret } = await client.keys.get('billing').create({ rights: ['read'] })
   */
  readonly keys: KeyCollection

  /**
   * The workflows that nodes run.
   * @example const { workflows } = await client.workflows.list()
   */
  readonly workflows: WorkflowCollection

  /**
   * The agents.
   * @example const { agents } = await client.agents.list()
   */
  readonly agents: AgentCollection

  /**
   * The locks that tasks hold.
   * @example const { locks } = await client.locks.list()
   */
  readonly locks: LockCollection

  /**
   * The leaderships.
   * @example const { leaders } = await client.leaders.list()
   */
  readonly leaders: LeaderCollection

  /**
   * The nodes, and how many are needed.
   * @example for (const { id, roles } of await client.nodes.list()) console.log(id, roles)
   */
  readonly nodes: NodeCollection

  /**
   * The audit: who did what, on what, when and why.
   * @example const { entries } = await client.audit.list({ subject: 'task:o-1' })
   */
  readonly audit: AuditCollection

  /**
   * Counts of what is in the store, and of what happened.
   * @example const { ready, work } = await client.statistics.get()
   */
  readonly statistics: StatisticsCollection

  /**
   * The cached answers of actions.
   * @example await client.caches.invalidate({ tag: 'customer:7' })
   */
  readonly caches: CacheCollection

  /**
   * The health of the engine, and of the endpoints that a prober watches.
   * @example const { status } = await client.health.check()
   */
  readonly health: HealthCollection
}
