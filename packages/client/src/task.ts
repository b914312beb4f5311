import type {
  ChildrenOptions,
  ControlOptions,
  ErrorRecord,
  Explanation,
  ExportOptions,
  HistoryEntry,
  LogLine,
  LogOptions,
  LogPage,
  NoSignals,
  PlanView,
  RecordRange,
  SignalName,
  SignalPayload,
  SignalSchemas,
  StepRange,
  StepView,
  TaskDetails,
  TaskExport,
  TaskInfo,
  TaskMoment,
  TaskOutcome,
  TaskPage,
  WaitOptions,
} from 'triarch'
import { milliseconds, type TaskHandle, TriarchError, taskError } from 'triarch/contract'
import { lineOfMessage } from './change.ts'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { Pace } from './pace.ts'
import { object, text } from './shape.ts'
import { followed } from './stream.ts'
import { encode, instant, query, segment } from './value.ts'
import {
  explanation,
  exportedRecords,
  historyEntries,
  logPage,
  planView,
  stepViews,
  taskDetails,
  taskInfo,
  taskMoment,
  taskPage,
} from './view.ts'

/** How long the server is asked to wait (ms): shorter than gateways let a request be. */
const LONGEST_WAIT = 20_000

type Ending = { outcome: TaskOutcome; output: unknown; error: ErrorRecord | undefined }

/** Records and steps that a server gives at a time. */
const MOST_ROWS = 1_000

/** A task on a server. */
export class RemoteTask<O = unknown, E extends SignalSchemas = NoSignals> implements TaskHandle<O, E> {
  readonly id: string
  readonly isNew: boolean | undefined
  readonly #exchange: Exchange
  readonly #path: string
  readonly #key: string | undefined

  constructor(exchange: Exchange, id: string, { key, isNew }: { key?: string; isNew?: boolean | undefined } = {}) {
    this.id = id
    this.isNew = isNew
    this.#exchange = exchange
    this.#path = `/tasks/${segment('a task id', id)}`
    this.#key = key
  }

  once(key: string): TaskHandle<O, E> {
    segment('the name of a request', key)
    return new RemoteTask<O, E>(this.#exchange, this.id, { key, isNew: this.isNew })
  }

  status(): Promise<TaskDetails> {
    return this.#get('', taskDetails)
  }

  explain(): Promise<Explanation> {
    return this.#get('/explain', explanation)
  }

  async result(options: WaitOptions = {}): Promise<O> {
    const { timeout, signal, ...rest } = options
    known('result', rest)
    const within = timeout === undefined ? Number.POSITIVE_INFINITY : milliseconds(timeout, 'timeout')
    if (within === 0) throw new TriarchError('INVALID_DURATION', 'timeout: 0 must be longer than 0')
    const { outcome, output, error } = await this.#ending(within, signal)
    if (outcome === 'success' || outcome === 'warning') return output as O
    throw taskError(this.id, outcome, error)
  }

  steps(options: StepRange = {}): Promise<StepView[]> {
    const { after, limit, ...rest } = options
    known('steps', rest)
    return this.#pages('/steps', stepViews, { after, limit })
  }

  async moment(seq?: number, options: StepRange = {}): Promise<TaskMoment> {
    if (seq !== undefined && !(Number.isSafeInteger(seq) && seq >= 1))
      throw new TriarchError('INVALID_OPTION', 'moment must be a whole number from 1')
    const { after, limit, ...rest } = options
    known('moment', rest)
    const page = (at: number | undefined, from: number | undefined) =>
      this.#get(`/moment${query({ at, after: from, limit: limit && Math.min(limit, MOST_ROWS) })}`, taskMoment)
    const moment = await page(seq, after)
    if (limit !== undefined) return moment
    const { next, ...whole } = moment
    // The last record may be another by now.
    for (let last = next; last !== undefined; ) {
      const { steps, next } = await page(moment.seq, last)
      whole.steps.push(...steps)
      last = next !== undefined && next > last ? next : undefined
    }
    return whole
  }

  history(options: RecordRange = {}): Promise<HistoryEntry[]> {
    const { after, limit, ...rest } = options
    known('history', rest)
    return this.#pages('/history', historyEntries, { after, limit })
  }

  async export(options: ExportOptions = {}): Promise<TaskExport> {
    const { secrets, after, limit, ...rest } = options
    known('export', rest)
    if (secrets) throw new TriarchError('INVALID_OPTION', 'export: secrets are given out where the store is alone')
    let format = 0
    let veiled = true
    const read = (body: unknown) => {
      format = Number(object(body).format)
      veiled = object(body).veiled !== false
      return exportedRecords(body)
    }
    const records = await this.#pages('/export', read, { after, limit })
    return { format, task: this.id, records, veiled }
  }

  /** All of what comes in pages; with a limit, one page. */
  async #pages<T>(
    path: string,
    read: (body: unknown) => T[],
    { after: from = 0, limit }: { [K in keyof RecordRange]: RecordRange[K] | undefined },
  ): Promise<T[]> {
    const entries: T[] = []
    for (let after: number | undefined = from; after !== undefined; ) {
      const asked = query({ after, ...(limit !== undefined && { limit: Math.min(limit, MOST_ROWS) }) })
      const [page, next]: [T[], number | undefined] = await this.#get(`${path}${asked}`, (body) => [
        read(body),
        object(body).next as number | undefined,
      ])
      entries.push(...page)
      // A page that does not lead on would be asked for again for ever.
      after = limit === undefined && next !== undefined && next > after ? next : undefined
    }
    return entries
  }

  plan(): Promise<PlanView | null> {
    return this.#get('/plan', planView)
  }

  async children(options: ChildrenOptions = {}): Promise<TaskPage> {
    const { status, outcome, workflow, cursor, limit, step, ...rest } = options
    known('children', rest)
    return this.#get(`/children${query({ status, outcome, workflow, cursor, limit, step })}`, taskPage)
  }

  logs(options: LogOptions = {}): Promise<LogPage> {
    return this.#logs(options)
  }

  async #logs(options: LogOptions, signal?: AbortSignal): Promise<LogPage> {
    const { step, attempt, level, after, limit, ...rest } = options
    known('logs', rest)
    return this.#get(`/logs${query({ step, attempt, level, after, limit })}`, logPage, signal)
  }

  async *watchLogs({ signal, ...options }: LogOptions & { signal?: AbortSignal } = {}): AsyncIterableIterator<LogLine> {
    const { step, attempt, level, after, limit, ...rest } = options
    known('watchLogs', rest)
    const path = `${this.#path}/logs/events${query({ step, attempt, level, after, limit })}`
    const events = followed(this.#exchange, path, { quiet: undefined, signal })
    try {
      for (;;) {
        const { value: told, done } = await events.next()
        if (done) return
        const line = told && lineOfMessage(told)
        if (line) yield line
      }
    } finally {
      await events.return(undefined)
    }
  }

  async *watch({ signal }: { signal?: AbortSignal } = {}): AsyncIterableIterator<TaskInfo> {
    for (let after: string | undefined; ; ) {
      const [task, mark]: [TaskInfo, string] = await this.#changed(after, signal)
      if (mark !== after) yield task
      if (task.status === 'stopped') return
      after = mark
    }
  }

  async cancel(options: ControlOptions & { compensate?: boolean; force?: boolean } = {}): Promise<void> {
    const { compensate, force, reason, actor, ...rest } = options
    known('cancel', rest)
    await this.#ask('cancel', { compensate, force, reason, actor })
  }

  async pause(options: ControlOptions = {}): Promise<void> {
    const { reason, actor, ...rest } = options
    known('pause', rest)
    await this.#ask('pause', { reason, actor })
  }

  async thaw(options: ControlOptions & { startAt?: Date } = {}): Promise<void> {
    const { startAt, reason, actor, ...rest } = options
    known('thaw', rest)
    const at = startAt === undefined ? {} : { startAt: instant('thaw: startAt', startAt) }
    await this.#ask('thaw', { ...at, reason, actor })
  }

  async resume(options: ControlOptions & { after?: number } = {}): Promise<void> {
    const { after, reason, actor, ...rest } = options
    known('resume', rest)
    await this.#ask('resume', { after, reason, actor })
  }

  async retry(options: ControlOptions & { step?: number; input?: unknown } = {}): Promise<void> {
    const { step, input, reason, actor, ...rest } = options
    known('retry', rest)
    await this.#ask('retry', { step, input, reason, actor })
  }

  async skip(options: ControlOptions & { step: number; output?: unknown }): Promise<void> {
    const { step, output, reason, actor, ...rest } = options
    known('skip', rest)
    await this.#ask('skip', { step, output, reason, actor })
  }

  async compensate(options: ControlOptions = {}): Promise<void> {
    const { reason, actor, ...rest } = options
    known('compensate', rest)
    await this.#ask('compensate', { reason, actor })
  }

  async signal<K extends SignalName<E>>(name: K, ...given: SignalPayload<E, K>): Promise<void> {
    const [payload = null, { reason, actor, ...rest } = {}] = given as [unknown?, ControlOptions?]
    known('signal', rest)
    await this.#ask('signal', { name, payload, reason, actor })
  }

  #get<T>(path: string, read: (body: unknown) => T, signal?: AbortSignal): Promise<T> {
    return this.#exchange.ask({ method: 'GET', path: this.#path + path, read, ...(signal && { signal }) })
  }

  /** What is asked has a key, so that it may be asked again. */
  async #ask(control: string, options: object): Promise<void> {
    await this.#exchange.ask({
      ...{ method: 'POST', path: `${this.#path}/${control}`, body: encode(control, options) },
      key: this.#key ?? `~${this.#exchange.settings.environment.id()}`,
      read: accepted,
    })
  }

  async #ending(within: number, signal: AbortSignal | undefined): Promise<Ending> {
    const { environment } = this.#exchange.settings
    const over = new AbortController()
    const abort = () => over.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    const late = new TriarchError('WAIT_TIMEOUT', `task "${this.id}" did not stop within ${within} ms`)
    const until = environment.monotonic() + within
    const stop = within === Number.POSITIVE_INFINITY ? undefined : environment.timer(within, () => over.abort(late))
    try {
      for (const pace = new Pace(this.#exchange, over.signal); ; ) {
        const wait = Math.max(1, Math.ceil(Math.min(LONGEST_WAIT, until - environment.monotonic())))
        const ending = await pace.next(wait, () =>
          this.#exchange.ask({
            ...{
              method: 'GET',
              path: `${this.#path}/outcome${query({ wait: `${wait}ms` })}`,
              wait,
              signal: over.signal,
            },
            read: (body, status) => (status === 202 ? null : endingOf(body)),
          }),
        )
        if (ending) return ending
      }
    } finally {
      stop?.()
      signal?.removeEventListener('abort', abort)
    }
  }

  async #changed(after: string | undefined, signal: AbortSignal | undefined): Promise<[TaskInfo, string]> {
    const wait = LONGEST_WAIT
    for (const pace = new Pace(this.#exchange, signal); ; ) {
      const [task, mark] = await pace.next(wait, () =>
        this.#exchange.ask({
          ...{ method: 'GET', path: `${this.#path}/change${query({ after, wait: `${wait}ms` })}`, wait, signal },
          read: (body): [TaskInfo, string] => [taskInfo(object(body).task), text(object(body).mark)],
        }),
      )
      if (mark !== after || task.status === 'stopped') return [task, mark]
    }
  }
}

/** The answer to a control. */
export function accepted(_: unknown, status: number): void {
  if (status !== 202) throw new TypeError('not accepted')
}

function endingOf(body: unknown): Ending {
  const { outcome, output, error } = object(body)
  return { outcome: text(outcome) as TaskOutcome, output, error: error as ErrorRecord | undefined }
}
