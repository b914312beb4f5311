import type { AlertStore } from './alert.ts'
import type { AuditBounds, AuditEntry, Audited, AuditQuery, AuditRow } from './audit.ts'
import type { BreakerQuery, BreakerRow, BreakerWrite } from './breaker.ts'
import type { CacheBounds, CacheFill, CacheRow, CacheWrite, Invalidations } from './cache.ts'
import type { Effect, EffectOutcome, TransactionBounds } from './effect.ts'
import type { BacklogRow, HeldLock, LineQuery, LockRow, NamePage, ParkedRow, QueuedRow, QueueRow } from './gate.ts'
import type { HeadQuery, QueueHead } from './head.ts'
import type { KeyStore } from './key.ts'
import type { Candidacy, LeaderQuery, LeaderRow, Leading } from './leader.ts'
import type { KeepAlive, Lifeline } from './lifeline.ts'
import type { LogQuery, LogWrite, StoredLog } from './log.ts'
import type { Post, PostOutcome } from './post.ts'
import type { ProbeStore } from './probe.ts'
import type { Ownership, Quarantine, Termination, Truncation } from './quarantine.ts'
import type { PruneReport, PruneRequest } from './retention.ts'
import type { ListedTasks, ListQuery, NodeRow, StoreCounts, TaskRow, TaskVersion } from './rows.ts'
import type { ScheduleQuery, ScheduleRow, ScheduleWrite } from './schedule.ts'
import type { SecretStore } from './secret.ts'
import type { SettingChangeQuery, SettingChangeRow, SettingQuery, SettingRow, SettingWrite } from './setting.ts'
import type { TallyPage, TallyQuery, TallyWrite, UncountedPage, UncountedRequest } from './statistics.ts'
import type { NodeHeartbeat, NodeHeartbeats, SweepReport, SweepRequest } from './supervision.ts'

export type * from './alert.ts'
export type { AuditBounds, AuditEntry, Audited, AuditOutcome, AuditQuery, AuditRow } from './audit.ts'
export type { BreakerKind, BreakerQuery, BreakerRef, BreakerRow, BreakerWrite } from './breaker.ts'
export type { CacheBounds, CachedAnswer, CacheFill, CacheRow, CacheWrite, Invalidations } from './cache.ts'
export type {
  Claim,
  ClaimRequest,
  InboxBounds,
  InboxMessage,
  PollRequest,
  PollResult,
  TaskInboxBounds,
} from './claim.ts'
export { CLAIM_BOUNDS, INBOX_BYTES } from './claim.ts'
export type { Effect, EffectOutcome, TransactionBounds } from './effect.ts'
export type {
  BacklogRow,
  BuriedNode,
  HeldLock,
  LineQuery,
  LockRequest,
  LockRow,
  NamePage,
  NodeLoad,
  NodeRuns,
  NodeShare,
  ParkedRow,
  PausedThere,
  QueuedRow,
  QueueRow,
} from './gate.ts'
export type { HeadQuery, QueueHead } from './head.ts'
export type { HistoryRecord, LostRecord, OwnedRequest, OwnedTask, RecordMark, ReplayPage } from './history.ts'
export type * from './key.ts'
export type { Candidacy, LeaderQuery, LeaderRow, Leading } from './leader.ts'
export type { KeepAlive, Lifeline, LifelineReport } from './lifeline.ts'
export type { LogEntry, LogQuery, LogRow, LogWrite, StoredLog } from './log.ts'
export type { Post, PostOutcome, PostRoom, PostTerms } from './post.ts'
export type * from './probe.ts'
export type { Ownership, Quarantine, Termination, Truncation } from './quarantine.ts'
export type {
  ListedTasks,
  ListQuery,
  NodeRow,
  RowColumn,
  RowCondition,
  RowTest,
  StoreCounts,
  TaskRow,
  TaskVersion,
  TextRange,
} from './rows.ts'
export type { ScheduleQuery, ScheduleRow, ScheduleWrite } from './schedule.ts'
export type * from './secret.ts'
export type { SettingChangeQuery, SettingChangeRow, SettingQuery, SettingRow, SettingWrite } from './setting.ts'
export type {
  CountedTask,
  FollowedTask,
  Recount,
  RecountRow,
  Tally,
  TallyColumn,
  TallyKind,
  TallyPage,
  TallyQuery,
  TallyWrite,
  UncountedPage,
  UncountedRequest,
} from './statistics.ts'
export type { NodeHeartbeat, NodeHeartbeats, Pulse, SweepReport, SweepRequest } from './supervision.ts'
export type { Creation, ImportedTask, NewTask, Snapshot } from './task.ts'
export type { CommitOutcome, Release, SubmitOutcome, Transition } from './transition.ts'
export type { StoreVitals } from './vitals.ts'
export type {
  PermitLimit,
  PermitRow,
  QueuedReply,
  QueueShare,
  RequestMark,
  StepRequest,
  TakeWork,
  WorkAdoption,
  WorkHeartbeat,
  WorkHeartbeatOutcome,
  WorkItem,
  WorkRequest,
} from './work.ts'

import type {
  Claim,
  ClaimRequest,
  InboxBounds,
  InboxMessage,
  PollRequest,
  PollResult,
  TaskInboxBounds,
} from './claim.ts'
import type { HistoryRecord, LostRecord, OwnedRequest, OwnedTask, RecordMark, ReplayPage } from './history.ts'
import type { ImportedTask, NewTask } from './task.ts'
import type { CommitOutcome, SubmitOutcome, Transition } from './transition.ts'
import type { StoreVitals } from './vitals.ts'
import type {
  PermitRow,
  QueuedReply,
  TakeWork,
  WorkAdoption,
  WorkHeartbeat,
  WorkHeartbeatOutcome,
  WorkItem,
} from './work.ts'

/**
 * The state store: the durable record of everything (DESIGN §2, §3). Batched by design; instants are ms since the epoch
 * by the store's clock. A batch is one database transaction; each entry of it succeeds or is refused on its own.
 */
export interface StateStore extends AlertStore, KeyStore, ProbeStore, SecretStore {
  /** Opens, migrates and checks the store. Throws `STORE_*` errors. */
  open(): Promise<void>
  /** Ends all connections and threads. Calls after it are STORE_CLOSED. */
  close(): Promise<void>
  /** Brings the schema of a store that is not open to this code's. */
  migrate(order: MigrationOrder): Promise<MigrationReport>
  /** Database time: what decides deadlines between nodes. */
  now(): Promise<number>

  /**
   * Appends transitions; the answer has one outcome for each, in order. Takes effect once at most: a transition without events
   * has nothing by which a second time could be told, so a store that keeps no account of its calls does not send it again when
   * its answer is lost. STORE_BUSY with `blocked` in its details: nothing was written, for somebody holds rows that something of
   * the batch needs.
   */
  commit(batch: readonly Transition[]): Promise<CommitOutcome[]>
  /** Submits tasks without owning them; with an entry of the audit, one. */
  submit(tasks: readonly NewTask[], acted?: Audited): Promise<SubmitOutcome[]>
  /**
   * The same inside the caller's open transaction (for SQLite a DatabaseSync on the same file, done when it
   * returns; for PostgreSQL a client of `pg`). All of them, or it throws.
   */
  submitIn(transaction: unknown, tasks: readonly NewTask[]): SubmitOutcome[] | Promise<SubmitOutcome[]>
  /** Takes a task over from another store, whole. False: there is one of this id, and nothing was written. */
  importTask(task: ImportedTask): Promise<boolean>
  /**
   * Runs the body in a transaction on the store's database and keeps its answer as the effect's, in that same transaction:
   * what the body wrote is there exactly when the answer is. An effect that has its answer already gives that, and the
   * body does not run. It runs anew when the database asks for that (serialization failures, deadlocks, lost connections).
   * Rejects with what the body threw, with the signal's reason, with STORE_* and TRANSACTION_ENDED, all of which mean that
   * nothing was written; and with an UnknownOutcomeError when that is not known. For a leadership no answer is kept, and the body
   * runs only while it stands; nobody takes it over before the transaction is over.
   */
  transact(
    effect: Effect | Leading,
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
  poll(request: PollRequest): Promise<PollResult>
  /** The earliest wake-up of an unowned sleeping task. */
  nextWake(): Promise<number | null>
  /** Undelivered messages of the tasks this node owns, oldest first. They go when a transition consumes them. */
  inbox(node: string, limit: number, bounds?: InboxBounds): Promise<InboxMessage[]>
  /** Of one task, by its key: those after the letter `after`, until one reaches a bound. */
  taskInbox(key: number, after: number, most: TaskInboxBounds): Promise<InboxMessage[]>

  /** Sets a task apart, by its owner: it is given back, and nobody claims it before `lift`. False: another owner has it. */
  quarantine(task: Quarantine): Promise<boolean>
  /** An operator's word: it may be claimed once more, alone. False: it was not set apart. */
  releaseQuarantine(id: string, acted?: Audited): Promise<boolean>
  /** A task taken on trial was opened and did no harm. */
  clearSuspicion(task: Ownership): Promise<void>
  /** Ends a task that is set apart, whatever its history holds; its locks are free and those that come after it are told. */
  terminate(task: Termination): Promise<boolean>
  /** Gives up what comes after a record of a task that is set apart, which it stays. False: it was not, or has no such record. */
  truncate(task: Truncation): Promise<boolean>

  /** Takes step requests for the named agents, highest priority first; sets each row's complete-by from `completeWithin`. */
  takeWork(request: TakeWork): Promise<WorkItem[]>
  /** Requests that one node took go over to another, where they are still of the first. Those that do, in the order of the orders; null: it is not. */
  adoptWork(adoptions: readonly WorkAdoption[]): Promise<(WorkItem | null)[]>
  /** Takes a reply: removes the work row and puts the message into the inbox. False: too late, nothing happened. */
  reply(replies: readonly QueuedReply[]): Promise<boolean[]>
  /** Heartbeats of queued attempts: moves the heartbeat deadline, tells which are withdrawn or gone. */
  heartbeatWork(beats: readonly WorkHeartbeat[]): Promise<WorkHeartbeatOutcome[]>

  /** Registers the node or renews its lease; false: it was declared dead and must discard what it owns. */
  heartbeat(node: NodeHeartbeat): Promise<boolean>
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
  heartbeats(lease: string): Promise<NodeHeartbeats>
  /** Declares nodes dead whose processes are known to be no more. How many of them lived. */
  declareDead(nodes: readonly string[]): Promise<number>
  /** One supervisor sweep under a token; null when the token is no longer the leader's. */
  sweep(request: SweepRequest): Promise<SweepReport | null>

  /**
   * Tasks with records that are not counted yet, page by page; null when the token is no longer the leader's. A lap begins with all tasks
   * that were committed before it, in whatever order they were: when it is over, all is counted that had been written by then.
   */
  readUncounted(request: UncountedRequest): Promise<UncountedPage | null>
  /** Adds to the tallies, in one transaction with what was counted for them. False: nothing was written, for another leads or counted it. */
  tally(write: TallyWrite): Promise<boolean>
  /** From now on there are no tallies: whoever follows next drops them bit by bit, and all is counted anew. With an entry of the audit. */
  recount(acted?: Audited): Promise<void>
  /** Tallies, added up. */
  tallies(query: TallyQuery): Promise<TallyPage>

  /** Drops what was kept for long enough, the oldest first; null when the token is no longer the leader's. */
  prune(request: PruneRequest): Promise<PruneReport | null>
  /** Schedules that are due, or by name. */
  schedules(query: ScheduleQuery): Promise<ScheduleRow[]>
  /** The outcomes of its tasks, in order; null: nothing was written. */
  writeSchedule(write: ScheduleWrite): Promise<SubmitOutcome[] | null>
  /** False: there was none. Its tasks stay. */
  dropSchedule(name: string, acted?: Audited): Promise<boolean>

  /** What is kept under this key, and whether somebody asks for it. */
  readCache(key: string): Promise<CacheRow>
  /** Keeps an answer in the place of what was there; its flight is over. */
  writeCache(write: CacheWrite): Promise<void>
  /** Somebody is about to ask the service. False: another node, which lives, is. */
  beginFill(flight: CacheFill): Promise<boolean>
  /** It has no answer to keep. */
  endFill(flight: Pick<CacheFill, 'key' | 'node'>): Promise<void>
  /** No answer that has one of these names is valid any more that was asked for before. The generation of that. */
  invalidate(names: readonly string[], acted?: Audited): Promise<number>
  /** Those after this generation. */
  invalidated(after: number): Promise<Invalidations>
  /** Drops what has expired, and what is too much. How many answers it dropped. */
  trimCache(bounds: CacheBounds): Promise<number>

  /** Names that users' processes lead by, in order. */
  leaders(query: LeaderQuery): Promise<LeaderRow[]>
  /** Takes a leadership that nobody has who lives. False: somebody was quicker, or the node itself is no more. */
  elect(candidacy: Candidacy): Promise<boolean>
  /** Gives one up. False: it was not the node's any more. */
  resign(leading: Leading): Promise<boolean>

  /** Circuit breakers, with how much waits for each. */
  breakers(query: BreakerQuery): Promise<BreakerRow[]>
  /** False: it was at another version, and nothing was written. */
  writeBreaker(write: BreakerWrite): Promise<boolean>

  /**
   * Adds lines to the logs of tasks: those that are not there yet. Waits for nobody's commit and keeps none waiting; whoever is not sure that
   * lines were written writes them again. A log has room for the latest 10,000 lines, and 4 MiB.
   */
  writeLogs(writes: readonly LogWrite[]): Promise<void>
  /** Settings that were ever written. */
  settings(query: SettingQuery): Promise<SettingRow[]>
  /** False: it was at another revision, and nothing was written. */
  writeSetting(write: SettingWrite): Promise<boolean>
  /** What was done to one of them. */
  settingChanges(query: SettingChangeQuery): Promise<SettingChangeRow[]>

  /** Keeps acts that no write goes with; those that are there already, not again. */
  writeAudit(entries: readonly AuditEntry[]): Promise<void>
  /** Acts, the last first. */
  audit(query: AuditQuery): Promise<AuditRow[]>
  /** Drops what is too old, and what is too much. How many entries it dropped. */
  trimAudit(bounds: AuditBounds): Promise<number>

  /** Readers: never decide anything. */
  task(id: string): Promise<TaskRow | null>
  /** Of those of these tasks that there are: how far they are, without their payloads. At most 1,000 ids at a time. */
  taskVersions(ids: readonly string[]): Promise<TaskVersion[]>
  /** At most so many, up to the one with which their events reach `bytes`. */
  records(id: string, after: number, most: number | Omit<ReplayPage, 'after'>): Promise<HistoryRecord[]>
  /** What a rebuild needs: record 1, then those from the last `continuedAsNew` on; or a page of that. */
  replay(id: string, page?: ReplayPage): Promise<HistoryRecord[]>
  /** Tasks by conditions. One call looks at some thousands of rows at most, and says how far it came. */
  list(query: ListQuery): Promise<ListedTasks>
  /**
   * Which of these records and requests, all of which were acknowledged once, are not there any more: the store went back, by a failover
   * that lost the tail, a restore, or a file copied back. At most 1,000 at a time.
   */
  lostRecords(marks: readonly RecordMark[]): Promise<LostRecord[]>
  /** Tasks that this node owns, as the store sees it: by their keys, those above `after`. */
  owned(request: OwnedRequest): Promise<OwnedTask[]>
  /** Nodes that are registered. */
  nodes(): Promise<NodeRow[]>
  /** What is queued of this task, and how much is before it. */
  queued(task: string): Promise<QueuedRow>
  /** For what requests of these tasks wait that nobody has taken: of each task the first 20, the same said once. At most 1,000 ids at a time. */
  parked(tasks: readonly string[]): Promise<ParkedRow[]>
  /** Claims of this task, or on this name: the holder first, then in line. */
  locks(of: { task: string } | { name: string }): Promise<LockRow[]>
  /** Locks that are held, by name. */
  heldLocks(page: NamePage): Promise<HeldLock[]>
  /** Of these bounds, those under which requests are taken now. */
  permits(names: readonly string[]): Promise<PermitRow[]>
  /** What is next in each of these queues, in the order of each. */
  queueHeads(query: HeadQuery): Promise<QueueHead[]>
  /** Agents for which requests wait, by name. */
  queues(page: NamePage): Promise<QueueRow[]>
  /** Ready tasks by workflow and version, in that order: the first 1,000 of these. */
  backlogs(): Promise<BacklogRow[]>
  /** How much waits in one line. */
  queueLength(line: LineQuery): Promise<number>
  /** How much there is. Nothing is counted beyond MOST_COUNTED. */
  counts(): Promise<StoreCounts>
  /** Lines of a task's log. */
  logs(query: LogQuery): Promise<StoredLog>
  /** How the means of the store are, as this process sees them. Absent where there is nothing to be said. */
  vitals?(): Promise<StoreVitals>
  /** A number that changes when another process wrote; lets pollers skip idle polls. Null: the store cannot tell. */
  changes(): Promise<number | null>
  /** How long a call may take by the store's own bounds (ms); nobody waits longer for an answer. A minute when not given. */
  readonly patience?: number
  /** How many commits of a node it writes side by side, for it has more than one writer. 1 when not given. */
  readonly commitsAtOnce?: number
  /** Nobody waits for an answer to this call any more: where it was lost on one way, the next calls may go another. */
  unanswered?(call: string): void
  /** `changes` differs as well when it is time to look although nobody wrote. */
  readonly paced?: boolean
  /**
   * Calls back when another process said that it wrote. A hint: it may come late, twice, for nothing, or never. Absent
   * where stores cannot say so. `works`: the node takes up what there is to do; another one would only look for settings.
   */
  watch?(wake: (hints: readonly Hint[]) => void, works: boolean): void
  /**
   * Somebody in this process waits for tasks that are elsewhere: for some seconds it is told of those that end (null: some
   * did), which is a hint as well. False: it may not be told of all, and looks for itself as well. Absent where stores cannot.
   */
  watchEnds?(ended: (ids: readonly string[] | null) => void): boolean
}

/** How a store is to be migrated. */
export interface MigrationOrder {
  /** Only say what would be done. */
  dryRun: boolean
  /** How long to try while others keep the tables from us (ms). */
  patience: number
}

/** Steps from the store's schema to this code's, by their names. */
export interface MigrationReport {
  /** Those the store lacked. */
  pending: string[]
  /** Those of them that were done by this call: another process may have done some meanwhile. */
  done: string[]
}

/** Where to look: the agents' queues, the tasks to claim, the node's inbox, the settings, the rests of services; or somewhere: `changes` differs. */
export type Hint = 'work' | 'tasks' | 'mail' | 'settings' | 'rests' | 'changes'
