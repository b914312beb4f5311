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
 * A task seen from outside: its state, its result, and what an operator can do with it. Requests are durable when the call resolves, and
 * carried out when a scheduler takes the task up.
 * @example
 * const task = await triarch.submit(fulfil, { id: 'o-1', amount: 10 })
 * const { receipt } = await task.result()
 */
export interface TaskHandle<O = unknown, E extends SignalSchemas = NoSignals> {
  /** The id of the task. */
  readonly id: string
  /** Whether the submission created the task, instead of finding an existing one. Undefined if the task was looked up by its id. */
  readonly isNew: boolean | undefined

  /**
   * The same task, of which each request is made at most once under this key, however often it is repeated: for callers that cannot know
   * whether an earlier call arrived, such as a webhook that is delivered again. A request that was already taken changes nothing, and is
   * no error. Another control, signal or step under the same key is another request; the same one with other values is refused with
   * REQUEST_DIFFERS, unless the key begins with `~`, which says that it was made for this one call. Reads the task's inbox and history. A
   * task remembers its last 100 requests. 1 to 200 characters. Throws INVALID_NAME.
   * @example await task.once('hook-4711').signal('paid', { amount: 10 })
   */
  once(key: string): TaskHandle<O, E>

  /**
   * The task's current state and the progress of its steps. Reads the history of a task that has not stopped. Throws UNKNOWN_TASK.
   * @example const { status, steps } = await task.status()
   */
  status(): Promise<TaskDetails>

  /**
   * Why the task makes no progress: what it waits for, in words and as data. Throws UNKNOWN_TASK.
   * @example const { text, reasons } = await task.explain()
   */
  explain(): Promise<Explanation>

  /**
   * The output, once the task has stopped. Rejects with a TaskError if it ended in another way.
   * @example const { receipt } = await task.result({ timeout: '30s' })
   */
  result(options?: WaitOptions): Promise<O>

  /**
   * Every step of the task, or those of a range, in the order of their numbers: what it is about, its progress, and what may help.
   * Contains no secrets. Throws UNKNOWN_TASK, INVALID_OPTION.
   * @example for (const { name, status, summary } of await task.steps()) console.log(name, status, summary)
   */
  steps(options?: StepRange): Promise<StepView[]>

  /**
   * Every record of the history, or those of a range, oldest first, without what is marked as secret. Throws UNKNOWN_TASK, INVALID_OPTION.
   * @example for (const { at, events } of await task.history()) console.log(at, events.map(({ type }) => type))
   */
  history(options?: RecordRange): Promise<HistoryEntry[]>

  /**
   * The task as it was just after a record of its history was written: its state, its steps, and what that record changed. The last
   * record, unless `seq` names another. Reads only the run that the record belongs to; summaries and hints come from today's code. A
   * range limits `steps`. Throws UNKNOWN_TASK, UNKNOWN_RECORD, INVALID_OPTION.
   * @example const { status, steps, events } = await task.moment(7)
   */
  moment(seq?: number, options?: StepRange): Promise<TaskMoment>

  /**
   * The history as stores keep it, for a file and for `replayHistory` of `triarch/testing`; later versions can read it too. Without what
   * is marked as secret, unless `secrets` is given where the store is; import() needs it if the history has secrets. To see what
   * happened, use history(). Throws UNKNOWN_TASK, INVALID_OPTION (over HTTP with `secrets`).
   * @example const file = JSON.stringify(await task.export())
   */
  export(options?: ExportOptions): Promise<TaskExport>

  /**
   * The task's plan and the progress of each step; null for a function, and before it is planned.
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
   * The log lines of its steps and its code (`step.log`, `task.log`), oldest first, a page at a time; without what is marked as secret. A
   * line can be read a second after it was written. Throws UNKNOWN_TASK, UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { lines } = await task.logs({ step: 2, level: 'warn' })
   * for (const { at, level, message, fields } of lines) console.log(at, level, message, fields)
   */
  logs(options?: LogOptions): Promise<LogPage>

  /**
   * The existing log lines and those that follow, until some seconds after the task has stopped. Rejects with the signal's reason. Throws
   * as `logs`; UNKNOWN_TASK also if the task is deleted meanwhile.
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
   * Stops the task: no new step starts, running ones are aborted and awaited, completed ones are undone unless `compensate` is false.
   * `force` waits for nothing and undoes nothing; for a quarantined task that had stopped, it ends the quarantine and gives up what was
   * requested of the task since. Throws TASK_STOPPED, INVALID_OPTION.
   * @example await task.cancel({ reason: 'the customer changed their mind', actor: 'ada@example.com' })
   */
  cancel(options?: ControlOptions & { compensate?: boolean; force?: boolean }): Promise<void>

  /**
   * No new step starts until resume(). Running ones finish. `reason` and `actor` also appear in status().pause. Throws TASK_STOPPED,
   * INVALID_OPTION.
   * @example await task.pause({ reason: 'stock-taking' })
   */
  pause(options?: ControlOptions): Promise<void>

  /**
   * Lets a task that was submitted frozen begin, now or at `startAt`. Throws ILLEGAL_MOVE, INVALID_OPTION.
   * @example await task.thaw({ startAt: new Date('2026-12-24T18:00:00Z') })
   */
  thaw(options?: ControlOptions & { startAt?: Date }): Promise<void>

  /**
   * Resumes a paused task; steps held for an operator are tried again. For a quarantined task whose history has missing or unreadable
   * records, `after` names its last whole record (explain() tells it): later records are given up, and what the task did then may be done
   * again. A quarantined task that had stopped is tried once more with what was requested of it; its history does not say who resumed it.
   * Throws TASK_NOT_PAUSED, ILLEGAL_MOVE, INVALID_OPTION.
   * @example await task.resume()
   */
  resume(options?: ControlOptions & { after?: number }): Promise<void>

  /**
   * Tries again. A paused task: its held steps, or just `step`, at once, while the others stay held. A stopped task: from its failed
   * step, or from `step`; everything after it is done anew. A task that was undone starts over. A `step` that waits for its next attempt
   * makes it now, whatever state its task is in. `input` replaces the step's input, or the task's when the whole task starts over; with
   * several held steps, `step` says which one. Throws ILLEGAL_MOVE, also if there is no such step or it is neither held nor waiting;
   * UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS.
   * @example await task.retry({ step: 2, input: { id: 'o-1', amount: 9 } })
   */
  retry(options?: ControlOptions & { step?: number; input?: unknown }): Promise<void>

  /**
   * Goes on without a step that failed or waits for its next attempt: `output` is recorded in its place, and the task ends in `warning`.
   * In a plan, without an output (not even null), all steps that depend on it are skipped too. Throws ILLEGAL_MOVE if the step is not
   * held, does not wait, and is not why the task stopped; or if children of its batch are at work.
   * @example await task.skip({ step: 2, output: { id: 'paid in cash' } })
   */
  skip(options: ControlOptions & { step: number; output?: unknown }): Promise<void>

  /**
   * Undoes a task that succeeded. Throws ILLEGAL_MOVE, INVALID_OPTION.
   * @example await task.compensate({ reason: 'sent to the wrong address' })
   */
  compensate(options?: ControlOptions): Promise<void>

  /**
   * Sends a signal, which is kept until the task asks for it. Throws TASK_STOPPED, UNKNOWN_TASK, UNSERIALISABLE, PAYLOAD_TOO_LARGE,
   * TOO_MANY_SECRETS, INBOX_FULL if as many as allowed wait already (`limits.inbox`), and INVALID_INPUT if its workflow is known to this
   * process and does not declare the signal or this payload in its `signals`. After the payload: who sends it, and why.
   * @example
   * await task.signal('approved', { by: 'anna' })
   * await task.signal('approved', { by: 'anna' }, { actor: 'mail gateway' })
   */
  signal<K extends SignalName<E>>(name: K, ...given: SignalPayload<E, K>): Promise<void>
}
