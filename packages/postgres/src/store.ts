import type pg from 'pg'
import type * as port from 'triarch/store'
import {
  ASK_AGAIN,
  allOf,
  countedName,
  type Environment,
  endOfKeys,
  type Hint,
  INBOX_BYTES,
  KEYED,
  LEADER,
  LONGEST_ANSWER,
  listingOf,
  MOST_BACKLOGS,
  parseRequest,
  rateLine,
  spanOf,
  TALLIES_DROPPED,
} from 'triarch/store'
import type { Act } from './act.ts'
import { alertOf, alertPostOf, alertQuery, alertValues } from './alert.ts'
import { answerOf, elements, isUnnamed, newsOf, number, postOutcomes, readyOf } from './answer.ts'
import { booleans, integers, texts } from './arrays.ts'
import { actValues, auditArrays, auditRow, auditStatement } from './audit.ts'
import { BlockedCalls } from './blocked-calls.ts'
import { breakerOf } from './breaker.ts'
import { cacheOf, fillBegun, invalidationsOf } from './cache.ts'
import { claimArguments, claimsOf, inboxMessageOf, messagesOf, sharesOf } from './claim.ts'
import { commitArguments, commitCall, commitOutcomes, gatesOfBatch } from './commit.ts'
import { connect, disconnect, inTime } from './connect.ts'
import { byNode, type NodeEntry } from './entries.ts'
import { unopened } from './failure.ts'
import { headOf } from './head.ts'
import { importValues } from './import.ts'
import { keyOf, keyQuery, keyUses, keyWriting } from './key.ts'
import { leaderOf } from './leader.ts'
import { lifeline } from './lifeline.ts'
import { amongStatement, fewStatement, type ListStatement, listedOf, listStatement, probeStatement } from './list.ts'
import { logOf, logValues, writeLogsArguments } from './log.ts'
import { checkServer, migrate, prepare } from './migrate.ts'
import type { News } from './news.ts'
import type { AddressedRuns } from './node-directory.ts'
import { Notifier } from './notifier.ts'
import type { Settings } from './options.ts'
import { submitIn } from './outer.ts'
import { patiently } from './patience.ts'
import { PollInterval } from './poll-interval.ts'
import { Pool } from './pool.ts'
import { probeOf, probeQuery, probeValues } from './probe.ts'
import type { Row } from './query.ts'
import { QueueVacuum } from './queue-vacuum.ts'
import {
  backlogOf,
  countsOf,
  heartbeatsOf,
  heldOf,
  lockOf,
  lookOf,
  markOf,
  nodeOf,
  parkedOf,
  queuedOf,
  queueOf,
  recordOf,
  taskOf,
} from './reads.ts'
import { Replica } from './replica.ts'
import { scheduleArguments, scheduleOf, scheduleOutcomes } from './schedule.ts'
import { inSchema } from './schema.ts'
import { secretOf, secretValues } from './secret.ts'
import { settingChangeOf, settingOf } from './setting.ts'
import type { Statement } from './slot.ts'
import { type CallWithAct, type Statements, statementsIn } from './statements.ts'
import { countingOf, filtersOf, tallyOf } from './statistics.ts'
import { gatesOfTasks, submitOutcomes, taskArrays } from './submit.ts'
import { Transactions } from './transactions.ts'

/** The highest possible number of a record: they are integers of four bytes. */
const LAST_RECORD = 2 ** 31 - 1
const UNBOUNDED = Number.MAX_SAFE_INTEGER
const WHOLE: port.ReplayPage = { after: 0, records: 1e9, bytes: UNBOUNDED }

/**
 * The state store on PostgreSQL. A call is one statement, and so one round trip and one transaction. Exceptions are
 * queues with limits of their own, messages with an audit entry each, and bounds of two kinds: each of these is a
 * statement of its own, independent of the others.
 */
export class PostgresStore implements port.StateStore {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #statements: Statements
  readonly #notifier: Notifier
  readonly #pollInterval: PollInterval
  readonly #blockedCalls: BlockedCalls
  readonly #queueVacuum: QueueVacuum
  /** `changes` decides when to poll. */
  readonly paced = true
  readonly commitsAtOnce = 2
  readonly patience: number
  /**
   * Separate pools, so that the calls that drive tasks never wait for users' reads or other reads of that kind, and
   * nothing delays the renewal of the node's lease.
   */
  #pools: { calls: Pool; reads: Pool; beats: Pool } | null = null
  #transactions: Transactions | null = null
  #replica: Replica | null = null

  constructor(environment: Environment, settings: Settings) {
    this.#environment = environment
    this.#settings = settings
    this.patience = Math.max(LONGEST_ANSWER, 2 * (settings.patience + settings.answerWithin))
    this.#statements = statementsIn(settings.schema)
    this.#notifier = new Notifier(environment, settings)
    this.#pollInterval = new PollInterval(environment)
    this.#blockedCalls = new BlockedCalls(environment)
    const sql = (text: string) => inSchema(text, settings.schema)
    this.#queueVacuum = new QueueVacuum(environment, sql, (statement) => this.#run('reads', statement, [], 0))
  }

  async open(): Promise<void> {
    await patiently(this.#environment, this.#settings.patience, async () => {
      const client = await connect(this.#settings, 'calls')
      try {
        await inTime(this.#environment, this.#settings, client, checkServer(client))
        await prepare(client, this.#settings, this.#environment)
      } finally {
        await disconnect(this.#environment, client)
      }
      if (this.#settings.notify) await this.#notifier.open()
    })
    const reads = new Pool(this.#environment, this.#settings, 'reads', this.#settings.reads)
    this.#pools = {
      calls: new Pool(this.#environment, this.#settings, 'calls', this.#settings.connections),
      reads,
      beats: new Pool(this.#environment, this.#settings, 'beats', 1),
    }
    this.#transactions = new Transactions(this.#environment, this.#settings)
    const { readFrom } = this.#settings
    if (readFrom) this.#replica = new Replica(this.#environment, { ...this.#settings, readFrom }, reads)
  }

  migrate(order: port.MigrationOrder): Promise<port.MigrationReport> {
    return migrate(this.#settings, this.#environment, order)
  }

  async close(): Promise<void> {
    const pools = this.#pools
    const [transactions, replica] = [this.#transactions, this.#replica]
    this.#pools = null
    this.#replica = null
    this.#transactions = null
    await this.#notifier.close()
    await Promise.all([...Object.values(pools ?? {}), transactions, replica].map((it) => it?.close()))
  }

  async now(): Promise<number> {
    return number(await this.#first('clock', [this.#given()])) ?? 0
  }

  async commit(batch: readonly port.Transition[]): Promise<port.CommitOutcome[]> {
    if (batch.length === 0) return []
    const gates = gatesOfBatch(batch)
    const known: News[] = []
    for (const { id, work, children, release, snapshot } of batch) {
      for (const { action } of work) known.push({ work: action })
      if (children.length > 0) known.push(...readyOf(children))
      if (release?.ready) known.push('tasks')
      if (snapshot?.status === 'stopped' && this.#notifier.awaited) known.push({ ended: id })
    }
    const [name, given] =
      gates === null ? commitCall(batch) : (['commit_gated', [...commitArguments(batch), gates]] as const)
    const row = await this.#seen(this.#first(name, given))
    const news = newsOf(row)
    const left = newsOf(row, 2)
    for (const it of left) news.add(it)
    for (const it of known) news.add(it)
    this.#tell(news)
    // A message arrived while its task was released: this process was able to run the task until now.
    if (isUnnamed(row) && batch.some(({ release }) => release)) this.#notifier.wakeSelf(['tasks'])
    const told = left.size > 0 || gates !== null
    return commitOutcomes(answerOf(row)).map((it) => (it.ok && told ? { ...it, told } : it))
  }

  async submit(tasks: readonly port.NewTask[], acted: port.Audited = {}): Promise<port.SubmitOutcome[]> {
    if (tasks.length === 0) return []
    const gates = gatesOfTasks(tasks)
    const ready = readyOf(tasks)
    const row = await (gates !== null
      ? this.#seen(this.#first('submit_gated', [...taskArrays(tasks), gates]))
      : this.#numbered('submit', taskArrays(tasks), acted))
    this.#tell([...ready, ...newsOf(row)])
    const refused = row?.[3]
    return submitOutcomes(answerOf(row), typeof refused === 'string' ? refused : null)
  }

  async importTask(task: port.ImportedTask): Promise<boolean> {
    const made = (await this.#act('importTask', [this.#given(), ...importValues(task)], task)).length > 0
    if (made && task.ready) this.#tell(['tasks'])
    return made
  }

  async submitIn(transaction: unknown, tasks: readonly port.NewTask[]): Promise<port.SubmitOutcome[]> {
    if (tasks.length === 0) return []
    const news = () => this.#notifier.words([...readyOf(tasks)])
    // The time of the commit is not known.
    return this.#seen(submitIn(transaction, tasks, this.#settings, news))
  }

  async transact(
    effect: port.Effect | port.Leading,
    bounds: port.TransactionBounds,
    body: (tx: pg.ClientBase) => string | Promise<string>,
  ): Promise<port.EffectOutcome> {
    if (!this.#transactions) throw unopened()
    return this.#seen(this.#transactions.transact(effect, bounds, body))
  }

  async effect(effect: port.Effect, within: number): Promise<string | null> {
    if (!this.#transactions) throw unopened()
    return this.#transactions.effect(effect, within)
  }

  async post(posts: readonly port.Post[]): Promise<port.PostOutcome[]> {
    if (posts.length === 0) return []
    // Each audit entry needs a statement of its own.
    if (posts.length > 1 && posts.some(({ audit }) => audit)) {
      const outcomes: port.PostOutcome[] = []
      for (const post of posts) outcomes.push(...(await this.post([post])))
      return outcomes
    }
    const given = [
      texts(posts, ({ task }) => task),
      booleans(posts, ({ control }) => control),
      texts(posts, ({ message }) => message.type),
      texts(posts, ({ message }) => countedName(message)),
      texts(posts, ({ message }) => JSON.stringify(message)),
      texts(posts, ({ terms }) => terms?.fits.join(' ')),
      integers(posts, ({ terms }) => terms?.room?.letters),
      integers(posts, ({ terms }) => terms?.room?.bytes),
      integers(posts, ({ terms }) => terms?.room?.unsaid.letters),
      integers(posts, ({ terms }) => terms?.room?.unsaid.bytes),
      texts(posts, ({ terms }) => terms?.room?.only?.kind),
      texts(posts, ({ terms }) => terms?.room?.only?.name),
      integers(posts, ({ terms }) => terms?.room?.asOf),
    ]
    const row = await this.#blockedCalls.run(this.#settings.patience, () =>
      this.#numbered('post_on_terms', given, posts[0]),
    )
    this.#tell(newsOf(row))
    return postOutcomes(answerOf(row))
  }

  async claim(request: port.ClaimRequest): Promise<port.Claim[]> {
    const rows = await this.#call('take_tasks', [this.#given(), ...claimArguments(request)])
    if (rows.length > 0) this.#pollInterval.found()
    return claimsOf(rows)
  }

  async poll({ node, runnable, actions, lease }: port.PollRequest): Promise<port.PollResult> {
    const row = await this.#first('poll', [
      ...[this.#given(), node],
      texts(runnable, ({ workflow }) => workflow),
      texts(runnable, ({ version }) => version),
      ...[texts(actions), lease],
    ])
    const look = lookOf(row)
    this.#pollInterval.living = look.living
    return look
  }

  async nextWake(): Promise<number | null> {
    return number(await this.#first('nextWake', []))
  }

  async inbox(
    node: string,
    limit: number,
    { bytes = INBOX_BYTES, each, held = [] }: port.InboxBounds = {},
  ): Promise<port.InboxMessage[]> {
    const rows = each
      ? await this.#call('letters_each', [
          ...[node, limit, bytes, each.limit, each.bytes, each.after],
          integers([...each.skip]),
        ])
      : await this.#call('letters_beside', [node, limit, bytes, integers(held)])
    if (rows.length > 0) this.#pollInterval.found()
    return each ? sharesOf(rows, { limit, bytes }) : messagesOf(rows)
  }

  async taskInbox(key: number, after: number, { limit, bytes }: port.TaskInboxBounds): Promise<port.InboxMessage[]> {
    return (await this.#call('letters_of', [key, after, limit, bytes])).map(inboxMessageOf)
  }

  async quarantine({ key, node, epoch, at, orphaned, record }: port.QuarantineEntry): Promise<boolean> {
    const why = [record?.events ?? null, record?.pause ?? null]
    const row = await this.#first('quarantine', [key, node, epoch, at, orphaned, ...why])
    return answerOf(row) === 'yes'
  }

  async releaseQuarantine(id: string, acted: port.Audited = {}): Promise<boolean> {
    const lifted = (await this.#act('releaseQuarantine', [id], acted)).length > 0
    if (lifted) this.#tell(['tasks'])
    return lifted
  }

  async clearSuspicion({ key, epoch, node }: port.Ownership): Promise<void> {
    await this.#call('clearSuspicion', [key, epoch, node])
  }

  async terminate({ id, at, events, snapshot, posts, audit }: port.Termination): Promise<boolean> {
    const { status, result, output, error } = snapshot
    const given = [
      ...[id, at, events, status, result, output, error],
      texts(posts, ({ task }) => task),
      booleans(posts, ({ control }) => control),
      texts(posts, ({ message }) => message.type),
      texts(posts, ({ message }) => countedName(message)),
      texts(posts, ({ message }) => JSON.stringify(message)),
    ]
    const row = await this.#numbered('terminate', given, { ...(audit && { audit }) })
    this.#tell(new Set<News>(['tasks', ...newsOf(row)]))
    return answerOf(row) === 'yes'
  }

  async truncate({ id, after, at, events, snapshot, base, locks, audit }: port.Truncation): Promise<boolean> {
    const { status, result, failures, progress, output, error, pause } = snapshot
    const given = [
      ...[id, after, at, events, base, integers([...locks])],
      ...[status, result, failures, progress, output, error, pause],
    ]
    const row = await this.#numbered('truncate_history', given, { ...(audit && { audit }) })
    this.#tell(new Set<News>(['tasks', ...newsOf(row)]))
    return answerOf(row) === 'yes'
  }

  async takeWork({ node, agents }: port.TakeWork): Promise<port.WorkItem[]> {
    // A statement has one order, one range of priorities and one set of limits, so a queue with its own is queried separately.
    const isPlain = ({ seats, ranks, urgent }: port.QueueShare) => !seats && !ranks && !urgent
    const plain = agents.filter(isPlain)
    const items = plain.length > 0 || agents.length === 0 ? await this.#takeWork(node, plain) : []
    for (const share of agents) if (!isPlain(share)) items.push(...(await this.#takeWork(node, [share], share)))
    return items
  }

  async permits(names: readonly string[]): Promise<port.PermitRow[]> {
    const rows = (await this.#call('permits', [texts([...names])])) as [string, number, number][]
    return rows.map(([name, taken, most]) => ({ name, taken, most }))
  }

  async queueHeads({ queues, depth }: port.HeadQuery): Promise<port.QueueHead[]> {
    const asked = queues.map(({ agent, actions, seats = [], ranks }) => {
      const [lowest, beyond] = spanOf(ranks)
      const bounds = { names: seats.map(({ name }) => name), mosts: seats.map(({ most }) => most) }
      return { agent, actions, lowest, beyond, ...bounds }
    })
    return (await this.#call('queueHeads', [JSON.stringify(asked), this.#given(), depth])).map(headOf)
  }

  async #takeWork(
    node: string,
    agents: port.TakeWork['agents'],
    { urgent, ranks, seats = [] }: Pick<port.QueueShare, 'urgent' | 'ranks' | 'seats'> = {},
  ): Promise<port.WorkItem[]> {
    const rows = await this.#call('take_work', [
      this.#given(),
      node,
      texts(agents, ({ agent }) => agent),
      integers(agents, ({ limit }) => limit),
      texts(agents.flatMap(({ actions }) => actions)),
      urgent === true,
      ...spanOf(ranks),
      texts(seats, ({ name }) => name),
      integers(seats, ({ most }) => most),
    ])
    if (rows.length > 0) this.#pollInterval.found()
    const illegible: number[] = []
    const items = (rows as [number, string, string, number, number | null][]).flatMap((row): port.WorkItem[] => {
      const [id, agent, text, completeBy, heartbeatWithin] = row
      const request = parseRequest(text)
      if (!request) illegible.push(id)
      return request ? [{ id, agent, request, completeBy, heartbeatWithin }] : []
    })
    // If this fails, the requests count as lost when their time is over.
    if (illegible.length > 0) await this.#giveBack(node, illegible).catch(() => undefined)
    return items
  }

  /** Withdraws requests that cannot be read; their tasks make them again from the history. */
  async #giveBack(node: string, works: readonly number[]): Promise<void> {
    const rows = await this.#call('attempts', [integers(works)])
    const endedAt = await this.now()
    const outcome = { kind: 'withdrawn', after: ASK_AGAIN } as const
    const replies = (rows as [number, number, port.QueuedRow['work'][number]['operation'], number][]).map(
      ([work, step, operation, attempt]): port.QueuedReply => {
        return {
          work,
          node,
          message: { type: 'reply', step, operation, attempt, outcome, startedAt: null, endedAt, node },
        }
      },
    )
    await this.reply(replies)
  }

  async adoptWork(adoptions: readonly port.WorkAdoption[]): Promise<(port.WorkItem | null)[]> {
    const rows = (await this.#call('adoptWork', [
      this.#given(),
      integers(adoptions.map(({ work }) => work)),
      texts(adoptions.map(({ node }) => node)),
      texts(adoptions.map(({ to }) => to)),
      texts(adoptions.map(({ of }) => of.task)),
      integers(adoptions.map(({ of }) => of.step)),
      texts(adoptions.map(({ of }) => of.operation)),
      integers(adoptions.map(({ of }) => of.attempt)),
    ])) as [number, string, string, number, number | null][]
    const items = adoptions.map((): port.WorkItem | null => null)
    for (const [place, agent, text, completeBy, heartbeatWithin] of rows) {
      const id = adoptions[place - 1]?.work
      const request = parseRequest(text)
      if (request && id !== undefined) items[place - 1] = { id, agent, request, completeBy, heartbeatWithin }
    }
    return items
  }

  async reply(replies: readonly port.QueuedReply[]): Promise<boolean[]> {
    return this.#ofNodes('reply', replies, (answer) => answer !== '0', [])
  }

  async heartbeatWork(beats: readonly port.WorkHeartbeat[]): Promise<port.WorkHeartbeatOutcome[]> {
    return this.#ofNodes('pulse_work', beats, (answer) => answer as port.WorkHeartbeatOutcome, [this.#given()])
  }

  /** A lease cannot wait, so a heartbeat that is late fails, and the next one tries again. */
  async heartbeat({ id, roles, lease, runs, place, again }: port.NodeHeartbeat): Promise<boolean> {
    this.#notifier.node = id
    const said: AddressedRuns | undefined = runs && { ...runs, own: this.#notifier.own }
    const texts = [said, place].map((it) => (it ? JSON.stringify(it) : null))
    const values = [this.#given(), id, JSON.stringify(roles), lease, ...texts]
    const rows = await this.#run('beats', this.#statements.beat, values, Math.min(this.#settings.patience, lease / 3))
    const alive = rows[0]?.[0] === true
    if (alive && runs && !again) this.#tell(['came'])
    return alive
  }

  /** Available where the server's clock decides and a thread can load `pg`. */
  keepAlive(options: port.KeepAlive): port.Lifeline | null {
    return this.#settings.clock === 'environment' ? null : lifeline(this.#environment, this.#settings, options)
  }

  async leave(node: string): Promise<void> {
    await this.#call('leave', [this.#given(), node])
    this.#tell([{ left: node }, 'tasks'])
  }

  async lead({ name, node, ttl }: { name: string; node: string; ttl: number }): Promise<number | null> {
    return number(await this.#first('lead', [this.#given(), name, node, ttl]))
  }

  async heartbeats(lease: string): Promise<port.NodeHeartbeats> {
    return heartbeatsOf(await this.#call('heartbeats', [this.#given(), lease]))
  }

  async declareDead(nodes: readonly string[]): Promise<number> {
    return number(await this.#first('declare_dead', [this.#given(), texts(nodes)])) ?? 0
  }

  async sweep({ name, token, limit, silent, shift = 0, until }: port.SweepRequest): Promise<port.SweepReport | null> {
    const marks = silent ? [texts(silent, ({ id }) => id), texts(silent, ({ mark }) => mark)] : [null, null]
    const row = await this.#first('sweep', [until ?? this.#given(), name, token, limit, ...marks, shift])
    if (typeof row?.[0] !== 'string') return null
    const report = JSON.parse(row[0]) as port.SweepReport
    const overlooked = elements(row[2])
    if (overlooked.length > 0) {
      this.#tell([{ overlooked }])
      this.#notifier.wakeSelf(['tasks', 'work', 'mail'])
    }
    if (typeof row[4] === 'string') void this.#queueVacuum.sweep()
    return { ...report, schedules: row[3] === true }
  }

  async prune({
    name,
    token,
    rules,
    limit,
    records,
    except = [],
  }: port.PruneRequest): Promise<port.PruneReport | null> {
    const row = await this.#first('prune', [
      ...[this.#given(), name, token],
      texts(rules, ({ workflow }) => workflow),
      texts(rules, ({ result }) => result),
      integers(rules, ({ age }) => age),
      ...[limit, records, integers([...except])],
    ])
    return typeof row?.[0] === 'string' ? (JSON.parse(row[0]) as port.PruneReport) : null
  }

  async readUncounted({
    name,
    token,
    after,
    look,
    limit,
    audit,
  }: port.UncountedRequest): Promise<port.UncountedPage | null> {
    const row = await this.#first('follow_history', [this.#given(), name, token, after, look, limit, audit])
    return typeof row?.[0] === 'string' ? (JSON.parse(row[0]) as port.UncountedPage) : null
  }

  async tally({ name, token, tasks, tallies, asOf, keepFrom }: port.TallyWrite): Promise<boolean> {
    const row = await this.#first('tally_history', [
      ...[this.#given(), name, token, JSON.stringify(tasks), JSON.stringify(tallies), asOf],
      ...[Math.max(0, Math.floor(keepFrom)), TALLIES_DROPPED],
    ])
    return row?.[0] === true
  }

  async recount(acted: port.Audited = {}): Promise<void> {
    await this.#act('recount', [this.#given()], acted)
  }

  async tallies(query: port.TallyQuery): Promise<port.TallyPage> {
    const { from, to, by, limit } = query
    const rows = await this.#view('tallies', [from, to, texts([...by]), limit, ...filtersOf(query)])
    return { tallies: rows.map(tallyOf), ...countingOf((await this.#view('counting', [this.#given()]))[0]) }
  }

  async task(id: string): Promise<port.TaskRow | null> {
    const [row] = await this.#read('task', [id])
    return row ? taskOf(row) : null
  }

  async taskVersions(ids: readonly string[]): Promise<port.TaskVersion[]> {
    return (await this.#call('taskVersions', [texts(ids)])).map(markOf)
  }

  async records(
    id: string,
    after: number,
    most: number | Omit<port.ReplayPage, 'after'>,
  ): Promise<port.HistoryRecord[]> {
    const { records, bytes } = typeof most === 'number' ? { records: most, bytes: UNBOUNDED } : most
    return (await this.#read('records', [id, Math.min(after, LAST_RECORD), records, bytes])).map(recordOf)
  }

  async replay(id: string, { after, records, bytes }: port.ReplayPage = WHOLE): Promise<port.HistoryRecord[]> {
    return (await this.#read('replay', [id, after, records, bytes])).map(recordOf)
  }

  async list(query: port.ListQuery): Promise<port.ListedTasks> {
    const { probe, instead, ...listing } = listingOf(query.where)
    const { copy = false } = query
    const listed = async (statement: ListStatement) => listedOf(await this.#list(statement, copy), query)
    const known = probe && (await this.#few(probeStatement(probe), copy))
    if (known) return listed(amongStatement(query, known))
    if (listing.parts.length === 0) return { rows: [], looked: null }
    const page = await listed(listStatement(query, listing))
    const fewer = page.looked !== null && instead ? await this.#few(fewStatement(instead), copy) : null
    return fewer ? listed(amongStatement(query, fewer)) : page
  }

  /** Returns the keys; null if there are more than one call examines, or one of them is null. */
  async #few(statement: ListStatement, copy: boolean): Promise<readonly number[] | null> {
    return allOf((await this.#list(statement, copy)).map(([key]) => key as number | null))
  }

  /** Each form of a query is a different statement, so preparing it would not pay. */
  #list({ sql, values }: ListStatement, copy: boolean): Promise<Row[]> {
    const statement = { name: '', sql: inSchema(sql, this.#settings.schema), numbered: false }
    return copy ? this.#looked(statement, values) : this.#run('reads', statement, values)
  }

  async lostRecords(marks: readonly port.RecordMark[]): Promise<port.LostRecord[]> {
    const rows = await this.#call('lostRecords', [
      texts(marks, ({ id }) => id),
      integers(marks, ({ key }) => key),
      integers(marks, ({ seq }) => seq),
      integers(marks, ({ request }) => request?.step),
      texts(marks, ({ request }) => request?.operation),
      integers(marks, ({ request }) => request?.attempt),
    ])
    return rows.map(([id, last, request]) => ({
      ...{ id: String(id), last: last as number | null },
      ...(request === true && { request }),
    }))
  }

  async owned({ node, after, limit }: port.OwnedRequest): Promise<port.OwnedTask[]> {
    const rows = await this.#call('owned', [node, after, limit])
    return rows.map(([key, id, epoch]) => ({ key: Number(key), id: String(id), epoch: Number(epoch) }))
  }

  async nodes(): Promise<port.NodeRow[]> {
    return (await this.#read('nodes', [])).map(nodeOf)
  }

  async schedules(query: port.ScheduleQuery): Promise<port.ScheduleRow[]> {
    const { limit } = query
    const rows =
      'due' in query
        ? this.#call('schedulesDue', [query.due, limit])
        : 'name' in query
          ? this.#read('scheduleNamed', [query.name, limit])
          : this.#read('schedulesAfter', [query.after, limit])
    return (await rows).map(scheduleOf)
  }

  async writeSchedule(write: port.ScheduleWrite): Promise<port.SubmitOutcome[] | null> {
    const row = await this.#numbered('write_schedule', [this.#given(), ...scheduleArguments(write)], write)
    if (write.tasks.length > 0) this.#tell([...readyOf(write.tasks), ...newsOf(row)])
    return scheduleOutcomes(row)
  }

  async dropSchedule(name: string, acted: port.Audited = {}): Promise<boolean> {
    return (await this.#act('dropSchedule', [name], acted)).length > 0
  }

  async breakers(query: port.BreakerQuery): Promise<port.BreakerRow[]> {
    const { count } = query
    if ('refs' in query) {
      const [kinds, names] = (['kind', 'name'] as const).map((of) => texts(query.refs, (it) => it[of]))
      return (await this.#call('breakersNamed', [count, kinds, names])).map(breakerOf)
    }
    if ('limits' in query) {
      const lines = [...new Set(query.limits)].map(rateLine)
      const columns = (['name', 'queue', 'above', 'below', 'action'] as const).map((of) => texts(lines, (it) => it[of]))
      return (await this.#call('rateLimits', [count, ...columns])).map(breakerOf)
    }
    const { after, limit } = query
    if ('kind' in query) return (await this.#read('breakersAfter', [count, query.kind, after, limit])).map(breakerOf)
    const { agent } = query
    const values = [count, agent, after, limit, `${agent}${KEYED}`, endOfKeys(agent)]
    return (await this.#call('breakersOf', values)).map(breakerOf)
  }

  async writeBreaker(write: port.BreakerWrite): Promise<boolean> {
    const { kind, name, expected, state } = write
    const rows =
      state === null
        ? this.#act('dropBreaker', [kind, name, expected], write)
        : expected === 0
          ? this.#act('createBreaker', [kind, name, state], write)
          : this.#act('updateBreaker', [kind, name, expected, state], write)
    const isWritten = (await rows).length > 0
    // Other processes must learn of a cooldown while it lasts, however seldom they poll.
    if (isWritten && state !== null && kind === 'rest') this.#tell(['rests'])
    return isWritten
  }

  async readCache(key: string): Promise<port.CacheRow> {
    return cacheOf(key, await this.#first('readCache', [this.#given(), key]))
  }

  async writeCache({ key, node, value, seen, at, keep }: port.CacheWrite): Promise<void> {
    await this.#call('writeCache', [this.#given(), key, value, seen, keep, at, node])
  }

  async beginFill({ key, node, within }: port.CacheFill): Promise<port.FillBegun> {
    return fillBegun(key, await this.#first('beginFill', [this.#given(), key, node, within]))
  }

  async endFill({ key, node }: Pick<port.CacheFill, 'key' | 'node'>): Promise<void> {
    await this.#call('endFill', [key, node])
  }

  async invalidate(names: readonly string[], acted: port.Audited = {}): Promise<number> {
    return number((await this.#act('invalidate', [texts([...names])], acted))[0]) ?? 0
  }

  async invalidated(after: number): Promise<port.Invalidations> {
    return invalidationsOf(await this.#call('invalidated', [after]))
  }

  async trimCache({ limit, marks, answers }: port.CacheBounds): Promise<number> {
    await this.#call('forgetMarks', [marks])
    return number(await this.#first('forgetAnswers', [this.#given(), limit, answers])) ?? 0
  }

  async leaders(query: port.LeaderQuery): Promise<port.LeaderRow[]> {
    const rows =
      'names' in query
        ? this.#call('leadersNamed', [this.#given(), texts([...query.names])])
        : this.#read('leadersAfter', [this.#given(), query.after, query.limit])
    return (await rows).map(leaderOf)
  }

  async elect({ name, node, expected }: port.Candidacy): Promise<boolean> {
    const rows =
      expected === 0
        ? this.#call('electFirst', [LEADER + name, node])
        : this.#call('electNext', [LEADER + name, node, expected, this.#given()])
    return (await rows).length > 0
  }

  async resign({ name, node, token }: port.Leading): Promise<boolean> {
    return (await this.#call('resign', [LEADER + name, node, token])).length > 0
  }

  async settings(query: port.SettingQuery): Promise<port.SettingRow[]> {
    const rows =
      'names' in query
        ? this.#call('settingsNamed', [texts([...query.names])])
        : this.#read('settingsAfter', [query.after, query.limit])
    return (await rows).map(settingOf)
  }

  async writeSetting(write: port.SettingWrite): Promise<boolean> {
    const { name, expected, at, state, change } = write
    const given = [name, at, state, change]
    const rows = await (expected === 0
      ? this.#act('createSetting', given, write)
      : this.#act('updateSetting', [...given, expected], write))
    if (rows.length > 0) this.#tell(['settings'])
    return rows.length > 0
  }

  async settingChanges({ name, before, limit }: port.SettingChangeQuery): Promise<port.SettingChangeRow[]> {
    return (await this.#read('settingChanges', [name, before, limit])).map(settingChangeOf)
  }

  async parked(tasks: readonly string[]): Promise<port.ParkedRow[]> {
    return (await this.#read('parked', [texts([...tasks])])).map(parkedOf)
  }

  async queued(task: string): Promise<port.QueuedRow> {
    const [ahead, work] = await Promise.all([this.#read('ahead', [task]), this.#read('queued', [task])])
    return { ahead: number(ahead[0]), work: work.map(queuedOf) }
  }

  async locks(of: { task: string } | { name: string }): Promise<port.LockRow[]> {
    const rows = 'task' in of ? this.#read('locksOfTask', [of.task]) : this.#read('locksOfName', [of.name])
    return (await rows).map(lockOf)
  }

  async heldLocks({ after, limit }: port.NamePage): Promise<port.HeldLock[]> {
    return (await this.#read('heldLocks', [after, limit])).map(heldOf)
  }

  async queues({ after, limit }: port.NamePage): Promise<port.QueueRow[]> {
    return (await this.#read('queues', [after, limit])).map(queueOf)
  }

  async backlogs(): Promise<port.BacklogRow[]> {
    return (await this.#read('backlogs', [MOST_BACKLOGS])).map(backlogOf)
  }

  async queueLength(line: port.LineQuery): Promise<number> {
    const rows =
      'workflow' in line
        ? this.#read('ready', [line.workflow, line.count])
        : this.#read('queuedFor', [line.agent, line.agent + KEYED, endOfKeys(line.agent), line.count])
    return number((await rows)[0]) ?? 0
  }

  async counts(): Promise<port.StoreCounts> {
    return countsOf((await this.#view('counts', []))[0])
  }

  async changes(): Promise<number | null> {
    return this.#pollInterval.count(this.#notifier.alive)
  }

  async writeLogs(writes: readonly port.LogWrite[]): Promise<void> {
    await this.#call('write_logs', writeLogsArguments(writes))
  }

  async logs(query: port.LogQuery): Promise<port.StoredLog> {
    return logOf(await this.#read('logs', logValues(query)))
  }

  async alerts(query: port.AlertQuery): Promise<port.AlertRow[]> {
    const [name, values] = alertQuery(query)
    return (await (name === 'alertsNamed' ? this.#call(name, values) : this.#read(name, values))).map(alertOf)
  }

  async writeAlert(write: port.AlertWrite): Promise<boolean> {
    const { state, expected } = write
    const name = state === null ? 'dropAlert' : expected === 0 ? 'createAlert' : 'updateAlert'
    return (await this.#act(name, [this.#given(), ...alertValues(write)], write)).length > 0
  }

  async alertPosts({ due, limit }: port.AlertPostQuery): Promise<port.AlertPost[]> {
    return (await this.#call('alertPosts', [due, limit])).map(alertPostOf)
  }

  async settleAlertPost({ id, next, fence }: port.AlertSettlement): Promise<boolean> {
    const given = [this.#given(), fence?.name ?? null, fence?.token ?? null, id]
    const rows = next
      ? this.#call('deferAlertPost', [...given, next.dueAt, next.state])
      : this.#call('settleAlertPost', given)
    return (await rows).length > 0
  }

  async keys(query: port.KeyQuery): Promise<port.KeyRow[]> {
    return (await this.#read(...keyQuery(query))).map(keyOf)
  }

  async keyMark(): Promise<{ mark: string; count: number }> {
    const [mark = '', count = 0] = ((await this.#read('keyMark', []))[0] ?? []) as [string?, number?]
    return { mark, count }
  }

  async writeKey(write: port.KeyWrite): Promise<boolean> {
    return (await this.#act(...keyWriting(write), write)).length > 0
  }

  async useKeys(uses: readonly port.KeyUse[]): Promise<void> {
    if (uses.length > 0) await this.#call('useKeys', keyUses(uses))
  }

  async secrets(): Promise<port.SecretRow[]> {
    return (await this.#call('secrets', [])).map(secretOf)
  }

  async writeSecret(write: port.SecretWrite): Promise<boolean> {
    return (await this.#act('writeSecret', secretValues(write), write)).length > 0
  }

  async probes(query: port.ProbeQuery): Promise<port.ProbeRow[]> {
    return (await this.#read(...probeQuery(query))).map(probeOf)
  }

  async writeProbes(write: port.ProbeWrite): Promise<boolean> {
    return (await this.#call('writeProbes', probeValues(write))).length > 0
  }

  async writeAudit(entries: readonly port.AuditEntry[]): Promise<void> {
    if (entries.length > 0) await this.#seen(this.#call('writeAudit', auditArrays(entries)))
  }

  async audit(query: port.AuditQuery): Promise<port.AuditRow[]> {
    return (await this.#list(auditStatement(query), true)).map(auditRow)
  }

  async trimAudit({ before, entries, surplus, limit }: port.AuditBounds): Promise<number> {
    const expired = before === null ? [] : await this.#call('expireAudit', [before, limit])
    return expired.length + (await this.#call('trimAudit', [entries, limit, surplus])).length
  }

  watch(wake: (hints: readonly Hint[]) => void): void {
    this.#notifier.onHint(wake)
  }

  async vitals(): Promise<port.StoreVitals> {
    if (!this.#pools) throw unopened()
    const pools = Object.entries(this.#pools).map(([name, pool]) => ({ name, ...pool.load }))
    if (!this.#replica) return { pools }
    return {
      pools: [...pools, { name: 'replica', ...this.#replica.load }],
      replica: { lag: await this.#replica.lag() },
    }
  }

  watchEnds(ended: (ids: readonly string[] | null) => void): boolean {
    return this.#notifier.attend(ended)
  }

  /** Calls once for each node in the entries: usually one, except when a process reports for others. */
  async #ofNodes<T>(
    name: 'reply' | 'pulse_work',
    entries: readonly NodeEntry[],
    outcome: (answer: string) => T,
    first: readonly unknown[],
  ): Promise<T[]> {
    const outcomes: T[] = []
    for (const [node, own] of byNode(entries)) {
      const works = integers(own, ({ it }) => it.work)
      const messages = texts(own, ({ it }) => it.message && JSON.stringify(it.message))
      const marks = [
        texts(own, ({ it }) => it.of?.task),
        integers(own, ({ it }) => it.of?.step),
        texts(own, ({ it }) => it.of?.operation),
        integers(own, ({ it }) => it.of?.attempt),
      ]
      const row = await this.#first(name, [...first, node, works, messages, ...marks])
      this.#tell(newsOf(row))
      for (const [index, answer] of answerOf(row).split(',').entries()) {
        const place = own[index]?.place
        if (place !== undefined) outcomes[place] = outcome(answer)
      }
    }
    return outcomes
  }

  /** The current time for a statement; null: the server's own clock. */
  #given(): number | null {
    return this.#settings.clock === 'environment' ? this.#environment.now() : null
  }

  #tell(news: Iterable<News>): void {
    this.#pollInterval.found()
    if (this.#settings.notify) this.#notifier.tell(news)
  }

  async #run(pool: 'calls' | 'reads' | 'beats', ...call: Parameters<Pool['run']>): Promise<Row[]> {
    if (!this.#pools) throw unopened()
    return this.#pools[pool].run(...call)
  }

  async #call(name: keyof Statements, values: readonly unknown[]): Promise<Row[]> {
    return this.#run('calls', this.#statements[name], values)
  }

  /** Runs a statement, with its audit entry if there is one. */
  #act(name: Act, values: readonly unknown[], { audit }: port.Audited): Promise<Row[]> {
    return this.#seen(audit ? this.#call(`${name}Act`, [...values, ...actValues(audit)]) : this.#call(name, values))
  }

  #numbered(name: CallWithAct, values: readonly unknown[], acted: port.Audited = {}): Promise<Row | undefined> {
    const { audit } = acted
    return this.#seen(audit ? this.#first(`${name}_act`, [...values, ...actValues(audit)]) : this.#first(name, values))
  }

  /** Records that a user's change was made here, whether or not it is known to have succeeded: reads that follow must see it. */
  #seen<T>(act: Promise<T>): Promise<T> {
    return act.finally(() => this.#replica?.acted())
  }

  async #first(name: keyof Statements, values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.#call(name, values))[0]
  }

  /** Runs a user's read, which may be large. */
  async #read(name: keyof Statements, values: readonly unknown[]): Promise<Row[]> {
    return this.#run('reads', this.#statements[name], values)
  }

  /** Runs a user's read that a replica may answer. */
  #view(name: keyof Statements, values: readonly unknown[]): Promise<Row[]> {
    return this.#looked(this.#statements[name], values)
  }

  #looked(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return this.#replica ? this.#replica.run(statement, values) : this.#run('reads', statement, values)
  }
}
