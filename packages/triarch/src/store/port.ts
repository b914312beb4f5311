import type { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { Message } from '../kernel/message.ts'
import type { TaskResult, TaskStatus } from '../kernel/status.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { Effect, EffectOutcome, TransactionBounds } from './effect.ts'
import type { LockRequest, LockRow, QueuedRow } from './gate.ts'
import type { KeepAlive, Lifeline } from './lifeline.ts'
import type { Post, PostOutcome } from './post.ts'
import type { Cut, Ownership, Quarantine, Termination } from './quarantine.ts'
import type { PruneReport, PruneRequest } from './retention.ts'
import type { ListQuery, NodeRow, StoreCounts, TaskMark, TaskRow } from './rows.ts'
import type { ScheduleQuery, ScheduleRow, ScheduleWrite } from './schedule.ts'
import type { NodeBeat, Pulses, SweepReport, SweepRequest } from './supervision.ts'

export type { Effect, EffectOutcome, TransactionBounds } from './effect.ts'
export type { LockRequest, LockRow, NodeRuns, QueuedRow } from './gate.ts'
export type { KeepAlive, Lifeline, LifelineReport } from './lifeline.ts'
export type { Post, PostOutcome, PostRoom, PostTerms } from './post.ts'
export type { Cut, Ownership, Quarantine, Termination } from './quarantine.ts'
export type { ListQuery, NodeRow, StoreCounts, TaskMark, TaskRow } from './rows.ts'
export type { ScheduleQuery, ScheduleRow, ScheduleWrite } from './schedule.ts'
export type { NodeBeat, Pulse, Pulses, SweepReport, SweepRequest } from './supervision.ts'

/**
 * The state store: the durable record of everything (DESIGN §2, §3). Batched by design; instants are ms since the epoch
 * by the store's clock. A batch is one database transaction; each entry of it succeeds or is refused on its own.
 */
export interface StateStore {
  /** Opens, migrates and checks the store. Throws `STORE_*` errors. */
  open(): Promise<void>
  close(): Promise<void>
  /** Brings the schema of a store that is not open to this code's; `dryRun`: only says what would be done. */
  migrate(options: { dryRun: boolean; patience: number }): Promise<MigrationReport>
  /** Database time: what decides deadlines between nodes. */
  now(): Promise<number>

  /**
   * Appends transitions; the answer has one outcome for each, in order. Never sent again by the store itself when its
   * answer is lost: a transition without events has nothing by which a second time could be told. STORE_BUSY with `blocked`
   * in its details: nothing was written, for somebody holds rows that something of the batch needs.
   */
  commit(batch: readonly Transition[]): Promise<CommitOutcome[]>
  /** Submits tasks without owning them. */
  submit(tasks: readonly NewTask[]): Promise<SubmitOutcome[]>
  /**
   * The same inside the caller's open transaction (`via`: for SQLite a DatabaseSync on the same file, done when it
   * returns; for PostgreSQL a client of `pg`).
   */
  submitVia(via: unknown, task: NewTask): SubmitOutcome | Promise<SubmitOutcome>
  /**
   * Runs the body in a transaction on the store's database and keeps its answer as the effect's, in that same transaction:
   * what the body wrote is there exactly when the answer is. An effect that has its answer already gives that, and the
   * body does not run. It runs anew when the database asks for that (serialization failures, deadlocks, lost connections).
   * Rejects with what the body threw, with the signal's reason, with STORE_* and TRANSACTION_ENDED, all of which mean that
   * nothing was written; and with an UnknownOutcomeError when that is not known.
   */
  transact(
    effect: Effect,
    bounds: TransactionBounds,
    body: (tx: unknown) => string | Promise<string>,
  ): Promise<EffectOutcome>
  /**
   * The answer of the effect, once no transaction is under way that could still give it one; null: it has none, and only
   * another `transact` can give it one. Throws STORE_BUSY when that takes longer than `within` ms.
   */
  effect(effect: Effect, within: number): Promise<string | null>
  /** Puts messages into tasks' inboxes, where the task's state takes them, and makes unowned tasks claimable. */
  post(posts: readonly Post[]): Promise<PostOutcome[]>

  /**
   * Takes ownership of ready tasks: `locked_by` = node, epoch + 1. Due sleepers are woken first. The highest priority comes
   * first, then what became ready first. As many as fit the bounds of the answer, but one at least.
   */
  claim(request: ClaimRequest): Promise<Claim[]>
  /** What a node that was told nothing wants to know, in one read. */
  look(request: LookRequest): Promise<Look>
  /** The earliest wake-up of an unowned sleeping task. */
  nextWake(): Promise<number | null>
  /** Undelivered messages of the tasks this node owns, oldest first. They go when a transition consumes them. */
  inbox(node: string, limit: number, bounds?: InboxBounds): Promise<Letter[]>
  /** Of one task, by its key: those after the letter `after`, until one reaches a bound. */
  letters(key: number, after: number, most: LetterBounds): Promise<Letter[]>

  /** Sets a task apart, by its owner: it is given back, and nobody claims it before `lift`. False: another owner has it. */
  quarantine(task: Quarantine): Promise<boolean>
  /** An operator's word: it may be claimed once more, alone. False: it was not set apart. */
  lift(id: string): Promise<boolean>
  /** A task taken on trial was opened and did no harm. */
  acquit(task: Ownership): Promise<void>
  /** Ends a task that is set apart, whatever its history holds; its locks are free and those that come after it are told. */
  terminate(task: Termination): Promise<boolean>
  /** Gives up what comes after a record of a task that is set apart, which it stays. False: it was not, or has no such record. */
  cut(task: Cut): Promise<boolean>

  /** Takes step requests for the named agents, highest priority first; sets each row's complete-by from `completeWithin`. */
  takeWork(request: TakeWork): Promise<WorkItem[]>
  /** Takes a reply: removes the work row and puts the message into the inbox. False: too late, nothing happened. */
  reply(replies: readonly QueuedReply[]): Promise<boolean[]>
  /** Heartbeats of queued attempts: moves the heartbeat deadline, tells which are withdrawn or gone. */
  beatWork(beats: readonly WorkBeat[]): Promise<WorkBeatOutcome[]>

  /** Registers the node or renews its lease; false: it was declared dead and must discard what it owns. */
  beat(node: NodeBeat): Promise<boolean>
  /**
   * Renews the lease of a registered node from a thread of its own, which user code and calls of the store cannot keep
   * waiting. Absent, or null: nothing of the kind here, `beat` must be called in time.
   */
  keepAlive?(options: KeepAlive): Lifeline | null
  /** Removes the node and releases whatever it still owns (as orphaned). */
  leave(node: string): Promise<void>

  /** Takes or renews the leadership lease; the fencing token, or null while another node leads. */
  lead(request: { name: string; node: string; ttl: number }): Promise<number | null>
  /** How the living nodes' beats look: what changes between two looks has beaten. `lease`: the name by which somebody leads. */
  pulses(lease: string): Promise<Pulses>
  /** Declares nodes dead whose processes are known to be no more. How many of them lived. */
  bury(nodes: readonly string[]): Promise<number>
  /** One supervisor sweep under a token; null when the token is no longer the leader's. */
  sweep(request: SweepRequest): Promise<SweepReport | null>

  /** Drops what was kept for long enough, the oldest first; null when the token is no longer the leader's. */
  prune(request: PruneRequest): Promise<PruneReport | null>
  schedules(query: ScheduleQuery): Promise<ScheduleRow[]>
  /** The outcomes of its tasks, in order; null: nothing was written. */
  writeSchedule(write: ScheduleWrite): Promise<SubmitOutcome[] | null>
  /** False: there was none. Its tasks stay. */
  dropSchedule(name: string): Promise<boolean>

  /** Readers: never decide anything. */
  task(id: string): Promise<TaskRow | null>
  /** Of those of these tasks that there are: how far they are, without their payloads. At most 1,000 ids at a time. */
  marks(ids: readonly string[]): Promise<TaskMark[]>
  /** At most so many, up to the one with which their events reach `bytes`. */
  records(id: string, after: number, most: number | Omit<ReplayPage, 'after'>): Promise<HistoryRecord[]>
  /** What a rebuild needs: record 1, then those from the last `continued` on; or a page of that. */
  replay(id: string, page?: ReplayPage): Promise<HistoryRecord[]>
  list(query: ListQuery): Promise<TaskRow[]>
  /**
   * Which of these records and requests, all of which were acknowledged once, are not there any more: the store went back, by a failover
   * that lost the tail, a restore, or a file copied back. At most 1,000 at a time.
   */
  lost(marks: readonly RecordMark[]): Promise<LostRecord[]>
  /** Tasks that this node owns, as the store sees it: by their keys, those above `after`. */
  owned(request: OwnedRequest): Promise<OwnedTask[]>
  nodes(): Promise<NodeRow[]>
  /** What is queued of this task, and how much is before it. */
  queued(task: string): Promise<QueuedRow>
  /** Claims of this task, or on this name: the holder first, then in line. */
  locks(of: { task: string } | { name: string }): Promise<LockRow[]>
  counts(): Promise<StoreCounts>
  /** A number that changes when another process wrote; lets pollers skip idle polls. Null: the store cannot tell. */
  changes(): Promise<number | null>
  /** How long a call may take by the store's own bounds (ms); nobody waits longer for an answer. A minute when not given. */
  readonly patience?: number
  /** Nobody waits for an answer to this call any more: where it was lost on one way, the next calls may go another. */
  unanswered?(call: string): void
  /** `changes` differs as well when it is time to look although nobody wrote. */
  readonly paced?: boolean
  /**
   * Calls back when another process said that it wrote. A hint: it may come late, twice, for nothing, or never. Absent
   * where stores cannot say so.
   */
  watch?(wake: (hints: readonly Hint[]) => void): void
  /**
   * Somebody in this process waits for tasks that are elsewhere: for some seconds it is told of those that end (null: some
   * did), which is a hint as well. False: the store does not say so now. Absent where stores cannot.
   */
  attend?(ended: (ids: readonly string[] | null) => void): boolean
}

/** The latest record of a task that somebody knows of. */
export interface RecordMark {
  id: string
  key: number
  seq: number
  /** It was queued after that record, by none of its own: a store that lost it has neither it nor its reply, nor a record since. */
  request?: Pick<WorkRequest, 'step' | 'operation' | 'attempt'>
}

export interface LostRecord {
  id: string
  /** The last record of the task that there is; null: there is no such task. */
  last: number | null
  /** It is the request that is lost. */
  request?: true
}

export interface OwnedRequest {
  node: string
  after: number
  limit: number
}

export interface OwnedTask {
  key: number
  id: string
  epoch: number
}

/** Steps from the store's schema to this code's, by their names. */
export interface MigrationReport {
  /** Those the store lacked. */
  pending: string[]
  /** Those of them that were done by this call: another process may have done some meanwhile. */
  done: string[]
}

/** Where to look: the agents' queues, the tasks to claim, the node's inbox. */
export type Hint = 'work' | 'tasks' | 'mail'

/** A task to be created, with its first history record (`submitted`). */
export interface NewTask {
  id: string
  workflow: string
  version: string
  priority: number
  tags: Record<string, string>
  status: 'scheduled' | 'pending' | 'planned'
  at: number
  /** Not before this instant; null: now. */
  startAt: number | null
  /** The next instant at which somebody must look even if nobody can run it (start-before, complete-by). */
  deadline: number | null
  parent: string | null
  /** The step of the parent that asked for it. */
  parentStep?: number
  /** JSON array of events: history record 1. */
  events: string
  /** It is not ready before a letter comes: about its locks, about the tasks it comes after, or any other. */
  gates?: { locks: readonly LockRequest[]; after: readonly string[] }
}

/** A task that is created by its owner: its first record is that of the transition. */
export type Creation = Omit<NewTask, 'events'>

/** Several transitions of one task may not be in one batch: the next one waits for the outcome of the last. */
export interface Transition {
  /** The row, when known; null for a task created by this very transition (`create`). */
  key: number | null
  id: string
  node: string
  epoch: number
  /**
   * Position of this record in the task's gapless history, from 1; of a transition without events, that of the last record (0:
   * not known). It is written only where the record before is there.
   */
  seq: number
  at: number
  /** JSON array of the events of this record; null appends none (a mere release). */
  events: string | null
  create: Creation | null
  /** Written when something in it changed. */
  snapshot: Snapshot | null
  /** Inbox letters consumed by this record. */
  consumed: readonly number[]
  /** Step requests that go through the work queue. */
  work: readonly WorkRequest[]
  /** Steps whose queued requests are withdrawn: unclaimed ones at once as a `withdrawn` reply, running ones by a flag. */
  withdraw: readonly number[]
  /** Steps whose outstanding requests no longer matter (expired, forced stop): rows are deleted. */
  forget: readonly number[]
  children: readonly NewTask[]
  posts: readonly Post[]
  /** Claims given back, then asked for: once all transitions of the batch are written. */
  gates?: { locks: readonly LockRequest[]; unlocks: readonly number[] }
  /** Ownership is given back. `wakeAt`: next instant to look, null: only a message wakes it. */
  release: { wakeAt: number | null; ready: boolean; orphaned: boolean } | null
  /** Replay starts anew from this record (it holds a `continued`). */
  rebase: boolean
}

export type CommitOutcome =
  /** `told`: letters went to other tasks because this one stopped or gave back a lock. */
  | { ok: true; key: number; told?: true }
  /** Another owner has it (epoch or sequence): discard and reload. */
  | { ok: false; reason: 'fenced' }
  /** `create` met an existing id. */
  | { ok: false; reason: 'exists' }

export interface SubmitOutcome {
  created: boolean
  key: number
  /** Inside the caller's transaction and not created: the first record of the task there is, which may not be committed yet. */
  first?: string
  /** Not created: a lock it wanted with `reject` (`lock`) is held by this task. */
  heldBy?: string
  lock?: string
}

/** The part of the task row that is derived from the history. */
export interface Snapshot {
  status: TaskStatus
  result: TaskResult
  /** Failed attempts of all steps so far. */
  failures: number
  /** Next instant at which the supervisor must look even if nobody can run the task. */
  deadline: number | null
  /** Inputs, outputs and errors as JSON texts. */
  progress: string | null
  output: string | null
  error: string | null
  pause: string | null
}

export interface WorkRequest {
  step: number
  operation: Operation
  attempt: number
  agent: string
  action: string
  priority: number
  /** Complete-by of the attempt, from the moment an agent takes it (ms). */
  completeWithin: number
  heartbeatWithin: number | null
  /** Absolute complete-by of the step or task; null: none. */
  expiresAt: number | null
  request: StepRequest
}

/** What an agent needs to run one attempt. */
export interface StepRequest {
  task: string
  step: number
  operation: Operation
  attempt: number
  name: string
  action: string
  workflow: string
  version: string
  idempotencyKey: string
  /** The highest fencing number of the locks its task held when the attempt was sent out. */
  fence?: number
  /** Of its task. */
  metadata?: Readonly<Record<string, string>>
  input: Json
  /** For undo: the output to undo. */
  output?: Json
  checkpoint?: Json
  /** What a step that was suspended runs again with. */
  event?: { name: string; payload: Json }
  /** It was lost with its process time and again: it is to be tried by itself. */
  trial?: true
}

export interface ClaimRequest {
  node: string
  /** Workflow versions this node can run. */
  runnable: readonly { workflow: string; version: string }[]
  limit: number
  /**
   * Given after a claim whose answer was lost: the ids the node knows it owns. What it owns besides is released first, as
   * orphaned, for itself or others to claim.
   */
  held?: readonly string[]
  /** Bounds of the answer: history records, and bytes of their events. */
  records?: number
  bytes?: number
  /** A task under suspicion, if there is one, comes first and alone. Others never take one. */
  trial?: boolean
  /** Keys of tasks that it leaves to others for now. */
  except?: readonly number[]
}

/** Of an answer to a claim, when not given; letters of each task. */
export const CLAIM_BOUNDS: Readonly<Record<'records' | 'bytes' | 'letters' | 'letterBytes', number>> = {
  records: 20_000,
  bytes: 8 * 1024 * 1024,
  letters: 200,
  letterBytes: 1024 * 1024,
}

/** Bytes of messages in one reading of an inbox, when not given. */
export const INBOX_BYTES: number = 8 * 1024 * 1024

export interface LetterBounds {
  limit: number
  bytes: number
}

export interface InboxBounds {
  /** The letter that reaches it is the last. */
  bytes?: number
  /** Not the oldest of all, but the oldest of each task, by keys: those above `after` without `skip`. */
  each?: LetterBounds & { after: number; skip: readonly number[] }
}

/** So many records after this one, up to the one with which their events reach `bytes`. */
export interface ReplayPage {
  after: number
  records: number
  bytes: number
}

export interface LookRequest extends Pick<ClaimRequest, 'node' | 'runnable'> {
  /** Those of its agents. */
  actions: readonly string[]
  /** The name of the lease by which somebody leads. */
  lease: string
}

/** Hints as good as they were at the store's instant `now`. */
export interface Look {
  now: number
  /** Letters for tasks of this node. */
  mail: boolean
  /** A task that it may claim is ready, or a sleeper is due. */
  tasks: boolean
  /** A request for one of its actions waits. */
  work: boolean
  /** Nobody leads. */
  vacant: boolean
  /** The earliest wake-up of a sleeper, for the node that leads, or while nobody does: others wake what they put to sleep. */
  nextWake: number | null
  /** Nodes that live. */
  living: number
}

export interface Claim {
  key: number
  id: string
  workflow: string
  version: string
  epoch: number
  /** The owner before did not hand it back: its in-process attempts are lost. */
  orphaned: boolean
  /** Record 1, then those from the last `continued` on. */
  records: HistoryRecord[]
  /** These are not all the records there are: bytes of all. */
  rest?: number
  letters: Letter[]
  /** These are not all the letters there are. */
  unread?: true
  /** It is under suspicion; `strikes`: owners that died while they had it on trial. */
  trial?: { strikes: number }
  /** Of the last one of an answer: more are ready. */
  more?: true
  /** Attempts outstanding in work queues. */
  work: { step: number; operation: Operation; attempt: number }[]
}

export interface HistoryRecord {
  seq: number
  at: number
  /** JSON array of events. */
  events: string
  /** Of one that is encoded in the store: the bytes that it has there, by which readings are bounded. */
  stored?: number
  /** Why it cannot be decoded; its events are no JSON then. */
  undecoded?: TriarchError | undefined
}

export interface Letter {
  /** Inbox id. */
  id: number
  key: number
  message: Message
  /** Of the last one of a reading: a bound kept others out. */
  more?: true
}

export interface TakeWork {
  node: string
  /** `actions`: those the node knows; a newer version's requests wait for a node that has them. */
  agents: readonly { agent: string; actions: readonly string[]; limit: number }[]
}

export interface WorkItem {
  id: number
  agent: string
  request: StepRequest
  completeBy: number
  heartbeatWithin: number | null
}

export interface QueuedReply {
  work: number
  node: string
  message: Message
}

export interface WorkBeat {
  work: number
  node: string
  /** Delivered to the owner's inbox when given. */
  message: Message | null
}

/**
 * `late`: the row is gone or somebody else's. `withdrawn`: abort it. `held`: it lives, but its message is not delivered, for
 * somebody's transaction holds the task.
 */
export type WorkBeatOutcome = 'ok' | 'withdrawn' | 'late' | 'held'
