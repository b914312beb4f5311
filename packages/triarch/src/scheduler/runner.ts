import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import { delay, type Timer } from '../environment/environment.ts'
import type { Owner } from '../environment/owner.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { unhandled } from '../error/unhandled.ts'
import type { TaskEvent } from '../kernel/event.ts'
import { isFull } from '../kernel/load.ts'
import type { Message, Reply } from '../kernel/message.ts'
import { type Rebuilt, rebuild } from '../kernel/rebuild.ts'
import { giveUpSilent, receive } from '../kernel/receive.ts'
import { newState, type TaskState } from '../kernel/state.ts'
import { settleBatches } from '../kernel/step/failure.ts'
import { isRelief } from '../kernel/step/loss.ts'
import type { Step } from '../kernel/step/step.ts'
import { type Summary, sameSummary, summarise } from '../kernel/summary.ts'
import { begin, nextWake } from '../kernel/tick.ts'
import { emit, isOutstanding, newTurn, type Turn } from '../kernel/turn.ts'
import { NO_SIGNALS, said } from '../kernel/wait/buffered-signal.ts'
import { unreadSignals } from '../kernel/wait/mailbox.ts'
import type { Draft } from '../store/origin.ts'
import type { Claim, CommitOutcome, NewTask, Release, Snapshot, Transition, WorkRequest } from '../store/port.ts'
import { ValueReferences } from '../store/value-references.ts'
import { isHeard, type KnownSteps, knownSteps, narrate, tellParked } from '../telemetry/narrator.ts'
import { absent } from './absent.ts'
import { Attempts, NOTHING_GOES } from './attempts.ts'
import { conclude } from './decisions.ts'
import type { Driver } from './driver.ts'
import { driverOf } from './drivers.ts'
import { isAway } from './handover.ts'
import { isAside } from './history.ts'
import type { RunnerHost } from './host.ts'
import { InboxGauge } from './inbox-gauge.ts'
import { checkDecodable, type IncomingMessage, isFromAttempt, isPressing, repeats } from './incoming-message.ts'
import { microtasksDrained } from './microtasks.ts'
import { openTask, reread } from './opening.ts'
import { Recommit, type Settled } from './recommit.ts'
import { endsAttempt, hasStopped, isDeferred, maySleep } from './rest.ts'
import { isolated, recordedEvents, snapshotOf, stepRequest } from './transition.ts'

/** A task that waits less than this stays in memory even if others want its place: it would be claimed again at once (ms). */
const MOMENT = 1_000

const cancelled = (): TriarchError => new TriarchError('STEP_CANCELLED', 'the task was stopped')
const movedOn = (): TriarchError => new TriarchError('NODE_FENCED', 'the attempt goes on by another server')
const answered = (): TriarchError => new TriarchError('STEP_LOST', 'the attempt was answered by another way')

/**
 * turning: a turn is being made or recorded, or the task is being read into memory. resting: the task waits for a message or a timer.
 * parting: the task cannot go on here, and its last attempts are awaited. gone: the task has left this node's memory.
 */
type Phase = 'turning' | 'resting' | 'parting' | 'gone'

/**
 * One task that this node owns: takes its messages, lets the kernel and the workflow's code decide, and sends out what they decided once
 * that is durable. At most one transition is in flight; messages that arrive meanwhile make the next one.
 */
export class TaskRunner implements Owner {
  readonly id: string
  key: number | null = null
  state: TaskState
  readonly epoch: number
  /**
   * The `AsyncLocalStorage` context of the task's code: that of its submission as long as the task stays in this process, otherwise
   * empty.
   */
  readonly context: CallContext
  readonly #host: RunnerHost<TaskRunner>
  #phase: Phase = 'turning'
  /** The task is handed back once no attempt of it runs here. */
  #leaving = false
  /** How many owners died with the task in quarantine probation; null: the task is not on probation. */
  strikes: number | null = null
  /** Approximate bytes of the task's present run. */
  size = 0
  /** The size that the scheduler last counted for this task (bytes). */
  weight = 0
  /** A transition that changed something was committed since the task came here. */
  moved = false
  /** A release is being written. The store may give the task to another node before this node gets the answer. */
  returning = false
  #seq = 0
  /** Sequence number of the last record known to be durable. */
  recorded = 0
  #recordedAt = 0
  /** Time of the latest record. It never goes backwards, even if the former owner's clock was ahead. */
  #at = 0
  #driver: Driver = absent
  /** The driver does asynchronous work between turns (it makes a plan). */
  #working = false
  #messages: IncomingMessage[] = []
  /** Values in records already written, which later records may refer to. */
  #valueReferences = new ValueReferences()
  /** The submission, until the first transition has written it. */
  #draft: Draft | null = null
  /** The values last written to the task's row. */
  #snapshot: Summary
  #timer: Timer | null = null
  /** Ids of inbox messages taken into a turn that is not yet durable. */
  #inFlight: number[] = []
  /** When this run of the task began; 0: it has not begun. */
  #began = 0
  /** First decision id of the task's present run, which identifies the run. */
  #run = 1
  /** The steps that may still end; kept only while `step:ended` has a listener. */
  #told: KnownSteps | null = null
  /** Attempts that begin in this process once the turn is recorded. */
  #starts: Step[] = []
  /** The reason for quarantine if the task is to be quarantined when it parts. */
  #why: TriarchError | null = null
  /** Messages without an inbox id in a turn that is not yet durable: they exist only in this process's memory. */
  #taken: IncomingMessage[] = []
  /** The former owner died, and the losses of its attempts are not all recorded yet. */
  #orphaned = false
  /** Set while a transition that was not committed is being retried. */
  #recommit: Recommit | null = null
  /** The step whose attempt is just being abandoned here because another node goes on with it. */
  #leaves: number | null = null
  readonly #attempts: Attempts
  readonly #inboxGauge = new InboxGauge()
  #created: ((outcome: CommitOutcome | Error) => void) | null = null
  idleSince = 0

  constructor(
    host: RunnerHost<TaskRunner>,
    { id, epoch, state = newState(id) }: { id: string; epoch: number; state?: TaskState },
    context: CallContext,
  ) {
    this.#host = host
    this.#attempts = new Attempts(host)
    this.context = context.ownedBy(this)
    this.id = id
    this.epoch = epoch
    this.state = state
    this.#snapshot = summarise(state)
  }

  /** Creates a task in memory; its first transition writes it to the store. */
  static create(
    host: RunnerHost<TaskRunner>,
    draft: Draft,
    created: (outcome: CommitOutcome | Error) => void,
  ): TaskRunner {
    const { task, first } = draft
    const rebuilt = rebuild(
      task.id,
      first.map((event) => ({ at: task.at, event })),
    )
    const runner = new TaskRunner(host, { id: task.id, epoch: 1, state: rebuilt.state }, CallContext.here())
    runner.#draft = draft
    runner.#at = task.at
    runner.#created = created
    void runner.#guard(async () => {
      runner.#prepare(rebuilt)
      await runner.#turn()
    })
    return runner
  }

  /** Takes over a task from the store and rebuilds it from its history. */
  static claim(host: RunnerHost<TaskRunner>, claim: Claim): TaskRunner {
    const runner = new TaskRunner(host, claim, CallContext.none)
    runner.key = claim.key
    runner.strikes = claim.trial?.strikes ?? null
    runner.#orphaned = claim.orphaned
    void runner.#guard(() => runner.#open(claim))
    return runner
  }

  /**
   * Nothing runs and nothing is in flight. Code that waits for something of its own (a promise, a timer) does not count as idle: it would
   * begin anew elsewhere.
   */
  get idle(): boolean {
    return this.movable && !this.#inboxGauge.out && !this.#isStalled
  }

  /** The task's code waits for something that only this process knows; once out of memory, nothing would wake the task. */
  get #isStalled(): boolean {
    return this.#driver.isStalled?.(this.state) === true
  }

  /**
   * Whether the task may be let go to make room even though it keeps unread messages or its code is stalled; its release removes what it
   * has posted about those messages.
   */
  get movable(): boolean {
    if (this.#phase !== 'resting' || this.#working || !this.#attempts.none || this.#messages.length > 0) return false
    return !this.#inboxGauge.underWay && !isDeferred(this.state, this.#host.environment.now())
  }

  get #gone(): boolean {
    return this.#phase === 'gone'
  }

  /** The next owner must treat attempts without a queue entry or a reply as lost. If false, such attempts never began. */
  get orphaned(): boolean {
    return this.#orphaned || !this.#attempts.none
  }

  /** Returns false if the task already has this inbox message, or does not take it. */
  push(message: Message, inboxId: number | null = null): boolean {
    if (this.#gone || (message.type === 'reply' && inboxId === null && message.step === this.#leaves)) return false
    if (this.#phase === 'parting') return this.#hear({ message, inboxId })
    if (inboxId !== null && !this.#host.inbox.take(inboxId, this.key ?? 0)) return false
    if (inboxId === null && repeats(this.#messages, message)) return true
    this.#messages.push({ message, inboxId })
    // The error is handled here, so that an unreadable message does not stop messages of other tasks from the same read.
    try {
      checkDecodable(message, inboxId, this.strikes)
      if (this.#phase === 'resting' && isPressing(this.state, this.#messages)) this.#wake()
    } catch (error) {
      this.#fail(error as Error)
    }
    return true
  }

  /**
   * A reply from another process. Its sender is notified once the reply is durable; if that never happens, it sends the reply again to
   * the task's next owner.
   */
  answered(message: Message, recorded: (counts: boolean) => void): void {
    if (this.#gone) return
    if (this.#phase === 'parting') return void this.#hear({ message, inboxId: null, recorded })
    this.#messages.push({ message, inboxId: null, recorded })
    if (this.#phase === 'resting' && isPressing(this.state, this.#messages)) this.#wake()
  }

  /** Records that an attempt on probation is about to begin. Resolves to true once that is recorded. */
  begun(step: number, attempt: number): Promise<boolean> {
    if (this.#gone || this.#phase === 'parting') return Promise.resolve(false)
    const recorded = this.#attempts.tried(step)
    this.#messages.push({ message: { type: 'heartbeat', step, attempt, trial: 'begun' }, inboxId: null })
    this.#wake()
    return recorded
  }

  /** The task's code (not a step's) left an unhandled error. */
  left(cause: unknown, promise: Promise<unknown> | null): void {
    const error = unhandled(`the code of task ${this.id}`, cause)
    if (this.#gone || this.state.status === 'stopped' || !this.#driver.left) this.#host.hasUnknownOwner(error)
    else this.#driver.left(error, promise)
  }

  handled(promise: Promise<unknown>): void {
    this.#driver.handled?.(promise)
  }

  /** Hands the task back once what it does is recorded. `cut`: attempts that run here are cut off instead of awaited. */
  release(cut: boolean): void {
    this.#leaving = true
    this.#recommit?.hurry()
    if (this.#phase === 'parting') return cut ? this.#part() : undefined
    if (cut)
      for (const step of this.#attempts.steps) this.#messages.push({ message: this.#cutOff(step), inboxId: null })
    this.#wake()
  }

  /** An attempt in an agent's own process goes on there; any other ends with this process. */
  #cutOff(id: number): Message {
    const step = this.state.steps.get(id)
    if (!step?.given) return { type: 'cut', step: id }
    return { type: 'heartbeat', step: id, attempt: step.attempt, elsewhere: step.operation }
  }

  runs(step: number): boolean {
    return this.#attempts.has(step)
  }

  /**
   * Requests that were written without a record and whose replies the task awaits. The store may lose them even if it keeps all records.
   */
  get requests(): WorkRequest[] {
    return this.#attempts.unrecorded.filter((request) => this.awaits(request))
  }

  /**
   * Whether the task still waits for a reply to exactly this request. It does not if an agent gave the request back, if the request was
   * made anew, or if the step is suspended.
   */
  awaits(request: WorkRequest): boolean {
    const step = this.state.steps.get(request.step)
    if (!step?.dispatched || !isOutstanding(step)) return false
    if (this.runs(step.id) || this.#attempts.hasFollowed(request)) return false
    return step.operation === request.operation && step.attempt === request.attempt
  }

  /**
   * Forgets the task, because another node owns it or this one lost its lease. `handsOn`: what only this node knows is posted for the
   * next owner.
   */
  discard(reason: Error, handsOn = false): void {
    if (this.#gone) return
    const known = handsOn ? this.#known() : []
    if (known.length > 0) void this.#host.handOn(this.id, known)
    this.#leave()
    for (const step of this.#attempts.steps) this.#host.abandonStep(this.id, step, reason)
  }

  /** A message arrived while the release was being written, so the store has made the task ready again. */
  get unread(): boolean {
    return this.#messages.some(({ inboxId }) => inboxId !== null)
  }

  /** Leaves memory. Messages not consumed stay in the inbox for the next owner. */
  #leave(): void {
    this.#phase = 'gone'
    this.#timer?.cancel()
    this.#recommit?.stop()
    for (const inboxId of [...this.#inFlight, ...this.#inboxGauge.unread]) this.#host.inbox.drop(inboxId)
    for (const { inboxId } of this.#messages) if (inboxId !== null) this.#host.inbox.drop(inboxId)
    this.#attempts.leave()
    this.#host.gone(this)
  }

  #wake(): void {
    if (this.#phase !== 'resting') return
    this.#phase = 'turning'
    this.#timer?.cancel()
    this.#timer = null
    void this.#guard(() => this.#turn())
  }

  async #open(claim: Claim): Promise<void> {
    const { inbox: tracker, telemetry, environment } = this.#host
    const asked = telemetry['task:replayed'].open ? environment.monotonic() : null
    const { rebuilt, messages, seq, at, size, before } = await openTask(this.#host, claim)
    this.#valueReferences = new ValueReferences(before)
    this.#seq = seq
    this.recorded = seq
    this.#recordedAt = at
    this.#at = at
    this.size = size
    this.state = rebuilt.state
    this.#snapshot = summarise(this.state)
    if (this.#gone) return
    // An inbox read may have brought some of the claim's messages in the meantime.
    this.#messages.unshift(...messages.filter(({ inboxId }) => inboxId === null || tracker.take(inboxId, claim.key)))
    await this.#replay(rebuilt)
    if (this.#gone) return
    if (asked !== null) this.#tellReplay(environment.monotonic() - asked)
    this.#host.replayed(this)
    await this.#turn()
  }

  #tellReplay(ms: number): void {
    const { telemetry, environment, node } = this.#host
    const { id: task, size: bytes } = this
    const { workflow, version } = this.state
    telemetry['task:replayed'].tell({ at: environment.now(), node, task, workflow, version, bytes, ms })
  }

  #prepare(rebuilt: Rebuilt): void {
    const { workflow, version } = rebuilt.state
    this.#began = rebuilt.startedAt
    this.#run = rebuilt.state.firstId
    this.#driver = driverOf(this.#host.workflow(workflow, version), rebuilt, this.#host, () => this.#wake())
  }

  async #replay(rebuilt: Rebuilt): Promise<void> {
    this.#prepare(rebuilt)
    const undoes = this.#messages.some(({ message }) => message.type === 'compensate')
    await this.#driver.replay(rebuilt, undoes)
    this.#tellSaid(true)
  }

  async #turn(): Promise<void> {
    const { environment, limits, telemetry } = this.#host
    this.#at = Math.max(this.#at, environment.now())
    if (!telemetry['step:ended'].open) this.#told = null
    else this.#told ??= knownSteps(this.state)
    const turn = newTurn(this.state, this.#at, environment.random, limits)
    const children: NewTask[] = []
    const consumed: number[] = []
    const driver = this.#driver
    // The clock comes first: past complete-by no reply counts. Then messages: a task cancelled before it began runs none of its code.
    receive(turn, { type: 'tick' })
    while (driver.tell(turn, children)) await microtasksDrained(environment)
    // Messages after a stop wait for the next turn: locks, parents and followers learn of the stop from this turn's record.
    while (this.#messages.length > 0 && !turn.reload && !hasStopped(turn) && !isFull(turn)) {
      const incoming = this.#messages.shift() as IncomingMessage
      if (this.#inboxGauge.take(incoming)) continue
      if (incoming.inboxId !== null) consumed.push(incoming.inboxId)
      else this.#taken.push(incoming)
      if (incoming.message.type === 'heartbeat') this.#moved(incoming.message)
      else if (endsAttempt(this.state, incoming.message)) this.#ended(incoming)
      const alone = isRelief(this.state, incoming.message)
      receive(turn, incoming.message, (signal) => driver.refuses?.(signal)?.message)
      if (alone) {
        // The code learns of it from the history, once the turn is recorded.
        turn.deliveries.length = 0
        turn.reload = true
      }
      while (driver.tell(turn, children)) await microtasksDrained(environment)
    }
    giveUpSilent(turn)
    while (driver.tell(turn, children)) await microtasksDrained(environment)
    settleBatches(turn)
    while (driver.tell(turn, children)) await microtasksDrained(environment)
    if (begin(turn, driver.begins, driver.runWithin) && driver.begin(turn.at)) {
      this.#began = turn.at
      do await microtasksDrained(environment)
      while (driver.tell(turn, children))
    }
    driver.advance(turn)
    conclude(turn, driver, children, this.size)
    this.#commit(turn, children, consumed)
  }

  #commit(turn: Turn, children: NewTask[], consumed: number[]): void {
    const { state } = turn
    const driver = this.#driver
    const stopped = state.status === 'stopped'
    const leaves = this.#leaving && this.#attempts.none
    const still = turn.reload || (this.#leaving && !leaves)
    const { work, local } = still ? NOTHING_GOES : this.#attempts.dispatch(state, turn.at, driver, leaves)
    this.#starts = [...local]
    this.#giveAway(turn, local)
    const snapshot = summarise(state)
    const wakeAt = nextWake(state)
    const { inbox, inboxBytes } = this.#host.limits
    const unread = said(unreadSignals(state), { letters: inbox, bytes: inboxBytes })
    const sleeps =
      this.#attempts.none &&
      !turn.reload &&
      !turn.full &&
      this.#messages.length === 0 &&
      unread.letters === 0 &&
      maySleep(state, wakeAt, turn.at + this.#host.limits.longSleep) &&
      !this.#isStalled
    const strands = !stopped && !turn.reload && driver.isStranded(state)
    // Attempts in this process must end first: no other node would get their outcomes.
    if (strands && !this.#attempts.none) this.#leaving = true
    const stranded = strands && this.#attempts.none
    const orphaned = !this.#attempts.none || (this.#orphaned && this.#messages.some(isTakeover))
    const unfinished = stranded || turn.reload || turn.full || orphaned || state.status === 'planning'
    const release = stopped || sleeps || leaves || stranded ? this.#releaseWith(unfinished, orphaned) : null
    // A gauge message left unread would make the task ready again right after its release.
    const notice = this.#inboxGauge.update(state.id, release ? NO_SIGNALS : unread)
    consumed.push(...notice.consumed)
    turn.posts.push(...notice.posts)
    const appended = turn.events.length > 0
    this.#host.count(turn.stale)
    const dirty = appended || consumed.length + notice.posts.length > 0 || release || this.#draft || work.length > 0
    if (!dirty) {
      // The history already holds what starts now: a retry whose wait is over, or a step that a pause held back.
      this.#startAll(turn.at)
      this.#host.settled(this)
      this.#settled()
      this.#tellSaid(false)
      return this.#idle(wakeAt)
    }
    if (appended || consumed.length + work.length > 0) this.moved = true
    if (appended || this.#draft) this.#seq++
    this.#inFlight = consumed
    const events = recordedEvents(this.#draft, turn.events)
    const rebase = turn.events.some((event) => event.type === 'continuedAsNew')
    const transition: Transition = {
      key: this.key,
      id: this.id,
      node: this.#host.node,
      epoch: this.epoch,
      seq: this.#seq,
      at: turn.at,
      lastAt: this.#recordedAt,
      events: events.length > 0 ? this.#text(events, rebase) : null,
      create: this.#draft?.task ?? null,
      snapshot: this.#draft || !sameSummary(snapshot, this.#snapshot) ? this.#row(snapshot) : null,
      consumed,
      work,
      withdraw: turn.aborts.filter((step) => !this.#attempts.has(step)),
      // When the task stops by force, attempts elsewhere are not awaited; their requests, and the permits they hold, stay until the
      // attempts have ended.
      forget: stopped ? [] : turn.forgotten,
      children,
      posts: turn.posts,
      ...(turn.gates.locks.length + turn.gates.unlocks.length > 0 && { gates: turn.gates }),
      release,
      rebase,
    }
    this.returning = release !== null
    this.#snapshot = snapshot
    this.#host.committer.commit(transition, (outcome) => {
      void this.#guard(() => this.#answered(outcome, { transition, turn }))
    })
  }

  #releaseWith(unfinished: boolean, orphaned: boolean): Release {
    if (this.state.status === 'stopped') return { wakeAt: null, ready: unfinished, orphaned }
    const ready = unfinished || this.#isStalled
    const requests = ready ? [] : this.requests
    const awaits = requests.map(({ step, operation, attempt }) => ({ step, operation, attempt }))
    return { wakeAt: nextWake(this.state), ready, orphaned, ...(awaits.length > 0 && { awaits }) }
  }

  #text(events: readonly TaskEvent[], rebase: boolean): string {
    return this.#valueReferences.text(events, this.#seq, rebase)
  }

  /**
   * The row, referring to events as they are in the history after this commit. The row of a child has its output in full, because the
   * store sends it to the parent from there.
   */
  #row(summary: Summary): Snapshot {
    const { output } = summary
    const isChild = this.state.parent !== null || !this.state.incarnation
    return snapshotOf(summary, output === undefined || isChild ? null : this.#valueReferences.place(output))
  }

  /** If the submission failed, the error goes to the caller. Any later transition is retried until its fate is known. */
  #answered(outcome: CommitOutcome | Error, pending: PendingTransition): Promise<void> | undefined {
    const created = this.#created
    this.#created = null
    created?.(outcome)
    if (this.#gone || created || (!(outcome instanceof Error) && outcome.ok))
      return this.#committed(outcome, pending, created !== null)
    const { environment, store, committer } = this.#host
    const refused = (error: Error, tries: number) => this.#host.refused(this, error, tries)
    const recommit = new Recommit({ environment, store, committer, refused })
    this.#recommit = recommit
    return recommit.settle(pending.transition, outcome).then((settled) => {
      this.#recommit = null
      return this.#committed(settled, pending, false)
    })
  }

  #committed(outcome: Settled, pending: PendingTransition, creates: boolean): Promise<void> | undefined {
    if (this.#gone || outcome instanceof Error || !outcome.ok) {
      this.#recall()
      if (this.#gone) return undefined
      // Errors of retried transitions were already judged by `refused`; the error of a submission was not.
      if (outcome instanceof Error)
        return this.#partWith(outcome, creates ? this.#host.failed(this, outcome) : verdictOf(outcome))
      if ('reason' in outcome && outcome.reason === 'lost') this.#host.requestLost(this)
      if (!creates) this.#host.giveBack(this)
      const reason = new TriarchError('NODE_FENCED', 'the task must be reloaded', { cause: outcome })
      return void this.discard(reason, 'reason' in outcome && outcome.reason === 'unclaimed')
    }
    this.key = outcome.key
    this.recorded = pending.transition.seq
    if (pending.transition.events !== null) this.#recordedAt = pending.transition.at
    else if (pending.transition.work.length > 0) this.#attempts.written(pending.transition.work)
    this.#draft = null
    for (const inboxId of this.#inFlight) this.#host.inbox.drop(inboxId)
    this.#inFlight = []
    this.#settled()
    this.#tellSaid(false)
    const { turn, transition } = pending
    if (!turn.events.every(isAside)) {
      const written = (transition.events?.length ?? 0) + this.#valueReferences.repeated
      this.size = (transition.rebase ? 0 : this.size) + written
    }
    const { telemetry, node } = this.#host
    if (this.#told !== null || isHeard(telemetry, turn.events)) {
      const { events, state, at } = turn
      narrate(telemetry, { events, state, at, node, began: this.#began, run: this.#run, known: this.#told })
    }
    if (transition.work.length > 0 && telemetry['step:parked'].open) tellParked(telemetry, turn, transition.work, node)
    this.#host.settled(this)
    if (this.#attempts.hasProbation)
      for (const event of turn.events)
        if (event.type === 'heartbeat' && event.trial === 'begun') this.#attempts.recorded(event.id)
    for (const step of turn.aborts) this.#host.abortStep(this.id, step)
    for (const step of turn.forgotten) this.#host.abandonStep(this.id, step, cancelled())
    this.#startAll(turn.at)
    this.#host.committed(this, turn, transition, outcome.told === true)
    if (transition.release) return void this.#leave()
    if (turn.reload) return this.#reload()
    if (turn.full || this.#isDue || (this.#leaving && this.#attempts.none)) return this.#turn()
    return void this.#idle(nextWake(this.state))
  }

  /** The reply came through the inbox, sent again by another process, so the attempt that runs here is abandoned. */
  #ended({ message, inboxId }: IncomingMessage): void {
    const { step } = message as Reply
    if (inboxId !== null && this.#attempts.has(step)) this.#host.abandonStep(this.id, step, answered())
    this.#attempts.ended(step)
  }

  /** Writes the log lines of the code to the task's log once the turn that produced them is durable. */
  #tellSaid(again: boolean): void {
    const said = this.#driver.said?.()
    if (said) this.#host.logs.code(this.id, this.state.firstId, said, again)
  }

  /**
   * Records with the request that the attempt may outlive this process, so that a node that finds the task without an owner does not take
   * the attempt for lost.
   */
  #giveAway(turn: Turn, local: readonly Step[]): void {
    for (const { id, attempt, action } of local) {
      const lease = action === null ? null : this.#host.lease(action)
      if (lease !== null) emit(turn, { type: 'heartbeat', id, attempt, given: lease })
    }
  }

  /** The attempt's process connected to another server and will reply through the inbox; the connection here is abandoned. */
  #moved({ step, attempt, elsewhere }: Extract<Message, { type: 'heartbeat' }>): void {
    const known = this.state.steps.get(step)
    if (elsewhere === undefined || !known?.given || !this.#attempts.has(step)) return
    if (known.operation !== elsewhere || known.attempt !== attempt) return
    this.#attempts.ended(step)
    this.#leaves = step
    this.#host.abandonStep(this.id, step, movedOn())
    this.#leaves = null
  }

  /** The turn is durable, or has changed nothing. */
  #settled(): void {
    if (this.#orphaned) this.#orphaned = this.#messages.some(isTakeover)
    if (this.#taken.length > 0) for (const { recorded } of this.#taken.splice(0)) recorded?.(true)
  }

  get #isDue(): boolean {
    return this.#driver.urgent || isPressing(this.state, this.#messages)
  }

  #startAll(at: number): void {
    for (let step = this.#starts.shift(); step; step = this.#starts.shift()) this.#start(step, at)
  }

  /** Cancels the starts of a turn that was not recorded. */
  #recall(): void {
    this.#attempts.recall(this.state, this.#starts)
    this.#starts = []
  }

  #start(step: Step, at: number): void {
    const request = stepRequest(this.state, step, at)
    // A batch step is called repeatedly with the same input, so its request is not isolated.
    const given = this.state.batches.has(step.id) ? request : isolated(request)
    this.#host.attempt(this, step, given, this.#driver.code(step))
  }

  /** Starts the code anew from the history: after a continue-as-new, a rewind, or a pause from which the code could not go on. */
  async #reload(): Promise<void> {
    const rebuilt = await this.#patiently(() => reread(this.#host, this.id))
    if (this.#gone) return
    // Attempts under way stay under way; only new attempts are dispatched.
    for (const step of rebuilt.state.steps.values()) {
      const before = this.state.steps.get(step.id)
      step.dispatched =
        before?.dispatched === true && before.operation === step.operation && before.attempt === step.attempt
    }
    this.state = rebuilt.state
    this.#told = null
    await this.#replay(rebuilt)
    await this.#turn()
  }

  /** Runs the driver's asynchronous work outside of turns, so that the task can be cancelled meanwhile. */
  async #work(): Promise<void> {
    const answer = this.#working ? null : this.#driver.work?.(this.state)
    if (!answer) return
    this.#working = true
    this.push(await answer)
    this.#working = false
  }

  #idle(wakeAt: number | null): void {
    if (this.#gone) return
    this.#phase = 'resting'
    this.idleSince = this.#host.environment.monotonic()
    if (this.#isDue) return this.#wake()
    if (this.#driver.work) void this.#guard(() => this.#work())
    // A task that is about to leave starts nothing more: the end of its last attempt here wakes it.
    const waits = wakeAt === null || wakeAt === this.state.completeBy
    if (waits && this.#attempts.none && this.#isStalled) this.#host.stalled(this)
    const wait = wakeAt === null ? null : Math.max(0, wakeAt - this.#host.environment.now())
    if (wait === null || wait > MOMENT) this.#host.idle(this)
    if (wait === null || this.#leaving) return
    this.#timer = this.#host.environment.timer(wait, () => this.#wake())
  }

  /** Runs work of the task in the task's own context, and keeps its errors from the caller. */
  #guard(work: () => Promise<void> | undefined): Promise<void> | undefined {
    try {
      return this.context.run(work)?.catch((error) => this.#fail(error))
    } catch (error) {
      return void this.#fail(error as Error)
    }
  }

  /** Retries the read while the store is away; attempts under way stay under way. */
  async #patiently<T>(read: () => Promise<T>): Promise<T> {
    const { environment } = this.#host
    for (const backoff = new Backoff(100, 5_000); ; ) {
      try {
        return await read()
      } catch (error) {
        if (this.#gone || !isAway(error)) throw error
        await delay(environment, backoff.next())
      }
    }
  }

  #fail(error: Error): void {
    if (this.#gone || this.#phase === 'parting') return
    this.#created?.(error)
    this.#created = null
    this.#recall()
    this.#partWith(error, this.#host.failed(this, error))
  }

  /**
   * The task cannot go on here, though this node owns it. Once its attempts here have ended, what only this node knows is handed on and
   * the task is let go.
   */
  #partWith(error: Error, why: TriarchError | null): undefined {
    this.#why = why
    this.#phase = 'parting'
    this.#timer?.cancel()
    for (const incoming of this.#messages) if (endsAttempt(this.state, incoming.message)) this.#ended(incoming)
    if (this.#attempts.none) this.#part(error)
  }

  /** Takes a message while the task is parting. Inbox messages are left in the inbox for the next owner. */
  #hear(incoming: IncomingMessage): boolean {
    const { message, inboxId } = incoming
    if (inboxId === null && !repeats(this.#messages, message)) this.#messages.push(incoming)
    if (endsAttempt(this.state, message)) this.#ended(incoming)
    if (this.#attempts.none) this.#part()
    return inboxId === null
  }

  /** Messages that only this node has: replies and heartbeats of attempts that ran here. */
  #known(): Message[] {
    const incoming = [...this.#taken, ...this.#messages]
    return incoming.flatMap(({ message, inboxId }) => (inboxId === null && isFromAttempt(message) ? [message] : []))
  }

  #part(error: Error = movedOn()): void {
    if (this.#gone) return
    // The reply of a withdrawn attempt is not handed on: the next owner knows that the attempt did not begin, or finds the request that
    // followed, which this reply would undo.
    const known = this.#known().filter((message) => this.orphaned || !isWithdrawn(message))
    const told = [...this.#taken, ...this.#messages]
    const go = () => {
      if (this.#gone) return
      for (const { recorded } of told) recorded?.(true)
      this.#taken = []
      this.#messages = this.#messages.filter(({ inboxId }) => inboxId !== null)
      this.#host.letGo(this, this.#why)
      this.discard(error)
    }
    if (known.length === 0) go()
    else void this.#host.handOn(this.id, known).then(go)
  }
}

interface PendingTransition {
  transition: Transition
  turn: Turn
}

function isTakeover({ message }: IncomingMessage): boolean {
  return message.type === 'takeover'
}

function isWithdrawn(message: Message): boolean {
  return message.type === 'reply' && message.outcome.kind === 'withdrawn'
}

function verdictOf(error: Error): TriarchError | null {
  return isTriarchError(error, 'TASK_QUARANTINED') ? error : null
}
