import type { Sharing } from '../definition/fairness.ts'
import { BackgroundWork } from '../environment/background-work.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { type Owner, owned } from '../environment/owner.ts'
import { TriarchError } from '../error/error.ts'
import type { Asked } from '../kernel/message.ts'
import type { Redaction } from '../kernel/redaction.ts'
import type { SecretPaths } from '../kernel/secret.ts'
import { isRequested, type TaskState } from '../kernel/state.ts'
import { whyNot } from '../kernel/task/control.ts'
import type { Submission } from '../kernel/task/order.ts'
import type { Limits } from '../node/options.ts'
import { datedEvents } from '../scheduler/history.ts'
import type { Registry } from '../scheduler/registry.ts'
import type { Audited, HistoryRecord, InboxMessage, NodeRow, PostTerms, StateStore, TaskRow } from '../store/port.ts'
import { warned } from '../telemetry/guarded.ts'
import { checkSecretTexts, mayHideTooMany } from '../value/payload.ts'
import { explain } from '../view/explain.ts'
import type { HistoryContents } from '../view/reading.ts'
import type { Explanation } from '../view/reason.ts'
import { type Ending, infoOf, pauseShown, stepsOf, type TaskDetails, type TaskInfo } from '../view/status.ts'
import { bounded, present, type StepRange, type StepView } from '../view/steps.ts'
import { putOffOf, standingsOf } from '../view/wait.ts'
import { saidOf } from './act.ts'
import { AwaitedSignals } from './awaited-signals.ts'
import { endOf, hasEnded } from './ending.ts'
import { Live } from './live.ts'
import { LogWatch } from './log-watch.ts'
import { Readings } from './reading.ts'
import { type Asking, closeTerms, misfit, termsOf } from './terms.ts'
import { Veils } from './veil.ts'
import { isPassing, type ListenOptions, Waiters, type WaitResult } from './waiting.ts'

/** Longest interval between two polls for a task on another node, unless `poll` is longer (ms). */
const SLOWEST = 250
/** Most messages in one read of an inbox, and their bytes. */
const MAX_INBOX = { limit: 200, bytes: 1024 * 1024 }
/** How many times a sender checks whether an inbox that seems full has room. */
const MOST_TRIES = 5
/** How many times a row is read after a wait, each time until the store gives up by itself. */
const PATIENCE = 3

/** The limits of what is sent to tasks. */
type ConnectionLimits = Pick<Limits, 'payload' | 'inbox' | 'inboxBytes'>

/** What all task handles share: the store, what may be shown of a task, and the waits for it. */
export class Connection {
  readonly store: StateStore
  readonly environment: Environment
  readonly limits: ConnectionLimits
  readonly registry: Registry
  /** The fairness share of tasks submitted here. */
  share: Sharing = null
  /** Whether this process's scheduler has the task in memory now. */
  isLocal: (id: string) => boolean = () => false
  /** Whether a node's process is known to be gone, regardless of its lease. */
  isGone: (node: NodeRow) => boolean = () => false
  /** Responsible for errors of code that describes steps. */
  owner: Owner = warned
  /** Why a submission with this id is not accepted yet; null: none with this id waits here. */
  unsubmitted: (id: string) => Explanation | null = () => null
  /** Opens the store, if it is not yet open. */
  opened: () => Promise<void> = async () => undefined
  /** Called after something was posted, to wake local roles. */
  posted: () => void = () => undefined
  /** Resolves once log lines of this process can be read from the store. */
  said: () => Promise<void> = async () => undefined
  /** Paths of secrets by workflow and version. */
  readonly #secrets = new Map<string, readonly string[]>()
  readonly #waiters: Waiters
  /** Transitions that the local scheduler made durable. */
  moves = 0
  /** Watched lists. */
  readonly live: Live
  /** Followed logs. */
  readonly logWatch: LogWatch = new LogWatch(this)
  readonly #awaitedSignals: AwaitedSignals
  /** Reads long histories for viewers, in the background. */
  readonly leisure: BackgroundWork
  readonly readings: Readings
  readonly veils: Veils

  constructor(
    store: StateStore,
    environment: Environment,
    settings: { limits: ConnectionLimits; poll: number },
    registry: Registry,
  ) {
    this.registry = registry
    this.store = store
    this.#awaitedSignals = new AwaitedSignals(store)
    this.environment = environment
    this.leisure = new BackgroundWork(environment)
    this.readings = new Readings(store, environment, this.leisure)
    this.veils = new Veils(store, this.leisure)
    this.limits = settings.limits
    this.live = new Live({ store, environment, shown: infoOf })
    this.#waiters = new Waiters(store, environment, Math.max(SLOWEST, settings.poll), (id) => this.isLocal(id))
  }

  /** The local scheduler made a transition durable. */
  moved(state: TaskState): void {
    this.moves++
    this.#waiters.moved(state)
    this.live.stirred()
  }

  async row(id: string): Promise<TaskRow> {
    await this.opened()
    const row = await this.store.task(id)
    if (!row) throw new TriarchError('UNKNOWN_TASK', `there is no task "${id}"`)
    return row
  }

  /** Why the task makes no progress. */
  async explained(id: string): Promise<Explanation> {
    await this.opened()
    return explain(this.store, id, (row) => this.readings.of(row), this)
  }

  async info(id: string): Promise<TaskInfo> {
    return infoOf(await this.row(id))
  }

  /** Includes what only the history contains. It is read here, on demand, so that steps need not write it anywhere else. */
  async details(id: string): Promise<TaskDetails> {
    const row = await this.row(id)
    const reading = await this.read(row)
    const { redaction, state } = reading
    const { begun, metadata } = state
    const steps = row.status === 'stopped' ? [] : stepsOf(state)
    const said = state.progress !== undefined
    const progress = begun ? reading.progress() : undefined
    const standings = await standingsOf(this.store, [row], this.isGone, putOffOf(state))
    const { texts } = redaction
    const info = { ...infoOf(row), ...standings.get(id) }
    // The row knows only what was secret when it was written.
    const shown: TaskDetails = {
      ...{ ...info, progress: redaction.hide(info.progress), output: redaction.hide(info.output) },
      ...{ error: texts.scrub(info.error), pause: pauseShown(info.pause, redaction) },
      metadata: texts.scrub({ ...metadata }),
      steps: steps.map((step) => {
        const { name, progress, error } = step
        return { ...step, ...texts.scrub({ name, error }), progress: redaction.hideOf(step.id, progress) }
      }),
    }
    return said ? shown : { ...shown, progress: progress ?? shown.progress ?? 0 }
  }

  /** The task's history. For a quarantined task, as much as can be read. Throws HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*. */
  async read(row: TaskRow): Promise<HistoryContents> {
    const reading = await this.readings.of(row)
    if (reading.broken && !row.quarantined) throw reading.broken
    return reading
  }

  /** The steps of the task, or those of a range, without secrets. */
  async steps(id: string, range: StepRange): Promise<StepView[]> {
    const reading = await this.read(await this.row(id))
    return this.presented(reading.steps(range.after), range.limit, reading.redaction)
  }

  /** Adds what the actions say about their steps, as far as the size limit allows. */
  presented(views: readonly StepView[], limit: number | undefined, { texts }: Redaction): Promise<StepView[]> {
    return bounded(views, limit, async (view) => {
      await owned(this.owner, () => present(view, this.registry))
      const { summary, hints } = view
      return { ...view, ...texts.scrub({ summary, hints }) }
    })
  }

  /** The paths of secrets in payloads of the task's workflow; null: not known. */
  async #secretsOf({ id, workflow, version }: TaskRow): Promise<SecretPaths | null> {
    const key = `${workflow}@${version}`
    const known = this.#secrets.get(key) ?? this.registry.workflow(workflow, version)?.definition.secrets
    const [record] = known ? [] : await this.store.records(id, 0, 1)
    const first = record ? submissionOf(record) : undefined
    if (first === null) return null
    const secrets = known ?? first?.secrets ?? []
    this.#secrets.set(key, secrets)
    return secrets
  }

  /**
   * Sends a request to a task. Whether the task accepts it is decided where it is written. Throws UNKNOWN_TASK, INBOX_FULL, and
   * TASK_STOPPED, TASK_NOT_PAUSED or ILLEGAL_MOVE.
   */
  async send(id: string, asking: Asking): Promise<void> {
    await this.opened()
    if (asking.type === 'skip' || asking.type === 'retry' || asking.type === 'thaw') await this.#fitting(id, asking)
    // The paths of secrets are read only if the payload might have too many secrets.
    if (asking.type === 'event' && mayHideTooMany(asking.payload)) {
      const secrets = (await this.#secretsOf(await this.row(id))) ?? []
      checkSecretTexts(asking.payload, `payload of signal "${asking.name}"`, secrets)
    }
    const control = asking.type !== 'event' && asking.type !== 'signal'
    const inbox = { letters: this.limits.inbox, bytes: this.limits.inboxBytes }
    const { message, audit } = saidOf(this.environment, id, asking)
    const post = (terms: PostTerms) => this.store.post([{ task: id, message, control, terms, ...audit }])
    let [outcome] = await post(termsOf(asking, inbox))
    if (asking.type === 'event' || asking.type === 'signal') {
      // Tried again if the task has moved meanwhile.
      for (let before = 0, tries = 0; outcome === 'full' && tries < MOST_TRIES; tries++) {
        const known = await this.#awaitedSignals.of(id, asking)
        if (known.last === before) break
        before = known.last
        for (const terms of closeTerms(asking, inbox, known)) if (outcome === 'full') [outcome] = await post(terms)
      }
    }
    if (outcome === 'unknown') throw new TriarchError('UNKNOWN_TASK', `there is no task "${id}"`)
    if (outcome === 'unfit') throw misfit(id, asking, await this.info(id))
    if (outcome === 'full') throw new TriarchError('INBOX_FULL', `task "${id}" has no room for another ${asking.type}`)
    this.posted()
  }

  /** Checks what only the history shows: whether the request fits the step, and whether the task is frozen. Later changes are recorded. */
  async #fitting(id: string, asking: Extract<Asking, { type: 'retry' | 'skip' | 'thaw' }>): Promise<void> {
    if (asking.type !== 'thaw' && asking.step === undefined && !('input' in asking)) return
    const row = await this.row(id)
    // The history of a quarantined task may be incomplete.
    if (row.quarantined) return
    const { state } = await this.read(row)
    if (asking.type === 'thaw') {
      if (state.frozen) return
      throw new TriarchError('ILLEGAL_MOVE', `task "${id}" is not frozen: it takes no thaw now`)
    }
    const given = asking.type === 'retry' ? asking.input : asking.output
    if (given !== undefined && mayHideTooMany(given)) {
      const steps = asking.step === undefined ? [...state.steps.values()] : [state.steps.get(asking.step)]
      const own = asking.step === undefined ? ((await this.#secretsOf(row)) ?? []) : []
      const paths = new Set([...own, ...steps.flatMap((step) => step?.policy.secrets ?? [])])
      checkSecretTexts(given, `what ${asking.type} was given`, [...paths])
    }
    const reason = whyNot(state, asking, this.environment.now())
    if (reason !== null) throw new TriarchError('ILLEGAL_MOVE', `task "${id}" takes no ${asking.type} now: ${reason}`)
  }

  /** The task's state from its history; null: the history cannot be read completely. */
  async state(id: string): Promise<TaskState | null> {
    const { broken, state } = await this.readings.of(await this.row(id))
    return broken ? null : state
  }

  /**
   * The digest of the first request of this name, accepted or not. The inbox is read before the history, because messages move from one
   * into the other.
   */
  async firstAsked(id: string, request: string): Promise<string | undefined> {
    const key = (await this.store.task(id))?.key
    if (key === undefined) return undefined
    const waiting: Asked[] = []
    for (let last: number | undefined = 0; last !== undefined; ) {
      const page: InboxMessage[] = await this.store.taskInbox(key, last, MAX_INBOX)
      for (const { message } of page) if ('request' in message && message.request === request) waiting.push(message)
      last = page.at(-1)?.id
    }
    const state = await this.state(id)
    return state && isRequested(state, request) ? state.digests[request] : waiting[0]?.digest
  }

  /** Releases the task from quarantine, if it is in quarantine. */
  async lift(id: string, acted?: Audited): Promise<void> {
    if (await this.store.releaseQuarantine(id, acted)) this.posted()
  }

  /** How many ends of tasks may have been missed here (see `Waiters`). */
  get missed(): number {
    return this.#waiters.missed
  }

  /** Resolves when the task has stopped. `missed`: its value before the task existed. */
  async ending(id: string, within: number | null, signal: AbortSignal | undefined, missed?: number): Promise<Ending> {
    await this.opened()
    const until = within === null ? Number.POSITIVE_INFINITY : this.environment.monotonic() + within
    for (;;) {
      const heard = await this.#heard(id, { until: 'end', missed }, until, signal)
      if (heard?.ending) return heard.ending
      const row = await this.#patientRow(id)
      if (hasEnded(row)) return endOf(row)
      if (!heard) throw new TriarchError('WAIT_TIMEOUT', `task "${id}" did not stop within ${within} ms`)
    }
  }

  async *watch(id: string, signal: AbortSignal | undefined): AsyncIterableIterator<TaskInfo> {
    await this.opened()
    let last = ''
    let heard: WaitResult | null = {}
    for (let later = false; ; ) {
      // The wait begins before the row is read, so that no change in between is missed.
      const options = { until: 'any', later, ...(!later && heard?.mark !== undefined && { mark: heard.mark }) } as const
      heard = await this.#heard(id, options, Number.POSITIVE_INFINITY, signal)
      const row = await this.#patientRow(id)
      const info = infoOf(row)
      const seen = JSON.stringify([info.status, info.outcome, info.failures, info.progress, info.pause])
      later = seen !== last
      last = seen
      if (later) yield infoOf(row)
      if (hasEnded(row)) return
    }
  }

  /** Reads the row, retrying brief failures, so that a long wait does not end because of one. */
  async #patientRow(id: string): Promise<TaskRow> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.row(id)
      } catch (error) {
        if (!isPassing(error) || failures === PATIENCE) throw error
      }
    }
  }

  /** Waits for the task; null: nothing happened before `until`. Rejects with the signal's reason. */
  async #heard(
    id: string,
    options: ListenOptions,
    until: number,
    signal: AbortSignal | undefined,
  ): Promise<WaitResult | null> {
    signal?.throwIfAborted()
    const { heard, stop } = this.#waiters.listen(id, options)
    if (until === Number.POSITIVE_INFINITY && !signal) return heard
    let abort: () => void = () => undefined
    let timer: Timer | null = null
    const otherwise = new Promise<null>((resolve, reject) => {
      abort = () => reject(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      const left = until - this.environment.monotonic()
      if (left < Number.POSITIVE_INFINITY) timer = this.environment.timer(Math.max(0, left), () => resolve(null))
    })
    try {
      return await Promise.race([heard, otherwise])
    } finally {
      stop()
      ;(timer as Timer | null)?.cancel()
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** The submission in the first record; null: the record cannot be read. */
function submissionOf(record: HistoryRecord): Submission | null | undefined {
  try {
    const [first] = datedEvents([record])
    return first?.event.type === 'submitted' ? first.event : undefined
  } catch {
    return null
  }
}
