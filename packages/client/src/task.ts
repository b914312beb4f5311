import type {
  ChildrenOptions,
  ErrorRecord,
  Explanation,
  HistoryEntry,
  NoSignals,
  PlanView,
  SignalName,
  SignalPayload,
  SignalSchemas,
  StepView,
  TaskDetails,
  TaskInfo,
  TaskOutcome,
  TaskPage,
  WaitOptions,
} from 'triarch'
import { milliseconds, type TaskHandle, TriarchError, taskError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { object, text } from './shape.ts'
import { encode, instant, query, segment } from './value.ts'
import { explanation, historyEntries, planView, stepViews, taskDetails, taskInfo, taskPage } from './view.ts'

/** How long the server is asked to wait (ms): shorter than gateways let a request be. */
const LONGEST_WAIT = 20_000
/** Between two requests that the server did not make wait (ms): the first, and the longest. */
const UNHURRIED = [100, 5_000] as const

type Ending = { outcome: TaskOutcome; output: unknown; error: ErrorRecord | undefined }

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

  steps(): Promise<StepView[]> {
    return this.#get('/steps', stepViews)
  }

  async history(): Promise<HistoryEntry[]> {
    const entries: HistoryEntry[] = []
    for (let after: number | undefined = 0; after !== undefined; ) {
      const [page, next]: [HistoryEntry[], number | undefined] = await this.#get(
        `/history${query({ after })}`,
        (body) => [historyEntries(body), object(body).next as number | undefined],
      )
      entries.push(...page)
      // A page that does not lead on would be asked for again for ever.
      after = next !== undefined && next > after ? next : undefined
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

  async *watch({ signal }: { signal?: AbortSignal } = {}): AsyncIterableIterator<TaskInfo> {
    for (let after: string | undefined; ; ) {
      const [task, mark]: [TaskInfo, string] = await this.#changed(after, signal)
      if (mark !== after) yield task
      if (task.status === 'stopped') return
      after = mark
    }
  }

  async cancel(options: { compensate?: boolean; force?: boolean; reason?: string } = {}): Promise<void> {
    const { compensate, force, reason, ...rest } = options
    known('cancel', rest)
    await this.#ask('cancel', { compensate, force, reason })
  }

  async pause(options: { reason?: string } = {}): Promise<void> {
    const { reason, ...rest } = options
    known('pause', rest)
    await this.#ask('pause', { reason })
  }

  async thaw(options: { startAt?: Date } = {}): Promise<void> {
    const { startAt, ...rest } = options
    known('thaw', rest)
    await this.#ask('thaw', startAt === undefined ? {} : { startAt: instant('thaw: startAt', startAt) })
  }

  async resume(options: { after?: number } = {}): Promise<void> {
    const { after, ...rest } = options
    known('resume', rest)
    await this.#ask('resume', { after })
  }

  async retry(options: { step?: number; input?: unknown } = {}): Promise<void> {
    const { step, input, ...rest } = options
    known('retry', rest)
    await this.#ask('retry', { step, input })
  }

  async skip(options: { step: number; output?: unknown }): Promise<void> {
    const { step, output, ...rest } = options
    known('skip', rest)
    await this.#ask('skip', { step, output })
  }

  async compensate(): Promise<void> {
    await this.#ask('compensate', {})
  }

  async signal<K extends SignalName<E>>(name: K, ...given: SignalPayload<E, K>): Promise<void> {
    const [payload = null] = given as unknown[]
    await this.#ask('signal', { name, payload })
  }

  #get<T>(path: string, read: (body: unknown) => T): Promise<T> {
    return this.#exchange.ask({ method: 'GET', path: this.#path + path, read })
  }

  /** What is asked has a key, so that it may be asked again. */
  async #ask(control: string, options: object): Promise<void> {
    await this.#exchange.ask({
      ...{ method: 'POST', path: `${this.#path}/${control}`, body: encode(control, options) },
      key: this.#key ?? this.#exchange.settings.environment.id(),
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

/** Requests that wait at the server, one after the other. One that has no room to let them wait is not asked in a hurry. */
class Pace {
  readonly #exchange: Exchange
  readonly #signal: AbortSignal | undefined
  #rest = 0

  constructor(exchange: Exchange, signal: AbortSignal | undefined) {
    this.#exchange = exchange
    this.#signal = signal
  }

  async next<T>(wait: number, ask: () => Promise<T>): Promise<T> {
    if (this.#rest > 0) await this.#exchange.rest(this.#rest, this.#signal)
    const { environment } = this.#exchange.settings
    const asked = environment.monotonic()
    const answer = await ask()
    const [first, longest] = UNHURRIED
    const waited = environment.monotonic() - asked >= wait / 2
    this.#rest = waited ? 0 : Math.min(Math.max(first, this.#rest * 2), longest)
    return answer
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
