import type { AlertStore } from './alert.ts'
import type { AuditBounds, AuditEntry, Audited, AuditQuery, AuditRow } from './audit.ts'
import type { BreakerQuery, BreakerRow, BreakerWrite } from './breaker.ts'
import type { CacheBounds, CacheFill, CacheRow, CacheWrite, FillBegun, Invalidations } from './cache.ts'
import type { Effect, EffectOutcome, TransactionBounds } from './effect.ts'
import type { BacklogRow, HeldLock, LineQuery, LockRow, NamePage, ParkedRow, QueuedRow, QueueRow } from './gate.ts'
import type { HeadQuery, QueueHead } from './head.ts'
import type { KeyStore } from './key.ts'
import type { Candidacy, LeaderQuery, LeaderRow, Leading } from './leader.ts'
import type { KeepAlive, Lifeline } from './lifeline.ts'
import type { LogQuery, LogWrite, StoredLog } from './log.ts'
import type { Post, PostOutcome } from './post.ts'
import type { ProbeStore } from './probe.ts'
import type { Ownership, QuarantineEntry, Termination, Truncation } from './quarantine.ts'
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
export type { CacheBounds, CachedAnswer, CacheFill, CacheRow, CacheWrite, FillBegun, Invalidations } from './cache.ts'
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
export type { Ownership, QuarantineEntry, Termination, Truncation } from './quarantine.ts'
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
 * The state store is the durable record of everything. Its calls are batched by design; instants are ms since the epoch
 * by the store's clock. A batch is one database transaction; each entry of it succeeds or is refused on its own.
 */
export interface StateStore extends AlertStore, KeyStore, ProbeStore, SecretStore {
  /** Opens, migrates and checks the store. Throws `STORE_*` errors. */
  open(): Promise<void>
  /** Ends all connections and threads. Later calls fail with STORE_CLOSED. */
  close(): Promise<void>
  /** Migrates the schema of a store that is not open to the version of this code. */
  migrate(order: MigrationOrder): Promise<MigrationReport>
  /** Returns the database's time, which decides deadlines between nodes. */
  now(): Promise<number>

  /**
   * Appends transitions and returns one outcome for each, in order. A transition takes effect at most once. One without
   * events leaves no record by which a second execution could be recognised, so a store that does not log its calls
   * does not send it again when its answer is lost. Throws STORE_BUSY with `blocked` in its details if another
   * transaction holds rows that the batch needs; then nothing was written.
   */
  commit(batch: readonly Transition[]): Promise<CommitOutcome[]>
  /** Submits tasks without owning them; `acted` adds an entry to the audit in the same transaction. */
  submit(tasks: readonly NewTask[], acted?: Audited): Promise<SubmitOutcome[]>
  /**
   * Submits tasks inside the caller's open transaction (for SQLite a DatabaseSync on the same file, done when the call
   * returns; for PostgreSQL a client of `pg`). Submits all of them, or throws.
   */
  submitIn(transaction: unknown, tasks: readonly NewTask[]): SubmitOutcome[] | Promise<SubmitOutcome[]>
  /** Imports a task from another store, with its whole history. Returns false if a task of this id exists; then nothing was written. */
  importTask(task: ImportedTask): Promise<boolean>
  /**
   * Runs the body in a transaction on the store's database and keeps its answer as the effect's in the same
   * transaction: what the body wrote is there exactly when the answer is. If the effect has an answer already, returns
   * that without running the body. The body runs again when the database asks for that (serialization failures,
   * deadlocks, lost connections). Rejects with what the body threw, with the signal's reason, with STORE_* or with
   * TRANSACTION_ENDED, all of which mean that nothing was written; and with an UnknownOutcomeError when that is not
   * known. For a leadership no answer is kept, and the body runs only while the node leads; no other node can take the
   * leadership before the transaction is over.
   */
  transact(
    effect: Effect | Leading,
    bounds: TransactionBounds,
    body: (tx: unknown) => string | Promise<string>,
  ): Promise<EffectOutcome>
  /**
   * Returns the answer of the effect once no transaction is under way that could still give it one; null if it has
   * none, so that only another `transact` can give it one. Throws STORE_BUSY when that takes longer than `within` ms.
   */
  effect(effect: Effect, within: number): Promise<string | null>
  /** Puts messages into the inboxes of tasks whose state accepts them, and makes unowned tasks claimable. */
  post(posts: readonly Post[]): Promise<PostOutcome[]>

  /**
   * Takes ownership of ready tasks: sets `locked_by` to the node and raises the epoch by one. Due sleepers are woken
   * first. The order is the highest priority first, then what became ready first. Returns as many tasks as fit the
   * bounds of the answer, but at least one if any is ready.
   */
  claim(request: ClaimRequest): Promise<Claim[]>
  /** Reads in one query all that a node needs to know when it received no notification. */
  poll(request: PollRequest): Promise<PollResult>
  /** Returns the earliest wake-up of an unowned sleeping task. */
  nextWake(): Promise<number | null>
  /** Reads undelivered messages of the tasks that this node owns, oldest first. A message is deleted when a transition consumes it. */
  inbox(node: string, limit: number, bounds?: InboxBounds): Promise<InboxMessage[]>
  /** Reads the messages of one task, by its key: those after the message `after`, until one reaches a bound. */
  taskInbox(key: number, after: number, most: TaskInboxBounds): Promise<InboxMessage[]>

  /**
   * Quarantines a task on behalf of its owner: the task is released, and no node claims it before `releaseQuarantine`.
   * Returns false if another node owns it.
   */
  quarantine(task: QuarantineEntry): Promise<boolean>
  /** Lets a quarantined task be claimed once more, on its own, as an operator asked. Returns false if it was not quarantined. */
  releaseQuarantine(id: string, acted?: Audited): Promise<boolean>
  /** Records that a task on probation was opened and did no harm. */
  clearSuspicion(task: Ownership): Promise<void>
  /** Ends a quarantined task, whatever its history holds; frees its locks and notifies the tasks that come after it. */
  terminate(task: Termination): Promise<boolean>
  /**
   * Drops the records after a given one of a quarantined task, which stays quarantined. Returns false if it was not
   * quarantined, or has no such record.
   */
  truncate(task: Truncation): Promise<boolean>

  /** Takes step requests for the named agents, highest priority first; sets each row's complete-by from `completeWithin`. */
  takeWork(request: TakeWork): Promise<WorkItem[]>
  /**
   * Moves requests from the node that took them to another, if the first still has them. Returns one entry per
   * adoption, in order; null if the first node did not have the request any more.
   */
  adoptWork(adoptions: readonly WorkAdoption[]): Promise<(WorkItem | null)[]>
  /**
   * Accepts replies: removes the work row and puts the message into the inbox. An outcome is false if the reply came
   * too late; then nothing happened.
   */
  reply(replies: readonly QueuedReply[]): Promise<boolean[]>
  /** Records heartbeats of queued attempts: moves the heartbeat deadline and returns which attempts are withdrawn or gone. */
  heartbeatWork(beats: readonly WorkHeartbeat[]): Promise<WorkHeartbeatOutcome[]>

  /** Registers the node or renews its lease. Returns false if the node was declared dead; it must then discard what it owns. */
  heartbeat(node: NodeHeartbeat): Promise<boolean>
  /**
   * Renews the lease of a registered node from a thread of its own, which user code and calls of the store cannot
   * delay. If it is absent or returns null, the store has no such thread, and the node must call `heartbeat` in time.
   */
  keepAlive?(options: KeepAlive): Lifeline | null
  /** Removes the node and releases what it still owns, as orphaned. */
  leave(node: string): Promise<void>

  /** Takes or renews the leadership lease. Returns the fencing token, or null while another node leads. */
  lead(request: { name: string; node: string; ttl: number }): Promise<number | null>
  /**
   * Reads the heartbeat marks of the living nodes: a node whose mark changes between two reads has sent a heartbeat.
   * `lease` is the name of the leader's lease.
   */
  heartbeats(lease: string): Promise<NodeHeartbeats>
  /** Declares nodes dead whose processes are known to have ended. Returns how many of them were alive until then. */
  declareDead(nodes: readonly string[]): Promise<number>
  /** Runs one supervisor sweep under a fencing token; returns null when the token is no longer the leader's. */
  sweep(request: SweepRequest): Promise<SweepReport | null>

  /**
   * Reads tasks with records that are not counted yet, page by page; returns null when the token is no longer the
   * leader's. A lap begins with all tasks that were committed before it, in whatever order: when it is over, all that
   * had been written by then is counted.
   */
  readUncounted(request: UncountedRequest): Promise<UncountedPage | null>
  /**
   * Adds to the tallies, in one transaction with the marks of what was counted. Returns false if another node leads or
   * has counted it; then nothing was written.
   */
  tally(write: TallyWrite): Promise<boolean>
  /** Discards all tallies: the next counting drops them bit by bit, then counts everything anew. `acted` adds an entry to the audit. */
  recount(acted?: Audited): Promise<void>
  /** Returns tallies, added up. */
  tallies(query: TallyQuery): Promise<TallyPage>

  /** Drops tasks whose retention is over, oldest first; returns null when the token is no longer the leader's. */
  prune(request: PruneRequest): Promise<PruneReport | null>
  /** Returns schedules that are due, or by name. */
  schedules(query: ScheduleQuery): Promise<ScheduleRow[]>
  /** Writes a schedule and submits its tasks. Returns the outcomes of the tasks, in order; null if nothing was written. */
  writeSchedule(write: ScheduleWrite): Promise<SubmitOutcome[] | null>
  /** Deletes a schedule; its tasks stay. Returns false if there was none. */
  dropSchedule(name: string, acted?: Audited): Promise<boolean>

  /** Reads the cached answer of this key, and whether a node is asking the service for it. */
  readCache(key: string): Promise<CacheRow>
  /** Stores an answer in place of the previous one and ends its fill. */
  writeCache(write: CacheWrite): Promise<void>
  /** Records that a node is about to ask the service, unless another living node is asking already. Returns the kept answer, too. */
  beginFill(flight: CacheFill): Promise<FillBegun>
  /** Ends a fill that gave no answer to keep. */
  endFill(flight: Pick<CacheFill, 'key' | 'node'>): Promise<void>
  /** Invalidates all answers that have one of these names and were asked for before now. Returns the generation of this invalidation. */
  invalidate(names: readonly string[], acted?: Audited): Promise<number>
  /** Returns the invalidations after this generation. */
  invalidated(after: number): Promise<Invalidations>
  /** Drops expired and surplus rows of the cache. Returns how many answers it dropped. */
  trimCache(bounds: CacheBounds): Promise<number>

  /** Returns the leaderships of users' processes, by name. */
  leaders(query: LeaderQuery): Promise<LeaderRow[]>
  /** Takes a leadership that no living node has. Returns false if another node was quicker, or this node is no longer registered. */
  elect(candidacy: Candidacy): Promise<boolean>
  /** Gives up a leadership. Returns false if the node did not have it any more. */
  resign(leading: Leading): Promise<boolean>

  /** Returns circuit breakers, rate limits or cooldowns, with how many requests wait for each. */
  breakers(query: BreakerQuery): Promise<BreakerRow[]>
  /** Writes one row. Returns false if the row has another version; then nothing was written. */
  writeBreaker(write: BreakerWrite): Promise<boolean>

  /**
   * Adds lines to the logs of tasks, except lines that are there already. It neither waits for a commit nor delays one;
   * a caller that is not sure whether lines were written writes them again. A log has room for the latest 10,000 lines,
   * and 4 MiB.
   */
  writeLogs(writes: readonly LogWrite[]): Promise<void>
  /** Returns all settings that were ever written. */
  settings(query: SettingQuery): Promise<SettingRow[]>
  /** Writes a setting. Returns false if it has another revision; then nothing was written. */
  writeSetting(write: SettingWrite): Promise<boolean>
  /** Returns the changes of one setting. */
  settingChanges(query: SettingChangeQuery): Promise<SettingChangeRow[]>

  /** Adds entries to the audit that belong to no other write, except entries that are there already. */
  writeAudit(entries: readonly AuditEntry[]): Promise<void>
  /** Returns audit entries, the latest first. */
  audit(query: AuditQuery): Promise<AuditRow[]>
  /** Drops entries that are too old or too many. Returns how many it dropped. */
  trimAudit(bounds: AuditBounds): Promise<number>

  /** Reads the row of a task. This call and those below only read. */
  task(id: string): Promise<TaskRow | null>
  /** Returns how far these tasks are, without their payloads; ids of tasks that do not exist are left out. At most 1,000 ids at a time. */
  taskVersions(ids: readonly string[]): Promise<TaskVersion[]>
  /** Reads at most `most` records after `after`, up to the one with which their events reach `bytes`. */
  records(id: string, after: number, most: number | Omit<ReplayPage, 'after'>): Promise<HistoryRecord[]>
  /** Reads what a rebuild needs: record 1, then those from the last `continuedAsNew` on; or a page of that. */
  replay(id: string, page?: ReplayPage): Promise<HistoryRecord[]>
  /** Lists tasks by conditions. One call examines some thousands of rows at most, and returns how far it came. */
  list(query: ListQuery): Promise<ListedTasks>
  /**
   * Returns which of these records and requests, all acknowledged once, no longer exist: the store went back, by a
   * failover that lost the tail, a restore, or a file copied back. At most 1,000 at a time.
   */
  lostRecords(marks: readonly RecordMark[]): Promise<LostRecord[]>
  /** Returns the tasks that this node owns according to the store, by key, those above `after`. */
  owned(request: OwnedRequest): Promise<OwnedTask[]>
  /** Returns the registered nodes. */
  nodes(): Promise<NodeRow[]>
  /** Returns what is queued of this task, and how much is before it. */
  queued(task: string): Promise<QueuedRow>
  /**
   * Returns what the requests of these tasks that no node has taken wait for: of each task the first 20, without
   * duplicates. At most 1,000 ids at a time.
   */
  parked(tasks: readonly string[]): Promise<ParkedRow[]>
  /** Returns the lock requests of this task or for this name: the holder first, then in order. */
  locks(of: { task: string } | { name: string }): Promise<LockRow[]>
  /** Returns the held locks, by name. */
  heldLocks(page: NamePage): Promise<HeldLock[]>
  /** Returns those of these limits under which requests are taken now. */
  permits(names: readonly string[]): Promise<PermitRow[]>
  /** Returns the first requests of each of these queues, in the order of each. */
  queueHeads(query: HeadQuery): Promise<QueueHead[]>
  /** Returns the agents for which requests wait, by name. */
  queues(page: NamePage): Promise<QueueRow[]>
  /** Returns the number of ready tasks by workflow and version, in that order: the first 1,000 of these. */
  backlogs(): Promise<BacklogRow[]>
  /** Returns how much waits in one queue. */
  queueLength(line: LineQuery): Promise<number>
  /** Returns the counts of the store. Nothing is counted beyond MOST_COUNTED. */
  counts(): Promise<StoreCounts>
  /** Returns lines of a task's log. */
  logs(query: LogQuery): Promise<StoredLog>
  /** Returns the state of the store's resources as this process sees them. Absent where a store has nothing to report. */
  vitals?(): Promise<StoreVitals>
  /** Returns a number that changes when another process wrote, so that pollers can skip idle polls; null if the store cannot tell. */
  changes(): Promise<number | null>
  /** How long a call may take by the store's own bounds (ms); callers wait no longer for an answer. Default: a minute. */
  readonly patience?: number
  /** How many commits of a node the store writes in parallel, if it has more than one writer. Default: 1. */
  readonly commitsAtOnce?: number
  /**
   * Tells the store that no caller waits for an answer to this call any more: if the answer was lost on one connection,
   * the next calls may use another.
   */
  unanswered?(call: string): void
  /** If true, `changes` also differs when it is time to poll although no process wrote. */
  readonly paced?: boolean
  /**
   * Calls back when another process notified this one that it wrote. A notification may come late, twice, for nothing,
   * or never. Absent where a store has no notifications. `works` says that the node processes work; other nodes only
   * watch for settings.
   */
  watch?(wake: (hints: readonly Hint[]) => void, works: boolean): void
  /**
   * Tells the store that this process waits for tasks that run elsewhere: for some seconds `ended` is called with those
   * that end (null: some did, which ones is not known). Returns false if notifications may be missing, so that the
   * caller must poll as well. Absent where a store cannot notify of ends.
   */
  watchEnds?(ended: (ids: readonly string[] | null) => void): boolean
}

/** Options of a migration. */
export interface MigrationOrder {
  /** Only report what would be done. */
  dryRun: boolean
  /** How long to retry while other connections lock the tables (ms). */
  patience: number
}

/** The migrations from the store's schema to this code's, by name. */
export interface MigrationReport {
  /** Migrations that the store lacked. */
  pending: string[]
  /** Migrations that this call did: another process may have done some meanwhile. */
  done: string[]
}

/**
 * What changed: the agents' queues, the tasks to claim, the node's inbox, the settings, or the cooldowns of services;
 * `changes`: something, and `changes()` differs.
 */
export type Hint = 'work' | 'tasks' | 'mail' | 'settings' | 'rests' | 'changes'
