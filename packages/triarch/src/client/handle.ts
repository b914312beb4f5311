import { type ControlOptions, checkControl, controlKeys } from '../definition/control.ts'
import type { Workflow } from '../definition/definition.ts'
import {
  acceptSignal,
  type NoSignals,
  type SignalName,
  type SignalPayload,
  type SignalSchemas,
  signalSchema,
  undeclared,
} from '../definition/signal.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { taskError } from '../error/task-error.ts'
import { succeeded } from '../kernel/status.ts'
import { type PlanView, planView } from '../planning/preview.ts'
import type { AuditEntry } from '../store/port.ts'
import { positiveMilliseconds } from '../value/duration.ts'
import { checkLabel } from '../value/name.ts'
import { checkInteger, checkOptions, HIGHEST_NUMBER } from '../value/options.ts'
import { encode } from '../value/payload.ts'
import type { HistoryEntry } from '../view/event.ts'
import { type ExportOptions, exportOf, type RecordRange, type TaskExport } from '../view/export.ts'
import { historyEvent } from '../view/history.ts'
import type { LogLine } from '../view/log.ts'
import type { TaskMoment } from '../view/moment.ts'
import type { Explanation } from '../view/reason.ts'
import type { TaskDetails, TaskInfo } from '../view/status.ts'
import type { StepRange, StepView } from '../view/steps.ts'
import { entryOf, taskAct } from './act.ts'
import { type ChildrenOptions, listChildren } from './children.ts'
import type { Connection } from './connection.ts'
import { cutOf } from './cut.ts'
import { followLogs, type LogOptions, type LogPage, readLogs } from './log.ts'
import { readMoment } from './moment.ts'
import type { TaskPage } from './page.ts'
import { checkRange, rangeKeys, readRecords } from './records.ts'
import { checkSame, isReusable, namedRequest, requestName } from './request.ts'
import type { TaskHandle, WaitOptions } from './task.ts'
import { terminationOf } from './termination.ts'
import type { Asking } from './terms.ts'

/** A task in the store, read from its row, its history and its inbox. */
export class StoredTask<O = unknown, E extends SignalSchemas = NoSignals> implements TaskHandle<O, E> {
  /** The id of the task. */
  readonly id: string
  readonly isNew: boolean | undefined
  readonly #connection: Connection
  /** The workflow given when the task was submitted or looked up. */
  readonly #workflow: Workflow | undefined
  /** The key of its requests (`once`). */
  readonly #key: string | undefined
  /** `Connection.missed` before the task was submitted; undefined: it existed before. */
  readonly #missed: number | undefined
  /** The workflow and version that the task runs. */
  #version: Pick<TaskInfo, 'workflow' | 'version'> | null = null

  /** `key`: the key of its requests (`once`). */
  constructor(
    connection: Connection,
    id: string,
    workflow?: Workflow,
    { key, isNew, missed }: { key?: string; isNew?: boolean; missed?: number | undefined } = {},
  ) {
    this.#connection = connection
    this.isNew = isNew
    this.#workflow = workflow
    this.#key = key
    this.#missed = missed
    this.id = id
  }

  once(key: string): TaskHandle<O, E> {
    return new StoredTask<O, E>(this.#connection, this.id, this.#workflow, { key: checkLabel('a request', key) })
  }

  async status(): Promise<TaskDetails> {
    return this.#connection.details(this.id)
  }

  async explain(): Promise<Explanation> {
    return this.#connection.explained(this.id)
  }

  result(options: WaitOptions = {}): Promise<O> {
    const result = this.#result(options)
    return this.#connection.environment.awaited?.(this.id, result, options?.timeout !== undefined) ?? result
  }

  async #result(options: WaitOptions): Promise<O> {
    checkOptions('result', options, ['timeout', 'signal'])
    const within = options.timeout === undefined ? null : positiveMilliseconds(options.timeout, 'timeout')
    const ending = await this.#connection.ending(this.id, within, options.signal, this.#missed)
    if (succeeded(ending.outcome)) return ending.output as O
    throw taskError(this.id, ending.outcome, ending.error)
  }

  async steps(options: StepRange = {}): Promise<StepView[]> {
    checkOptions('steps', options, rangeKeys)
    checkRange('steps', options)
    return this.#connection.steps(this.id, options)
  }

  async moment(seq?: number, options: StepRange = {}): Promise<TaskMoment> {
    if (seq !== undefined) checkInteger('moment', seq, 1, HIGHEST_NUMBER)
    checkOptions('moment', options, rangeKeys)
    checkRange('moment', options)
    return readMoment(this.#connection, this.id, seq, options)
  }

  async history(options: RecordRange = {}): Promise<HistoryEntry[]> {
    checkOptions('history', options, rangeKeys)
    checkRange('history', options)
    const { records } = await readRecords(this.#connection, this.id, { ...options, veil: true })
    return records.map(({ at, events, ...rest }) => ({ ...rest, at: new Date(at), events: events.map(historyEvent) }))
  }

  async export(options: ExportOptions = {}): Promise<TaskExport> {
    checkOptions('export', options, ['secrets', ...rangeKeys])
    checkRange('export', options)
    const { secrets, ...range } = options
    const { records, veiled } = await readRecords(this.#connection, this.id, { ...range, veil: secrets !== true })
    return exportOf(this.id, records, veiled)
  }

  async plan(): Promise<PlanView | null> {
    const { redaction, state } = await this.#connection.read(await this.#connection.row(this.id))
    return state.plan && planView(state.plan, redaction)
  }

  async children(options: ChildrenOptions = {}): Promise<TaskPage> {
    return listChildren(this.#connection, this.id, options)
  }

  async logs(options: LogOptions = {}): Promise<LogPage> {
    return readLogs(this.#connection, this.id, options)
  }

  watchLogs(options: LogOptions & { signal?: AbortSignal } = {}): AsyncIterableIterator<LogLine> {
    return followLogs(this.#connection, this.id, options)
  }

  watch(options: { signal?: AbortSignal } = {}): AsyncIterableIterator<TaskInfo> {
    return this.#connection.watch(this.id, options.signal)
  }

  async cancel(options: ControlOptions & { compensate?: boolean; force?: boolean } = {}): Promise<void> {
    checkOptions('cancel', options, ['compensate', 'force', ...controlKeys])
    const { compensate = null, force = false } = options
    const asking = { type: 'cancel', compensate, force, ...checkControl('cancel', options) } as const
    if (force && (await this.#terminate(asking))) return
    await this.#send(asking)
  }

  async pause(options: ControlOptions = {}): Promise<void> {
    checkOptions('pause', options, controlKeys)
    await this.#send({ type: 'pause', ...checkControl('pause', options) })
  }

  async thaw(options: ControlOptions & { startAt?: Date } = {}): Promise<void> {
    checkOptions('thaw', options, ['startAt', ...controlKeys])
    const { startAt: date } = options
    if (date !== undefined && !(date instanceof Date && !Number.isNaN(date.getTime())))
      throw new TriarchError('INVALID_OPTION', 'thaw: startAt is not a valid date')
    const startAt = date?.getTime()
    await this.#send({ type: 'thaw', ...(startAt !== undefined && { startAt }), ...checkControl('thaw', options) })
  }

  async resume(options: ControlOptions & { after?: number } = {}): Promise<void> {
    checkOptions('resume', options, ['after', ...controlKeys])
    const said = checkControl('resume', options)
    if (options.after !== undefined && !(await this.#wasTaken({ type: 'resume' }))) await this.#cut(options.after, said)
    const { quarantined, status } = await this.#connection.row(this.id)
    // A stopped task has nothing to resume, only what was requested of it since.
    const sends = !quarantined || status !== 'stopped'
    if (sends) await this.#send({ type: 'resume', ...said })
    if (quarantined) await this.#connection.lift(this.id, sends ? {} : this.#act({ type: 'resume', ...said }))
  }

  async retry(options: ControlOptions & { step?: number; input?: unknown } = {}): Promise<void> {
    checkOptions('retry', options, ['step', 'input', ...controlKeys])
    const { step, input } = options
    if (step !== undefined) checkInteger('retry: step', step, 1, HIGHEST_NUMBER)
    const payload = input === undefined ? undefined : encode(input, 'input', this.#connection.limits.payload)
    const retry = { ...(step !== undefined && { step }), ...(payload !== undefined && { input: payload }) }
    await this.#send({ type: 'retry', ...retry, ...checkControl('retry', options) })
    await this.#lift()
  }

  async skip(options: ControlOptions & { step: number; output?: unknown }): Promise<void> {
    checkOptions('skip', options, ['step', 'output', ...controlKeys])
    const { step, output } = options
    checkInteger('skip: step', step, 1, HIGHEST_NUMBER)
    const payload = output === undefined ? undefined : encode(output, 'output', this.#connection.limits.payload)
    const said = checkControl('skip', options)
    await this.#send({ type: 'skip', step, ...(payload !== undefined && { output: payload }), ...said })
  }

  async compensate(options: ControlOptions = {}): Promise<void> {
    checkOptions('compensate', options, controlKeys)
    await this.#send({ type: 'compensate', ...checkControl('compensate', options) })
  }

  async signal<K extends SignalName<E>>(name: K, ...given: SignalPayload<E, K>): Promise<void> {
    checkLabel('a signal', name)
    const [value = null, options = {}] = given as [unknown?, ControlOptions?]
    checkOptions('signal', options, controlKeys)
    const payload = encode(value, `payload of signal "${name}"`, this.#connection.limits.payload)
    const signals = await this.#signals()
    const unknown = undeclared(signals, name)
    if (unknown) throw unknown
    const accepted = acceptSignal(name, signalSchema(signals, name), payload)
    if (accepted instanceof TriarchError) throw accepted
    await this.#send({ type: 'event', name, payload, ...checkControl('signal', options) })
  }

  /** Sends a request. Under a key, a request that was already taken counts as done, whatever the task would answer now. */
  async #send(asking: Asking): Promise<void> {
    try {
      await this.#connection.send(this.id, this.#named(asking))
      if (this.#key === undefined || !isReusable(this.#key)) return
      // Of two requests under one key the first counts, and it may have been another one.
      checkSame(this.id, asking, await this.#connection.firstAsked(this.id, requestName(asking, this.#key)))
    } catch (error) {
      if (isTriarchError(error, 'REQUEST_DIFFERS')) throw error
      const answered = isTriarchError(error) && !error.code.startsWith('STORE_') && error.code !== 'UNKNOWN_TASK'
      if (!answered || !(await this.#wasTaken(asking))) throw error
    }
  }

  #named<A extends Asking>(asking: A): A {
    return this.#key === undefined ? asking : namedRequest(asking, this.#key)
  }

  async #wasTaken(asking: Asking): Promise<boolean> {
    if (this.#key === undefined) return false
    const state = await this.#connection.state(this.id)
    const request = requestName(asking, this.#key)
    if (!state?.requests.includes(request)) return false
    checkSame(this.id, asking, state.digests[request])
    return true
  }

  /** The signals declared by the task's own version of its workflow, if it is known here. Read only if some workflow declares signals. */
  async #signals(): Promise<SignalSchemas | undefined> {
    const { registry } = this.#connection
    const known = this.#workflow
    if (!known?.definition.signals && !registry.declaresSignals) return undefined
    this.#version ??= await this.#connection.row(this.id)
    const { workflow, version } = this.#version
    const same = known?.name === workflow && known.version === version
    return (registry.workflow(workflow, version) ?? (same ? known : undefined))?.definition.signals
  }

  /** Ends a quarantined task at once in the store: no node claims it, and its history may be unreadable. */
  async #terminate(asking: Extract<Asking, { type: 'cancel' }>): Promise<boolean> {
    const { store, environment } = this.#connection
    const row = await this.#connection.row(this.id)
    if (!row.quarantined) return false
    const termination = await terminationOf(store, row, environment.now(), this.#named(asking))
    const ended = await store.terminate({ ...termination, ...this.#act(asking) })
    if (ended) this.#connection.posted()
    return ended
  }

  #act(asking: Asking): { audit: AuditEntry } {
    return { audit: entryOf(this.#connection.environment, taskAct(this.id, asking)) }
  }

  async #cut(after: number, said: ControlOptions): Promise<void> {
    checkInteger('resume: after', after, 1, HIGHEST_NUMBER)
    const { store, environment } = this.#connection
    const row = await this.#connection.row(this.id)
    const act = { action: 'task.cut', subject: `task:${this.id}`, ...said, details: { after } }
    const cut = await cutOf(store, row, environment.now(), after)
    const done = await store.truncate({ ...cut, audit: entryOf(environment, act) })
    if (!done) throw new TriarchError('ILLEGAL_MOVE', `resume: after: task "${this.id}" is no longer in quarantine`)
  }

  /** Releases the task from quarantine: it is tried once more. */
  async #lift(): Promise<void> {
    const { quarantined } = await this.#connection.row(this.id)
    if (quarantined) await this.#connection.lift(this.id)
  }
}
