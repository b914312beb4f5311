import type { AlertSinkTrial } from '../alert/sink.ts'
import type { Action } from '../definition/definition.ts'
import type { Setting } from '../definition/setting.ts'
import type { NoSignals, SignalSchemas } from '../definition/signal.ts'
import type { WorkflowRef } from '../definition/workflow-ref.ts'
import type { ProbePage, ProbesOptions } from '../health/endpoint.ts'
import type { HealthReport, HealthRequest } from '../health/health.ts'
import type { Invalidation } from '../value/invalidation.ts'
import type { Demand, DemandOptions } from '../view/demand.ts'
import type { TaskExport } from '../view/export.ts'
import type { Figures, FiguresQuery, RecountOptions } from '../view/figures.ts'
import type { AgentPage, LockPage, NamedPage, WorkflowPage } from '../view/inventory.ts'
import type { LeaderPage } from '../view/leader.ts'
import type { NodeInfo } from '../view/node.ts'
import type { ListOptions } from '../view/query.ts'
import type { Statistics } from '../view/statistics.ts'
import type { AlertHandle, AlertPage, AlertsOptions, AlertTestOptions } from './alert.ts'
import type { AuditOptions, AuditPage } from './audit.ts'
import type { BreakerHandle, BreakerPage, BreakersOptions } from './breaker.ts'
import type { ImportOptions } from './import.ts'
import type { KeyHandle, KeyPage, KeysOptions } from './key.ts'
import type { SubmitResult, TaskEntry } from './many.ts'
import type { TaskCount } from './matching.ts'
import type { OperationOrder, OperationReport } from './operation.ts'
import type { TaskPage } from './page.ts'
import type { RateLimitHandle, RateLimitPage, RateLimitsOptions } from './rate-limit.ts'
import type { ResumeOptions } from './resume.ts'
import type { ScheduleHandle, SchedulePage, SchedulesOptions } from './schedule.ts'
import type { RotatedSecret, SecretRotateOptions } from './secret.ts'
import type { SettingHandle, SettingPage, SettingsOptions } from './setting.ts'
import type { TaskOptions } from './submission.ts'
import type { TaskHandle } from './task.ts'
import type { CountsChange, ListChange, WatchOptions } from './watcher.ts'

/**
 * What a program can do with tasks that others run: a `Triarch` on the store, or `connect()` of `@triarch/client` over HTTP. Code that
 * takes a `TriarchClient` works with both.
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
   * A task by its id; whether it exists is only checked when it is used. `workflow`: its workflow, for the types.
   * @example const { receipt } = await client.task('o-1', fulfil).result()
   */
  task<O = unknown, E extends SignalSchemas = NoSignals>(
    id: string,
    workflow?: WorkflowRef<unknown, O, E>,
  ): TaskHandle<O, E>

  /**
   * Sends a signal with this value to a step, by the token that the step handed out. Throws INVALID_TOKEN, TOKEN_SPENT, TASK_STOPPED,
   * UNKNOWN_TASK, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example await client.resume(token, { paid: true })
   */
  resume(token: string, value?: unknown, options?: ResumeOptions): Promise<void>

  /**
   * Imports a task with its history from another store, as exported there by `export({ secrets: true })`, completely or not at all. A
   * task that has not stopped is paused (`paused`). Importing the same history again is the same task (`isNew`). Over HTTP its size is
   * limited by that of a body. Throws IMPORT_REFUSED (`details.cause`), IMPORT_TOO_LARGE, TASK_EXISTS, INVALID_OPTION, INVALID_NAME.
   * @example
   * const task = await client.import(exported, { reason: 'the shop moves' })
   * console.log(task.isNew)
   */
  import(exported: TaskExport, options?: ImportOptions): Promise<TaskHandle>

  /**
   * A schedule by its name; whether it exists is only checked when it is used. Throws INVALID_NAME.
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
   * A circuit breaker by its name (its agent, or `agent#key`); whether it exists is only checked when it is used. Throws INVALID_OPTION.
   * @example await client.breaker('payments').open({ reason: 'maintenance of the bank' })
   */
  breaker(name: string): BreakerHandle

  /**
   * Circuit breakers by name, a page at a time. For an agent with keys, only keys that ever failed are listed. Throws INVALID_OPTION.
   * @example
   * const { breakers } = await client.breakers()
   * for (const { name, state, waiting } of breakers) console.log(name, state, waiting)
   */
  breakers(options?: BreakersOptions): Promise<BreakerPage>

  /**
   * An alert by its name (`rule:subject`); whether it exists is only checked when it is used. Throws INVALID_OPTION.
   * @example await client.alert('no-agent:mail').acknowledge({ reason: 'I look', actor: 'ada' })
   */
  alert(name: string): AlertHandle

  /**
   * Alerts by name, a page at a time: those that have not ended, or with `ended` those that have. None if no supervisor watches. Throws
   * INVALID_OPTION.
   * @example
   * const { alerts } = await client.alerts()
   * for (const { name, phase, message } of alerts) console.log(name, phase, message)
   */
  alerts(options?: AlertsOptions): Promise<AlertPage>

  /**
   * Sends a test notification to one sink of the answering process, or to all of them, at any hour, and returns the result of each; none
   * if that process watches nothing. Kept in the audit. Throws UNKNOWN_OPTION, INVALID_OPTION (also if there is no sink of that name).
   * @example
   * for (const { sink, ok, problem } of await client.testAlert()) console.log(sink, ok, problem)
   */
  testAlert(options?: AlertTestOptions): Promise<AlertSinkTrial[]>

  /**
   * A rate limit by its name: that of its agent or `agent.action`, with `#key` that of one key; whether it exists is only checked when it
   * is used. Throws INVALID_OPTION.
   * @example await client.rateLimit('payments').lift({ reason: 'the bank has no limit tonight' })
   */
  rateLimit(name: string): RateLimitHandle

  /**
   * Rate limits by name, a page at a time: those that nodes know; of limits with keys, the keys in use. Throws INVALID_OPTION.
   * @example
   * const { rateLimits } = await client.rateLimits()
   * for (const { name, limit, per, waiting } of rateLimits) console.log(name, limit, per, waiting)
   */
  rateLimits(options?: RateLimitsOptions): Promise<RateLimitPage>

  /**
   * A setting, by its definition or its name; whether it exists is only checked when it is used. Changing it requires that the answering
   * process knows its definition. Throws INVALID_OPTION, INVALID_NAME.
   * @example
   * const handle = client.setting('triarch.agent.payments')
   * await handle.change({ paused: 'the bank is down' }, { reason: 'incident 12' })
   */
  setting<T = unknown>(of: string | Setting<T>): SettingHandle<T>

  /**
   * Settings by name, a page at a time: those that were ever changed, and those that the answering process knows. Throws INVALID_OPTION.
   * @example
   * const { settings } = await client.settings()
   * for (const { name, live, drift } of settings) console.log(name, live?.value, drift)
   */
  settings(options?: SettingsOptions): Promise<SettingPage>

  /**
   * How many tasks fit the filter, counted up to `most` (1 to 10,000; 10,000). Throws INVALID_FILTER, INVALID_OPTION.
   * @example const { count, truncated } = await client.count({ filter: 'status:paused error:DECLINED' })
   */
  count(options?: { filter?: string; most?: number }): Promise<TaskCount>

  /**
   * Makes one request to all tasks that match a filter, at most `confirm` of them. The operation is a task of its own, whose result is a
   * report. `id`: the same id is the same operation. Throws MORE_THAN_CONFIRMED, INVALID_FILTER, INVALID_OPTION, TASK_EXISTS.
   * @example
   * const operation = await client.operate({ filter: 'status:paused', action: 'retry', confirm: 120 })
   * const { done, failed } = await operation.result()
   */
  operate(order: OperationOrder, options?: { id?: string }): Promise<TaskHandle<OperationReport>>

  /**
   * The audit, latest entry first, a page at a time: who did what, on what, when and why. Throws INVALID_OPTION.
   * @example
   * const { entries } = await client.audit({ subject: 'task:o-1' })
   * for (const { at, actor, action, reason } of entries) console.log(at, actor, action, reason)
   */
  audit(options?: AuditOptions): Promise<AuditPage>

  /**
   * An API key by its name; whether it exists is only checked when it is used. Throws INVALID_NAME.
   * @example const { secret } = await client.key('billing').create({ rights: ['read'], expiresIn: '90d' })
   */
  key(name: string): KeyHandle

  /**
   * API keys by name, a page at a time, including those that have ended; never their secrets. Throws INVALID_OPTION.
   * @example
   * const { keys } = await client.keys()
   * for (const { name, status, rights, usedAt } of keys) console.log(name, status, rights, usedAt)
   */
  keys(options?: KeysOptions): Promise<KeyPage>

  /**
   * Invalidates cached answers on all nodes: that of an action for a key, all of an action (also by its name), or all with a tag. Once
   * this resolves, no answer requested before is given. Throws UNKNOWN_ACTION, UNKNOWN_OPTION, INVALID_OPTION.
   * @example await client.invalidate('bank.rate', 'EUR')
   */
  invalidate(what: Pick<Action, 'key'> | string | Invalidation, ...key: [key?: unknown]): Promise<void>

  /**
   * A list of tasks now, and its changes: the tasks that match the filter, in its order, at most `limit`. Changes in quick succession may
   * be seen as one. Rejects with the signal's reason, or if the store or the server is unreachable for long. Throws INVALID_FILTER,
   * INVALID_OPTION, INVALID_DURATION.
   * @example
   * for await (const change of client.watch({ filter: 'status:paused' }))
   *   if (change.type === 'task') console.log(change.task.id, change.task.status)
   */
  watch(options?: WatchOptions): AsyncIterableIterator<ListChange>

  /**
   * Counts of what is in the store, now and after each change seen. Otherwise as `watch`.
   * @example for await (const change of client.watchStatistics({ quiet: '15s' })) console.log(change.type)
   */
  watchStatistics(options?: Pick<WatchOptions, 'quiet' | 'signal'>): AsyncIterableIterator<CountsChange>

  /**
   * Workflows by name, with their versions and the living nodes that run each, a page at a time. Throws INVALID_OPTION.
   * @example
   * const { workflows } = await client.workflows()
   * for (const { name, versions } of workflows) console.log(name, versions.length)
   */
  workflows(options?: NamedPage): Promise<WorkflowPage>

  /**
   * Agents by name, with their actions, the living nodes that run them, and what waits for them, a page at a time. Throws INVALID_OPTION.
   * @example for (const { name, queue } of (await client.agents()).agents) console.log(name, queue.depth)
   */
  agents(options?: NamedPage): Promise<AgentPage>

  /**
   * Locks held by tasks, by name: the holder of each, since when, and the tasks that wait for it, a page at a time. Throws
   * INVALID_OPTION.
   * @example for (const { name, holder } of (await client.locks()).locks) console.log(name, holder)
   */
  locks(options?: NamedPage): Promise<LockPage>

  /**
   * Leaderships by name, present and past: the leading node, and the token; a page at a time. Throws INVALID_OPTION.
   * @example for (const { name, node } of (await client.leaders()).leaders) console.log(name, node ?? 'nobody')
   */
  leaders(options?: NamedPage): Promise<LeaderPage>

  /**
   * The living nodes, and where they run.
   * @example for (const { id, roles, place } of await client.nodes()) console.log(id, roles, place?.host)
   */
  nodes(): Promise<NodeInfo[]>

  /**
   * How many processes the waiting and running work needs, for each agent and each version of a workflow: the input of an autoscaler.
   * Throws INVALID_OPTION, INVALID_DURATION, UNKNOWN_OPTION.
   * @example
   * const { agents } = await client.demand({ within: '10s' })
   * for (const { agent, has, wanted } of agents) console.log(agent, has.processes, wanted.processes)
   */
  demand(options?: DemandOptions): Promise<Demand>

  /**
   * Counts of what is in the store, and the counters of the answering process.
   * @example const { ready, work, stale } = await client.statistics()
   */
  statistics(): Promise<Statistics>
  /**
   * Hourly counts of histories, if a supervisor has `statistics` on: how often tasks, steps and attempts ended in which way, how long
   * they took, and how far behind the counting is. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { rows, behind } = await client.statistics({ by: ['workflow', 'outcome'], kind: 'task' })
   * for (const { workflow, outcome, count, p95 } of rows) console.log(workflow, outcome, count, p95, behind)
   */
  statistics(query: FiguresQuery): Promise<Figures>

  /**
   * Deletes all counts: the supervisor gradually counts anew from the histories that still exist; `statistics` says how far it has come.
   * Kept in the audit. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example await client.recount({ reason: 'tenants are told by another tag now' })
   */
  recount(options?: RecountOptions): Promise<void>

  /**
   * Rotates the secret that signs resume tokens and the tickets of connected agents; all nodes use the new one within a minute. What was
   * signed before is accepted for `overlap`. Kept in the audit. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION.
   * @example await client.rotateSecret({ reason: 'every quarter', overlap: '90d' })
   */
  rotateSecret(options: SecretRotateOptions): Promise<RotatedSecret>

  /**
   * The health of the answering engine: the result of each check. It does not reject because of what a check finds. Throws
   * INVALID_OPTION.
   * @example const { status, checks } = await client.health()
   */
  health(request?: HealthRequest): Promise<HealthReport>

  /**
   * Endpoints as a prober (`createProber` of `@triarch/server`) has stored them, by name, a page at a time; none if no prober stores its
   * results. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { endpoints } = await client.probes()
   * for (const { name, state, last } of endpoints) console.log(name, state, last?.problem?.message)
   */
  probes(options?: ProbesOptions): Promise<ProbePage>
}
