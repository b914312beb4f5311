import { realpathSync } from 'node:fs'
import type { Environment } from '../../environment/environment.ts'
import { EventLoopYield } from '../../environment/event-loop-yield.ts'
import { LONGEST_ANSWER } from '../deadline.ts'
import type { Migration } from '../migration.ts'
import type * as port from '../port.ts'
import type { PruneReport, PruneRequest } from '../retention.ts'
import { BalancedRunner } from './balanced.ts'
import { BLOCK, type Database } from './database.ts'
import { unopened } from './failure.ts'
import { SameFile, vitalsOf } from './file.ts'
import { FileNotifier } from './file-notifier.ts'
import { InlineRunner } from './inline.ts'
import { lifeline } from './lifeline.ts'
import { migratedByOthers, migrateFile } from './migrating.ts'
import { notifyWhen } from './notify-when.ts'
import { openDatabase } from './open.ts'
import { submitIn } from './outer.ts'
import { Posting } from './posting.ts'
import type { Arguments, OperationName, Operations, Runner } from './runner.ts'
import { Transactions } from './transactions.ts'
import { WorkerRunner } from './worker.ts'

/** If a commit takes longer than this (ms), all operations run in a thread of their own. */
const SLOW_COMMIT = 2

export interface SqliteSettings {
  path: string
  writer: 'auto' | 'inline' | 'worker'
  busyTimeout: number
  migrate: 'auto' | 'wait' | 'refuse'
  /** The migrations of this code; tests pass others. */
  migrations?: readonly Migration[]
}

/** The state store in a SQLite file (or in memory): implements the port with the operations of a runner. */
export class SqliteStore implements port.StateStore {
  readonly #environment: Environment
  readonly #settings: SqliteSettings
  readonly #loopYield: EventLoopYield
  readonly patience: number
  readonly #posting = new Posting((posts) => this.#run('post', posts))
  #runner: Runner | null = null
  /** Null in memory. */
  #file: SameFile | null = null
  #transactions: Transactions | null = null
  /** The connection for users' transactions; null until the first one. */
  #second: Database | null = null
  #wake: (hints: readonly port.Hint[]) => void = () => undefined
  /** Whether a node of this process processes work. */
  #works = false
  readonly vitals = (): Promise<port.StoreVitals> => vitalsOf(this.#settings.path)
  #ended: (ids: null) => void = () => undefined
  /** Null in memory. */
  #notifier: FileNotifier | null = null

  constructor(environment: Environment, settings: SqliteSettings) {
    this.#environment = environment
    this.#settings = settings
    this.#loopYield = new EventLoopYield(environment)
    this.patience = Math.max(LONGEST_ANSWER, 2 * settings.busyTimeout)
  }

  unanswered(): void {
    this.#runner?.unanswered?.()
  }

  async open(): Promise<void> {
    await this.#open()
    const { path } = this.#settings
    if (path === ':memory:') return
    // A thread that dies closes its connection. Another connection keeps the -wal file in place.
    if (this.#runner instanceof WorkerRunner) this.#ownConnection()
    // SQLite follows a link, and puts the -wal and -shm files beside the file that it leads to.
    const real = realpathSync(path)
    this.#file = new SameFile(this.#environment, path, real)
    this.#notifier = new FileNotifier(
      this.#environment,
      real,
      () => this.changes(),
      () => {
        this.#wake(['changes'])
        this.#ended(null)
      },
    )
  }

  async #open(): Promise<void> {
    if (this.#settings.migrate !== 'auto') await migratedByOthers(this.#environment, this.#settings)
    const { path, writer, busyTimeout, migrations } = this.#settings
    this.#transactions = new Transactions(this.#environment, busyTimeout, () => this.#ownConnection())
    if (writer === 'worker' && path !== ':memory:') {
      this.#runner = await opened(new WorkerRunner(this.#environment, path, busyTimeout, migrations))
      return
    }
    const inline = await opened(new InlineRunner(this.#environment, path, busyTimeout, migrations))
    this.#runner = inline
    if (path === ':memory:')
      this.#transactions = new Transactions(this.#environment, busyTimeout, () => inline.database)
    if (writer === 'inline' || path === ':memory:') return
    const thread = () => new WorkerRunner(this.#environment, path, busyTimeout, migrations)
    if ((await inline.commitTime()) <= SLOW_COMMIT) {
      this.#runner = new BalancedRunner(inline, thread)
      return
    }
    await inline.close()
    this.#runner = await opened(thread())
  }

  migrate(order: port.MigrationOrder): Promise<port.MigrationReport> {
    return migrateFile(this.#environment, this.#settings, order)
  }

  async close(): Promise<void> {
    this.#notifier?.close()
    const runner = this.#runner
    this.#runner = null
    this.#transactions = null
    this.#second?.close()
    this.#second = null
    await runner?.close()
  }

  async now(): Promise<number> {
    return this.#environment.now()
  }

  commit(batch: readonly port.Transition[]): Promise<port.CommitOutcome[]> {
    return this.#run('commit', batch)
  }

  submit(tasks: readonly port.NewTask[], acted?: port.Audited): Promise<port.SubmitOutcome[]> {
    return this.#run('submit', tasks, acted)
  }

  importTask(task: port.ImportedTask): Promise<boolean> {
    return this.#run('importTask', task)
  }

  submitIn(transaction: unknown, tasks: readonly port.NewTask[]): port.SubmitOutcome[] {
    return submitIn(transaction, tasks)
  }

  async transact(
    effect: port.Effect | port.Leading,
    bounds: port.TransactionBounds,
    body: (tx: unknown) => string | Promise<string>,
  ): Promise<port.EffectOutcome> {
    for (let turn = this.#loopYield.show(); turn; turn = this.#loopYield.show()) await turn
    if (!this.#transactions) throw unopened()
    this.#file?.check()
    const outcome = await this.#transactions.transact(effect, bounds, body)
    // The transaction may have submitted tasks.
    if (this.#notifier) this.#notifier.committed()
    else this.#wake(['tasks'])
    return outcome
  }

  effect(effect: port.Effect): Promise<string | null> {
    return this.#run('effect', effect)
  }

  post(posts: readonly port.Post[]): Promise<port.PostOutcome[]> {
    return this.#posting.post(posts)
  }

  claim(request: port.ClaimRequest): Promise<port.Claim[]> {
    return this.#run('claim', request)
  }

  poll(request: port.PollRequest): Promise<port.PollResult> {
    return this.#run('poll', request)
  }

  nextWake(): Promise<number | null> {
    return this.#run('nextWake')
  }

  inbox(node: string, limit: number, bounds?: port.InboxBounds): Promise<port.InboxMessage[]> {
    return this.#run('inbox', node, limit, bounds)
  }

  taskInbox(key: number, after: number, most: port.TaskInboxBounds): Promise<port.InboxMessage[]> {
    return this.#run('taskInbox', key, after, most)
  }

  quarantine(task: port.QuarantineEntry): Promise<boolean> {
    return this.#run('quarantine', task)
  }

  releaseQuarantine(id: string, acted?: port.Audited): Promise<boolean> {
    return this.#run('releaseQuarantine', id, acted)
  }

  clearSuspicion(task: port.Ownership): Promise<void> {
    return this.#run('clearSuspicion', task)
  }

  terminate(task: port.Termination): Promise<boolean> {
    return this.#run('terminate', task)
  }

  truncate(task: port.Truncation): Promise<boolean> {
    return this.#run('truncate', task)
  }

  permits(names: readonly string[]): Promise<port.PermitRow[]> {
    return this.#run('permits', names)
  }

  queueHeads(query: port.HeadQuery): Promise<port.QueueHead[]> {
    return this.#run('queueHeads', query)
  }

  takeWork(request: port.TakeWork): Promise<port.WorkItem[]> {
    return this.#run('takeWork', request)
  }

  adoptWork(adoptions: readonly port.WorkAdoption[]): Promise<(port.WorkItem | null)[]> {
    return this.#run('adoptWork', adoptions)
  }

  reply(replies: readonly port.QueuedReply[]): Promise<boolean[]> {
    return this.#run('reply', replies)
  }

  heartbeatWork(beats: readonly port.WorkHeartbeat[]): Promise<port.WorkHeartbeatOutcome[]> {
    return this.#run('heartbeatWork', beats)
  }

  heartbeat(node: port.NodeHeartbeat): Promise<boolean> {
    return this.#run('heartbeat', node)
  }

  /** A store in memory needs no such thread: no other process could declare the node dead. */
  keepAlive(options: port.KeepAlive): port.Lifeline | null {
    const { path } = this.#settings
    return path === ':memory:' ? null : lifeline(this.#environment, path, options)
  }

  leave(node: string): Promise<void> {
    return this.#run('leave', node)
  }

  lead(request: { name: string; node: string; ttl: number }): Promise<number | null> {
    return this.#run('lead', request)
  }

  heartbeats(lease: string): Promise<port.NodeHeartbeats> {
    return this.#run('heartbeats', lease)
  }

  declareDead(nodes: readonly string[]): Promise<number> {
    return this.#run('declareDead', nodes)
  }

  sweep(request: port.SweepRequest): Promise<port.SweepReport | null> {
    return this.#run('sweep', request)
  }

  prune(request: PruneRequest): Promise<PruneReport | null> {
    return this.#run('prune', request)
  }

  readUncounted(request: port.UncountedRequest): Promise<port.UncountedPage | null> {
    return this.#run('readUncounted', request)
  }

  tally(write: port.TallyWrite): Promise<boolean> {
    return this.#run('tally', write)
  }

  recount(acted?: port.Audited): Promise<void> {
    return this.#run('recount', acted)
  }

  tallies(query: port.TallyQuery): Promise<port.TallyPage> {
    return this.#run('tallies', query)
  }

  task(id: string): Promise<port.TaskRow | null> {
    return this.#run('task', id)
  }

  taskVersions(ids: readonly string[]): Promise<port.TaskVersion[]> {
    return this.#run('taskVersions', ids)
  }

  records(id: string, after: number, most: number | Omit<port.ReplayPage, 'after'>): Promise<port.HistoryRecord[]> {
    return this.#run('records', id, after, most)
  }

  replay(id: string, page?: port.ReplayPage): Promise<port.HistoryRecord[]> {
    return this.#run('replay', id, page)
  }

  list(query: port.ListQuery): Promise<port.ListedTasks> {
    return this.#run('list', query)
  }

  lostRecords(marks: readonly port.RecordMark[]): Promise<port.LostRecord[]> {
    return this.#run('lostRecords', marks)
  }

  owned(request: port.OwnedRequest): Promise<port.OwnedTask[]> {
    return this.#run('owned', request)
  }

  nodes(): Promise<port.NodeRow[]> {
    return this.#run('nodes')
  }

  schedules(query: port.ScheduleQuery): Promise<port.ScheduleRow[]> {
    return this.#run('schedules', query)
  }

  writeSchedule(write: port.ScheduleWrite): Promise<port.SubmitOutcome[] | null> {
    return this.#run('writeSchedule', write)
  }

  dropSchedule(name: string, acted?: port.Audited): Promise<boolean> {
    return this.#run('dropSchedule', name, acted)
  }

  breakers(query: port.BreakerQuery): Promise<port.BreakerRow[]> {
    return this.#run('breakers', query)
  }

  writeBreaker(write: port.BreakerWrite): Promise<boolean> {
    return this.#run('writeBreaker', write)
  }

  readCache(key: string): Promise<port.CacheRow> {
    return this.#run('readCache', key)
  }

  writeCache(write: port.CacheWrite): Promise<void> {
    return this.#run('writeCache', write)
  }

  beginFill(flight: port.CacheFill): Promise<port.FillBegun> {
    return this.#run('beginFill', flight)
  }

  endFill(flight: Pick<port.CacheFill, 'key' | 'node'>): Promise<void> {
    return this.#run('endFill', flight)
  }

  invalidate(names: readonly string[], acted?: port.Audited): Promise<number> {
    return this.#run('invalidate', names, acted)
  }

  invalidated(after: number): Promise<port.Invalidations> {
    return this.#run('invalidated', after)
  }

  trimCache(bounds: port.CacheBounds): Promise<number> {
    return this.#run('trimCache', bounds)
  }

  leaders(query: port.LeaderQuery): Promise<port.LeaderRow[]> {
    return this.#run('leaders', query)
  }

  elect(candidacy: port.Candidacy): Promise<boolean> {
    return this.#run('elect', candidacy)
  }

  resign(leading: port.Leading): Promise<boolean> {
    return this.#run('resign', leading)
  }

  settings(query: port.SettingQuery): Promise<port.SettingRow[]> {
    return this.#run('settings', query)
  }

  writeSetting(write: port.SettingWrite): Promise<boolean> {
    return this.#run('writeSetting', write)
  }

  settingChanges(query: port.SettingChangeQuery): Promise<port.SettingChangeRow[]> {
    return this.#run('settingChanges', query)
  }

  queued(task: string): Promise<port.QueuedRow> {
    return this.#run('queued', task)
  }

  parked(tasks: readonly string[]): Promise<port.ParkedRow[]> {
    return this.#run('parked', tasks)
  }

  locks(of: { task: string } | { name: string }): Promise<port.LockRow[]> {
    return this.#run('locks', of)
  }

  heldLocks(page: port.NamePage): Promise<port.HeldLock[]> {
    return this.#run('heldLocks', page)
  }

  queues(page: port.NamePage): Promise<port.QueueRow[]> {
    return this.#run('queues', page)
  }

  backlogs(): Promise<port.BacklogRow[]> {
    return this.#run('backlogs')
  }

  queueLength(line: port.LineQuery): Promise<number> {
    return this.#run('queueLength', line)
  }

  counts(): Promise<port.StoreCounts> {
    return this.#run('counts')
  }

  changes(): Promise<number | null> {
    return this.#run('changes')
  }

  /** A node that only watches for settings finds them with its polls. */
  watch(wake: (hints: readonly port.Hint[]) => void, works: boolean): void {
    if (!works) return
    this.#wake = wake
    this.#works = true
    this.#notifier?.listen()
  }

  watchEnds(ended: (ids: null) => void): boolean {
    this.#ended = ended
    this.#notifier?.listen()
    return false
  }

  writeLogs(writes: readonly port.LogWrite[]): Promise<void> {
    return this.#run('writeLogs', writes)
  }

  logs(query: port.LogQuery): Promise<port.StoredLog> {
    return this.#run('logs', query)
  }

  alerts(query: port.AlertQuery): Promise<port.AlertRow[]> {
    return this.#run('alerts', query)
  }

  writeAlert(write: port.AlertWrite): Promise<boolean> {
    return this.#run('writeAlert', write)
  }

  alertPosts(query: port.AlertPostQuery): Promise<port.AlertPost[]> {
    return this.#run('alertPosts', query)
  }

  settleAlertPost(settlement: port.AlertSettlement): Promise<boolean> {
    return this.#run('settleAlertPost', settlement)
  }

  keys(query: port.KeyQuery): Promise<port.KeyRow[]> {
    return this.#run('keys', query)
  }

  keyMark(): Promise<{ mark: string; count: number }> {
    return this.#run('keyMark')
  }

  writeKey(write: port.KeyWrite): Promise<boolean> {
    return this.#run('writeKey', write)
  }

  useKeys(uses: readonly port.KeyUse[]): Promise<void> {
    return this.#run('useKeys', uses)
  }

  secrets(): Promise<port.SecretRow[]> {
    return this.#run('secrets')
  }

  writeSecret(write: port.SecretWrite): Promise<boolean> {
    return this.#run('writeSecret', write)
  }

  probes(query: port.ProbeQuery): Promise<port.ProbeRow[]> {
    return this.#run('probes', query)
  }

  writeProbes(write: port.ProbeWrite): Promise<boolean> {
    return this.#run('writeProbes', write)
  }

  writeAudit(entries: readonly port.AuditEntry[]): Promise<void> {
    return this.#run('writeAudit', entries)
  }

  audit(query: port.AuditQuery): Promise<port.AuditRow[]> {
    return this.#run('audit', query)
  }

  trimAudit(bounds: port.AuditBounds): Promise<number> {
    return this.#run('trimAudit', bounds)
  }

  async #run<Name extends OperationName>(name: Name, ...args: Arguments<Name>): Promise<ReturnType<Operations[Name]>> {
    for (let turn = this.#loopYield.show(); turn; turn = this.#loopYield.show()) await turn
    // In memory there is one connection: a write between a transaction's begin and end would become part of it.
    const inMemory = this.#settings.path === ':memory:'
    while (inMemory && this.#transactions?.underWay != null) await this.#transactions.underWay
    if (!this.#runner) throw unopened()
    this.#file?.check()
    const result = await this.#runner.run(name, ...args)
    const news = this.#notifier && notifyWhen({ name, args, result, works: this.#works })
    if (news) this.#notifier?.committed(news)
    return result
  }

  #ownConnection(): Database {
    if (!this.#transactions) throw unopened()
    const { path, busyTimeout, migrations } = this.#settings
    this.#second ??= openDatabase(path, Math.min(BLOCK, busyTimeout), 'auto', migrations)
    return this.#second
  }
}

async function opened<R extends Runner>(runner: R): Promise<R> {
  await runner.open()
  return runner
}
