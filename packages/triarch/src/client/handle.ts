import type { Workflow } from '../definition/definition.ts'
import {
  acceptEvent,
  type EventName,
  type EventPayload,
  type EventSchemas,
  eventSchema,
  type NoEvents,
} from '../definition/event.ts'
import { TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import { taskError } from '../error/task-error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import { succeeded } from '../kernel/status.ts'
import { type PlanView, planView } from '../planning/preview.ts'
import { Chronicle, eventsOf, recordsOf } from '../scheduler/history.ts'
import type { HistoryRecord } from '../store/port.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkLabel } from '../value/name.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { encode } from '../value/payload.ts'
import { hidesAnything, redacted, redactionOf, redactPlan } from '../view/redaction.ts'
import type { TaskDetails, TaskInfo } from '../view/status.ts'
import type { StepView } from '../view/steps.ts'
import { type ChildrenOptions, listChildren } from './children.ts'
import type { Connection } from './connection.ts'
import { cutOf } from './cut.ts'
import type { TaskPage } from './page.ts'
import { terminationOf } from './termination.ts'

/**
 * One record of a task's history: what happened in one transition.
 * @example
 * const [submitted] = await task.history()
 * console.log(submitted?.at)
 */
export interface HistoryEntry {
  /** Its place in the history, from 1. */
  seq: number
  /** When it was decided. */
  at: Date
  /** What happened, in this order. */
  events: TaskEvent[]
  /** Of a task in quarantine: why the record cannot be read. */
  error?: ErrorRecord
  /** Of a task in quarantine: records that are missing before this one. */
  missing?: { from: number; to: number }
}

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
export class TaskHandle<O = unknown, E extends EventSchemas = NoEvents> {
  /** The id of the task. */
  readonly id: string
  readonly #connection: Connection
  /** What it was submitted, or asked for, as. */
  readonly #workflow: Workflow | undefined
  /** By which its code runs. */
  #version: Pick<TaskInfo, 'workflow' | 'version'> | null = null

  /** @internal */
  constructor(connection: Connection, id: string, workflow?: Workflow) {
    this.#connection = connection
    this.#workflow = workflow
    this.id = id
  }

  /**
   * The task now, and how far its steps are. Reads the history of a task that is open. Throws UNKNOWN_TASK.
   * @example const { status, steps } = await task.status()
   */
  async status(): Promise<TaskDetails> {
    return this.#connection.details(this.id)
  }

  /**
   * The output, once the task stopped. Rejects with the TaskError that tells how else it ended.
   * @example const { receipt } = await task.result({ timeout: '30s' })
   */
  async result(options: WaitOptions = {}): Promise<O> {
    checkOptions('result', options, ['timeout', 'signal'])
    const within = options.timeout === undefined ? null : positiveMilliseconds(options.timeout, 'timeout')
    const ending = await this.#connection.ending(this.id, within, options.signal)
    if (succeeded(ending.result)) return ending.output as O
    throw taskError(this.id, ending.result, ending.error)
  }

  /**
   * Every step of the task: what it is about, how far it is, what may help. Nothing secret is in it.
   * @example for (const { name, status, summary } of await task.steps()) console.log(name, status, summary)
   */
  async steps(): Promise<StepView[]> {
    return this.#connection.steps(this.id)
  }

  /**
   * Every record of the history, oldest first, without what is marked as secret.
   * @example for (const { at, events } of await task.history()) console.log(at, events.map(({ type }) => type))
   */
  async history(): Promise<HistoryEntry[]> {
    const entries = await this.#history()
    const redaction = redactionOf(entries.flatMap(({ events }) => events))
    if (!hidesAnything(redaction)) return entries
    return entries.map((entry) => ({ ...entry, events: entry.events.map((event) => redacted(event, redaction)) }))
  }

  async #history(): Promise<HistoryEntry[]> {
    const row = await this.#connection.row(this.id)
    const entries: HistoryEntry[] = []
    const chronicle = new Chronicle()
    for await (const page of recordsOf(this.#connection.store, this.id)) {
      for (const record of page) {
        const { seq, at } = record
        if (!row.quarantined) {
          const before = chronicle.events.length
          chronicle.add(record)
          const read = chronicle.events.slice(before)
          entries.push({ seq, at: new Date(at), events: read.map(({ event }) => event) })
        } else entries.push(partly(record, entries.at(-1)?.seq ?? 0))
      }
    }
    return entries
  }

  /**
   * The task's plan and how far each step is; null for a function, and before it is planned.
   * @example const done = (await task.plan())?.steps.filter(({ standing }) => standing === 'done')
   */
  async plan(): Promise<PlanView | null> {
    const row = await this.#connection.row(this.id)
    const history = await this.#connection.history(row)
    const redaction = redactionOf(history.map(({ event }) => event))
    const { plan } = this.#connection.fold(row, history)
    return plan && redactPlan(planView(plan), redaction)
  }

  /**
   * Its children in the order in which they were created, a page at a time: all, or those of one step (a batch's come by
   * ordinal). Reads no history.
   * @example const { tasks, next } = await task.children({ status: 'running' })
   */
  async children(options: ChildrenOptions = {}): Promise<TaskPage> {
    return listChildren(this.#connection, this.id, options)
  }

  /**
   * The task's state now and after each change seen, until it stops. Changes in quick succession may be seen as one.
   * @example for await (const { status, progress } of task.watch()) console.log(status, progress)
   */
  watch(options: { signal?: AbortSignal } = {}): AsyncIterableIterator<TaskInfo> {
    return this.#connection.watch(this.id, options.signal)
  }

  /**
   * Stops the task: no new step starts, running ones are aborted and awaited, what is done is undone unless `compensate`
   * is false. `force` waits for nothing and undoes nothing; of a task in quarantine that had stopped it ends the quarantine, and
   * gives up what was asked of the task since. Throws TASK_STOPPED, INVALID_OPTION, PAYLOAD_TOO_LARGE.
   * @example await task.cancel({ reason: 'the customer changed their mind' })
   */
  async cancel(options: { compensate?: boolean; force?: boolean; reason?: string } = {}): Promise<void> {
    checkOptions('cancel', options, ['compensate', 'force', 'reason'])
    const { compensate = null, force = false, reason } = options
    this.#reason('cancel', reason)
    if (force && (await this.#terminate(reason))) return
    await this.#connection.send(this.id, { type: 'cancel', compensate, force, ...this.#reason('cancel', reason) })
  }

  /**
   * No new step starts until resume(). Running ones finish. `reason` is recorded and shown in status().pause.note.
   * Throws TASK_STOPPED, INVALID_OPTION, PAYLOAD_TOO_LARGE.
   * @example await task.pause({ reason: 'stock-taking' })
   */
  async pause(options: { reason?: string } = {}): Promise<void> {
    checkOptions('pause', options, ['reason'])
    await this.#connection.send(this.id, { type: 'pause', ...this.#reason('pause', options.reason) })
  }

  /**
   * A task that was submitted frozen may begin, now or at `startAt`. Throws ILLEGAL_MOVE, INVALID_OPTION.
   * @example await task.thaw({ startAt: new Date('2026-12-24T18:00:00Z') })
   */
  async thaw(options: { startAt?: Date } = {}): Promise<void> {
    checkOptions('thaw', options, ['startAt'])
    const startAt = options.startAt?.getTime()
    if (Number.isNaN(startAt)) throw new TriarchError('INVALID_OPTION', 'thaw: startAt is no valid date')
    await this.#connection.send(this.id, { type: 'thaw', ...(startAt !== undefined && { startAt }) })
  }

  /**
   * Goes on; steps that wait for an operator are tried again. Of a task in quarantine whose history has records that are missing
   * or cannot be read, `after` names its last whole record (explain() says it): what comes after that is given up, and what it did
   * then may be done again. One in quarantine that had stopped is tried once more with what was asked of it. Throws TASK_NOT_PAUSED, ILLEGAL_MOVE.
   * @example await task.resume()
   */
  async resume(options: { after?: number } = {}): Promise<void> {
    checkOptions('resume', options, ['after'])
    if (options.after !== undefined) await this.#cut(options.after)
    const { quarantined, status } = await this.#connection.row(this.id)
    // One that has stopped has nothing to go on with, but what is asked of it.
    if (!quarantined || status !== 'stopped') await this.#connection.send(this.id, { type: 'resume' })
    if (quarantined) await this.#connection.lift(this.id)
  }

  /**
   * Tries again: a paused task its held steps (or just `step`, at once, while the others wait on), a stopped one from its failed step (or from `step`; all
   * that came after it is made anew). A task that was undone starts over. `input` replaces the step's input, or the
   * task's when the whole task starts over; of several held steps, `step` says whose it is. Throws ILLEGAL_MOVE,
   * also where there is no such step, or it is not held; UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS.
   * @example await task.retry({ step: 2, input: { id: 'o-1', amount: 9 } })
   */
  async retry(options: { step?: number; input?: unknown } = {}): Promise<void> {
    checkOptions('retry', options, ['step', 'input'])
    const { step, input } = options
    if (step !== undefined) checkInteger('retry: step', step, 1, Number.MAX_SAFE_INTEGER)
    const payload = input === undefined ? undefined : encode(input, 'input', this.#connection.limits.payload)
    const retry = { ...(step !== undefined && { step }), ...(payload !== undefined && { input: payload }) }
    await this.#connection.send(this.id, { type: 'retry', ...retry })
    await this.#lift()
  }

  /**
   * Goes on without a step that failed: `output` is recorded in its place, the task ends in `warning`. In a plan, without
   * an output (not even null), all that depends on the step is skipped with it. Throws ILLEGAL_MOVE: it is not held, nor is it
   * why the task stopped.
   * @example await task.skip(2, { id: 'paid in cash' })
   */
  async skip(step: number, output?: unknown): Promise<void> {
    checkInteger('skip: step', step, 1, Number.MAX_SAFE_INTEGER)
    const payload = output === undefined ? undefined : encode(output, 'output', this.#connection.limits.payload)
    await this.#connection.send(this.id, { type: 'skip', step, ...(payload !== undefined && { output: payload }) })
  }

  /**
   * Undoes a task that succeeded.
   * @example await task.compensate()
   */
  async compensate(): Promise<void> {
    await this.#connection.send(this.id, { type: 'compensate' })
  }

  /**
   * Sends an event. Kept until the task asks for it. Throws TASK_STOPPED, UNKNOWN_TASK, UNSERIALISABLE, PAYLOAD_TOO_LARGE, TOO_MANY_SECRETS,
   * MAILBOX_FULL when as many wait already (`limits.mailbox`), and INVALID_INPUT when its workflow, if this process knows it, says
   * by its `events` that it does not take this.
   * @example await task.emit('approved', { by: 'anna' })
   */
  async emit<K extends EventName<E>>(name: K, ...given: EventPayload<E, K>): Promise<void> {
    checkLabel('an event', name)
    const [value = null] = given as unknown[]
    const payload = encode(value, `payload of event "${name}"`, this.#connection.limits.payload)
    const accepted = acceptEvent(name, eventSchema(await this.#events(), name), payload)
    if (accepted instanceof TriarchError) throw accepted
    await this.#connection.send(this.id, { type: 'event', name, payload })
  }

  /** What the task's own version of its workflow declares, if it is known here. Asks for that only where some workflow does. */
  async #events(): Promise<EventSchemas | undefined> {
    const { registry } = this.#connection
    const known = this.#workflow
    if (!known?.definition.events && !registry.declaresEvents) return undefined
    this.#version ??= await this.#connection.row(this.id)
    const { workflow, version } = this.#version
    const same = known?.name === workflow && known.version === version
    return (registry.workflow(workflow, version) ?? (same ? known : undefined))?.definition.events
  }

  /** One in quarantine is ended here and now: nobody else takes it, nor may its history be readable. */
  async #terminate(reason: string | undefined): Promise<boolean> {
    const { store, environment } = this.#connection
    const row = await this.#connection.row(this.id)
    if (!row.quarantined) return false
    const ended = await store.terminate(await terminationOf(store, row, environment.now(), reason))
    if (ended) this.#connection.posted()
    return ended
  }

  async #cut(after: number): Promise<void> {
    checkInteger('resume: after', after, 1, Number.MAX_SAFE_INTEGER)
    const { store, environment } = this.#connection
    const row = await this.#connection.row(this.id)
    const done = await store.cut(await cutOf(store, row, environment.now(), after))
    if (!done) throw new TriarchError('ILLEGAL_MOVE', `resume: after: task "${this.id}" is not set apart any more`)
  }

  /** It goes into the history, so it has the bound of every other payload. */
  #reason(of: string, reason: unknown): { reason?: string } {
    if (reason === undefined) return {}
    if (typeof reason !== 'string') throw new TriarchError('INVALID_OPTION', `${of}: reason must be a text`)
    encode(reason, `reason of ${of}`, this.#connection.limits.payload)
    return { reason }
  }

  /** An operator's word ends a quarantine: it is tried once more. */
  async #lift(): Promise<void> {
    const { quarantined } = await this.#connection.row(this.id)
    if (quarantined) await this.#connection.lift(this.id)
  }
}

/** What can be read of it, and what is missing before it. */
function partly(record: HistoryRecord, before: number): HistoryEntry {
  const { seq, at } = record
  const gap = seq > before + 1 && { missing: { from: before + 1, to: seq - 1 } }
  try {
    const read = eventsOf(record)
    // What lies before a continue-as-new may be gone for good.
    const isBase = before === 1 && read.some(({ type }) => type === 'continuedAsNew')
    return { seq, at: new Date(at), events: read, ...(!isBase && gap) }
  } catch (error) {
    const { stack: _, ...why } = toRecord(error)
    return { seq, at: new Date(at), events: [], error: why, ...gap }
  }
}
