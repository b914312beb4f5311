import type { ControlOptions } from '../definition/control.ts'
import type { NoSignals, SignalName, SignalPayload, SignalSchemas } from '../definition/signal.ts'
import type { PlanView } from '../planning/preview.ts'
import type { Duration } from '../value/duration.ts'
import type { HistoryEntry } from '../view/event.ts'
import type { ExportOptions, RecordRange, TaskExport } from '../view/export.ts'
import type { LogLine } from '../view/log.ts'
import type { TaskMoment } from '../view/moment.ts'
import type { Explanation } from '../view/reason.ts'
import type { TaskDetails, TaskInfo } from '../view/status.ts'
import type { StepRange, StepView } from '../view/steps.ts'
import type { ChildrenOptions } from './children.ts'
import type { LogOptions, LogPage } from './log.ts'
import type { TaskPage } from './page.ts'

/**
 * How long to wait for a result.
 * @example const { receipt } = await task.result({ timeout: '30s', signal: AbortSignal.timeout(10_000) })
 */
export interface WaitOptions {
  /** Rejects with WAIT_TIMEOUT after this long; the task goes on. */
  timeout?: Duration
  /** Ends the wait, with its reason; the task goes on. */
  signal?: AbortSignal
}

/**
 * A task seen from outside: its state, its result, and what an operator can do with it. What is asked of it is durable
 * when the call resolves; it happens when a scheduler takes it up.
 * @example
 * const task = await triarch.submit(fulfil, { id: 'o-1', amount: 10 })
 * const { receipt } = await task.result()
 */
export interface TaskHandle<O = unknown, E extends SignalSchemas = NoSignals> {
  /** The id of the task. */
  readonly id: string
  /** Of a submission: whether it made the task, which else was there already. Undefined where the task was asked for by its id. */
  readonly isNew: boolean | undefined

  /**
   * The same task, of which each thing is asked once under this key, however often it is: for callers that cannot know whether a call
   * of theirs was heard, such as a webhook that comes again. What was taken before changes nothing, and is no error; another control,
   * signal or step under the same key is another request, and the same one with other values is refused with REQUEST_DIFFERS, but for a key that begins
   * with `~`, which says that it was made for this one call. Looks into the task's inbox and history. A task knows its last 100 again. 1 to 200 characters. Throws INVALID_NAME.
   * @example await task.once('hook-4711').signal('paid', { amount: 10 })
   */
  once(key: string): TaskHandle<O, E>

  /**
   * The task now, and how far its steps are. Reads the history of a task that is open. Throws UNKNOWN_TASK.
   * @example const { status, steps } = await task.status()
   */
  status(): Promise<TaskDetails>

  /**
   * Why the task is not moving: what it waits for, in words and as data. Throws UNKNOWN_TASK.
   * @example const { text, reasons } = await task.explain()
   */
  explain(): Promise<Explanation>

  /**
   * The output, once the task stopped. Rejects with the TaskError that tells how else it ended.
   * @example const { receipt } = await task.result({ timeout: '30s' })
   */
  result(options?: WaitOptions): Promise<O>

  /**
   * Every step of the task, or those of a range, in the order of their numbers: what it is about, how far it is, what may help. Nothing secret is
   * in it. Throws UNKNOWN_TASK, INVALID_OPTION.
   * @example for (const { name, status, summary } of await task.steps()) console.log(name, status, summary)
   */
  steps(options?: StepRange): Promise<StepView[]>

  /**
   * Every record of the history, or those of a range, oldest first, without what is marked as secret. Throws UNKNOWN_TASK, INVALID_OPTION.
   * @example for (const { at, events } of await task.history()) console.log(at, events.map(({ type }) => type))
   */
  history(options?: RecordRange): Promise<HistoryEntry[]>

  /**
   * The task as it was when a record of its history had just been written: its state, its steps, and what that record changed. Of the last
   * record, unless `seq` says another. Reads the run that the record belongs to, of however many there are; summaries and hints are what
   * the code of today says. With a range, `steps` has those of it. Throws UNKNOWN_TASK, UNKNOWN_RECORD, INVALID_OPTION.
   * @example const { status, steps, events } = await task.moment(7)
   */
  moment(seq?: number, options?: StepRange): Promise<TaskMoment>

  /**
   * The history as stores keep it, for a file and for `replayHistory` of `triarch/testing`: later versions read it, too. Without what is
   * marked as secret, unless `secrets` is given where the store is: import() takes no other history that has any. To look at what happened,
   * use history(). Throws UNKNOWN_TASK, INVALID_OPTION (over HTTP with `secrets`).
   * @example const file = JSON.stringify(await task.export())
   */
  export(options?: ExportOptions): Promise<TaskExport>

  /**
   * The task's plan and how far each step is; null for a function, and before it is planned.
   * @example const done = (await task.plan())?.steps.filter(({ standing }) => standing === 'done')
   */
  plan(): Promise<PlanView | null>

  /**
   * Its children in the order in which they were created, a page at a time: all, or those of one step (a batch's come by
   * ordinal). Reads no history.
   * @example const { tasks, next } = await task.children({ status: 'running' })
   */
  children(options?: ChildrenOptions): Promise<TaskPage>

  /**
   * What its steps and its code wrote into its log (`step.log`, `task.log`), the oldest line first, a page at a time; without what is marked
   * as secret. A line can be read a second after it was written. Throws UNKNOWN_TASK, UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { lines } = await task.logs({ step: 2, level: 'warn' })
   * for (const { at, level, message, fields } of lines) console.log(at, level, message, fields)
   */
  logs(options?: LogOptions): Promise<LogPage>

  /**
   * The same lines, and those that come, until the task has stopped; then within some seconds. Ends with the signal's reason. As
   * `logs`; UNKNOWN_TASK also where the task is deleted meanwhile.
   * @example
   * const lines = task.watchLogs({ level: 'info' })
   * for await (const { level, message } of lines) console.log(level, message)
   */
  watchLogs(options?: LogOptions & { signal?: AbortSignal }): AsyncIterableIterator<LogLine>

  /**
   * The task's state now and after each change seen, until it stops. Changes in quick succession may be seen as one.
   * @example for await (const { status, progress } of task.watch()) console.log(status, progress)
   */
  watch(options?: { signal?: AbortSignal }): AsyncIterableIterator<TaskInfo>

  /**
   * Stops the task: no new step starts, running ones are aborted and awaited, what is done is undone unless `compensate`
   * is false. `force` waits for nothing and undoes nothing; of a task in quarantine that had stopped it ends the quarantine, and
   * gives up what was asked of the task since. Throws TASK_STOPPED, INVALID_OPTION.
   * @example await task.cancel({ reason: 'the customer changed their mind', actor: 'ada@example.com' })
   */
  cancel(options?: ControlOptions & { compensate?: boolean; force?: boolean }): Promise<void>

  /**
   * No new step starts until resume(). Running ones finish. `reason` and `actor` are shown in status().pause, too.
   * Throws TASK_STOPPED, INVALID_OPTION.
   * @example await task.pause({ reason: 'stock-taking' })
   */
  pause(options?: ControlOptions): Promise<void>

  /**
   * A task that was submitted frozen may begin, now or at `startAt`. Throws ILLEGAL_MOVE, INVALID_OPTION.
   * @example await task.thaw({ startAt: new Date('2026-12-24T18:00:00Z') })
   */
  thaw(options?: ControlOptions & { startAt?: Date }): Promise<void>

  /**
   * Goes on; steps that wait for an operator are tried again. Of a task in quarantine whose history has records that are missing
   * or cannot be read, `after` names its last whole record (explain() says it): what comes after that is given up, and what it did
   * then may be done again. One in quarantine that had stopped is tried once more with what was asked of it; its history does not say who wanted that.
   * Throws TASK_NOT_PAUSED, ILLEGAL_MOVE, INVALID_OPTION.
   * @example await task.resume()
   */
  resume(options?: ControlOptions & { after?: number }): Promise<void>

  /**
   * Tries again: a paused task its held steps (or just `step`, at once, while the others wait on), a stopped one from its failed step (or from `step`; all
   * that came after it is made anew). A task that was undone starts over. A `step` that waits for the instant of its next attempt, whatever its
   * task is at, makes it now. `input` replaces the step's input, or the
   * task's when the whole task starts over; of several held steps, `step` says whose it is. Throws ILLEGAL_MOVE,
   * also where there is no such step, or it neither is held nor waits so; UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS.
   * @example await task.retry({ step: 2, input: { id: 'o-1', amount: 9 } })
   */
  retry(options?: ControlOptions & { step?: number; input?: unknown }): Promise<void>

  /**
   * Goes on without a step that failed, or waits for its next attempt: `output` is recorded in its place, the task ends in `warning`. In a plan, without
   * an output (not even null), all that depends on the step is skipped with it. Throws ILLEGAL_MOVE: it is not held, does not wait so, nor is it
   * why the task stopped; or children of its batch are under way.
   * @example await task.skip({ step: 2, output: { id: 'paid in cash' } })
   */
  skip(options: ControlOptions & { step: number; output?: unknown }): Promise<void>

  /**
   * Undoes a task that succeeded. Throws ILLEGAL_MOVE, INVALID_OPTION.
   * @example await task.compensate({ reason: 'sent to the wrong address' })
   */
  compensate(options?: ControlOptions): Promise<void>

  /**
   * Sends a signal. Kept until the task asks for it. Throws TASK_STOPPED, UNKNOWN_TASK, UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS,
   * INBOX_FULL when as many wait already (`limits.inbox`), and INVALID_INPUT when its workflow, if this process knows it, says
   * by its `signals` that it does not take this. After the payload: who sends it, and why.
   * @example
   * await task.signal('approved', { by: 'anna' })
   * await task.signal('approved', { by: 'anna' }, { actor: 'mail gateway' })
   */
  signal<K extends SignalName<E>>(name: K, ...given: SignalPayload<E, K>): Promise<void>
}
