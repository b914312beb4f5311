import type { TriarchError } from '../../error/error.ts'
import type { HoldsPayload } from '../../kernel/field.ts'
import type { Message } from '../../kernel/message.ts'
import { callsOf } from '../deadline.ts'
import { ASK_AGAIN } from '../legible.ts'
import { isPlace } from '../output.ts'
import type {
  Audited,
  HistoryRecord,
  InboxMessage,
  LogWrite,
  NewTask,
  Post,
  ProbeRow,
  ScheduleRow,
  ScheduleWrite,
  SecretRow,
  Snapshot,
  StateStore,
  StepRequest,
  SubmitOutcome,
  TakeWork,
  TaskRow,
  Termination,
  Transition,
  WorkItem,
} from '../port.ts'
import type { Codec } from './codec.ts'
import { Coder, isCoded, isSealed, spared } from './coder.ts'

/**
 * Whether a field must be encoded (`sealed`) or may be stored as it is: fields with payloads, errors or texts of users
 * must be encoded.
 */
type Care<V> = HoldsPayload<V> extends true ? 'sealed' : V extends { reason?: string } ? 'sealed' : 'sealed' | 'plain'

/** Whether a message contains data of the user. `kept` is read by the stores. */
const messages: { readonly [M in Message as M['type']]: Care<M> } = {
  ...{ reply: 'sealed', heartbeat: 'sealed', event: 'sealed', signal: 'sealed', child: 'sealed', cancel: 'sealed' },
  ...{
    pause: 'sealed',
    resume: 'sealed',
    thaw: 'sealed',
    retry: 'sealed',
    skip: 'sealed',
    compensate: 'sealed',
    again: 'sealed',
  },
  ...{ planned: 'sealed', unplanned: 'sealed', illegible: 'sealed', tick: 'plain', takeover: 'plain', cut: 'plain' },
  ...{ lock: 'plain', antecedent: 'plain', report: 'plain', kept: 'plain' },
}

/** Fields of encoded messages that stay readable, because the stores count messages by them (`PostRoom.only`). */
const counted: Partial<Record<Message['type'], readonly string[]>> = {
  event: ['name'],
  signal: ['step', 'key'],
}

/** Which fields of a request contain data of the user. */
const requestFields: { readonly [F in keyof StepRequest]-?: Care<Exclude<StepRequest[F], undefined>> } = {
  ...{ share: 'plain', rank: 'plain', task: 'plain', step: 'plain', operation: 'plain', attempt: 'plain' },
  ...{ since: 'plain', name: 'plain', action: 'plain', workflow: 'plain', version: 'plain', idempotencyKey: 'plain' },
  ...{ fence: 'plain', metadata: 'sealed', run: 'plain', input: 'sealed', output: 'sealed', checkpoint: 'sealed' },
  ...{ event: 'sealed', secretTexts: 'sealed', trial: 'plain' },
}

/** Returns a record that is decoded when its events are read: a claim may bring more records than could be decoded at once. */
function codedRecord(coder: Coder, { seq, at, events: text }: HistoryRecord): HistoryRecord {
  let read: { text: string; undecoded?: TriarchError } | null = null
  return {
    seq,
    at,
    stored: Buffer.byteLength(text),
    get events() {
      read ??= decoded(coder, text)
      return read.text
    },
    get undecoded() {
      read ??= decoded(coder, text)
      return read.undecoded
    },
  }
}

function decoded(coder: Coder, text: string): { text: string; undecoded?: TriarchError } {
  try {
    return { text: coder.decode(text) }
  } catch (error) {
    return { text: spared(text), undecoded: error as TriarchError }
  }
}

/**
 * Wraps the store so that payloads are encoded when they are written and decoded when they are read. Whole texts are
 * encoded, not the payloads inside them, so that none can be missed and a record compresses better than its parts. Only
 * what the stores themselves read stays as it is. A text that cannot be decoded affects its own task only. Without
 * codecs nothing is encoded, but encoded texts are still recognised when they are read.
 */
export function withCodecs(store: StateStore, codecs: readonly Codec[], failed: (error: unknown) => void): StateStore {
  const coder = new Coder(codecs)
  return {
    ...callsOf(store),
    ...reading(store, coder, failed),
    ...keeping(store, coder),
    ...(codecs.length > 0 && writing(store, coder)),
  }
}

type WritingCall =
  | ('commit' | 'submit' | 'submitIn' | 'transact' | 'post' | 'quarantine' | 'truncate' | 'reply' | 'heartbeatWork')
  | ('writeLogs' | 'releaseQuarantine' | 'dropSchedule' | 'writeBreaker' | 'writeSetting' | 'invalidate' | 'writeAudit')
  | ('writeAlert' | 'settleAlertPost' | 'importTask' | 'writeKey' | 'writeProbes' | 'writeSecret')
type Keeping = 'terminate' | 'writeSchedule'
type ReadingCall =
  | 'effect'
  | 'claim'
  | 'inbox'
  | 'taskInbox'
  | 'takeWork'
  | 'adoptWork'
  | 'task'
  | 'list'
  | 'records'
  | 'replay'
  | 'schedules'
  | 'logs'
  | 'audit'
  | 'alerts'
  | 'alertPosts'
  | 'keys'
  | 'probes'
  | 'secrets'

function reading(store: StateStore, coder: Coder, failed: (error: unknown) => void) {
  const record = (it: HistoryRecord) => (isCoded(it.events) ? codedRecord(coder, it) : it)
  const letter = (it: InboxMessage): InboxMessage => {
    const message = decodedMessage(coder, it.message)
    return message === it.message ? it : { ...it, message }
  }
  const answer = (text: string) => (isCoded(text) ? coder.decode(text) : text)
  return {
    claim: async (request) => {
      const claims = await store.claim(request)
      for (const claim of claims) {
        claim.records = claim.records.map(record)
        claim.letters = claim.letters.map(letter)
      }
      return claims
    },
    inbox: async (node, limit, bounds) => (await store.inbox(node, limit, bounds)).map(letter),
    taskInbox: async (key, after, most) => (await store.taskInbox(key, after, most)).map(letter),
    takeWork: async (request) => legibleWork(store, coder, request, failed),
    adoptWork: async (all) => (await store.adoptWork(all)).map((it) => it && legibleItem(coder, it, failed)),
    task: async (id) => {
      const row = await store.task(id)
      return row && decodedRow(coder, row)
    },
    list: async (query) => {
      const { rows, looked } = await store.list(query)
      return { rows: rows.map((row) => decodedRow(coder, row)), looked }
    },
    records: async (id, after, most) => (await store.records(id, after, most)).map(record),
    replay: async (id, page) => (await store.replay(id, page)).map(record),
    schedules: async (query) => (await store.schedules(query)).map((row) => decodedSchedule(coder, row)),
    logs: async (query) => {
      const log = await store.logs(query)
      return { ...log, lines: log.lines.map((it) => (isCoded(it.text) ? { ...it, ...decoded(coder, it.text) } : it)) }
    },
    audit: async (query) =>
      (await store.audit(query)).map((it) => (isCoded(it.text) ? { ...it, text: decoded(coder, it.text).text } : it)),
    alerts: async (query) => (await store.alerts(query)).map((row) => decodedState(coder, row)),
    alertPosts: async (query) => (await store.alertPosts(query)).map((row) => decodedState(coder, row)),
    secrets: async () => (await store.secrets()).map((row) => decodedSecret(coder, row)),
    keys: async (query) => (await store.keys(query)).map((row) => decodedState(coder, row)),
    probes: async (query) => (await store.probes(query)).map((row) => decodedProbe(coder, row)),
    effect: async (effect, within) => {
      const text = await store.effect(effect, within)
      return text && answer(text)
    },
    submitIn: (transaction, tasks) => decodedOutcomes(coder, store.submitIn(transaction, tasks)),
    transact: async (effect, bounds, body) => {
      const outcome = await store.transact(effect, bounds, body)
      return outcome.ok ? { ok: true, answer: answer(outcome.answer) } : outcome
    },
  } satisfies Pick<StateStore, ReadingCall | 'submitIn' | 'transact'>
}

/** Calls that write back what they read: a text that could not be decoded must be written unchanged. */
function keeping(store: StateStore, coder: Coder) {
  return {
    terminate: async (it) => store.terminate(encodedAct(coder, encodedTermination(coder, it))),
    writeSchedule: async (it) => store.writeSchedule(encodedAct(coder, encodedSchedule(coder, it))),
  } satisfies Pick<StateStore, Keeping>
}

function writing(store: StateStore, coder: Coder) {
  const task = (it: NewTask) => encodedTask(coder, it)
  const post = (it: Post) => encodedPost(coder, it)
  return {
    commit: async (batch) => store.commit(batch.map((it) => encodedTransition(coder, it))),
    submit: async (tasks, acted) => store.submit(tasks.map(task), acted && encodedAct(coder, acted)),
    submitIn: (transaction, tasks) => decodedOutcomes(coder, store.submitIn(transaction, tasks.map(task))),
    transact: async (effect, bounds, body) => {
      const outcome = await store.transact(effect, bounds, async (tx) => coder.encode(await body(tx)))
      if (!outcome.ok) return outcome
      return { ok: true, answer: isCoded(outcome.answer) ? coder.decode(outcome.answer) : outcome.answer }
    },
    importTask: async (it) =>
      store.importTask(
        encodedAct(coder, {
          ...it,
          records: it.records.map((record) => ({ ...record, events: coder.encode(record.events) })),
          snapshot: encodedSnapshot(coder, it.snapshot),
        }),
      ),
    post: async (posts) => store.post(posts.map(post)),
    quarantine: async (it) => {
      if (it.record === null) return store.quarantine(it)
      const { events, pause } = it.record
      return store.quarantine({
        ...it,
        record: { events: coder.encode(events), pause: pause && coder.encode(pause) },
      })
    },
    truncate: async (it) =>
      store.truncate(
        encodedAct(coder, {
          ...it,
          events: coder.encode(it.events),
          snapshot: encodedSnapshot(coder, it.snapshot),
        }),
      ),
    reply: async (replies) => store.reply(replies.map((it) => ({ ...it, message: encodedMessage(coder, it.message) }))),
    heartbeatWork: async (beats) =>
      store.heartbeatWork(beats.map((it) => ({ ...it, message: it.message && encodedMessage(coder, it.message) }))),
    writeLogs: async (writes) => store.writeLogs(writes.map((it) => encodedLog(coder, it))),
    releaseQuarantine: async (id, acted) => store.releaseQuarantine(id, acted && encodedAct(coder, acted)),
    dropSchedule: async (name, acted) => store.dropSchedule(name, acted && encodedAct(coder, acted)),
    writeBreaker: async (it) => store.writeBreaker(encodedAct(coder, it)),
    writeSetting: async (it) => store.writeSetting(encodedAct(coder, it)),
    invalidate: async (names, acted) => store.invalidate(names, acted && encodedAct(coder, acted)),
    writeAlert: async (it) => {
      const posts = it.posts.map((post) => ({ ...post, state: coder.encode(post.state) }))
      return store.writeAlert(encodedAct(coder, { ...it, posts, state: it.state && coder.encode(it.state) }))
    },
    settleAlertPost: async (it) =>
      store.settleAlertPost({ ...it, next: it.next && { ...it.next, state: coder.encode(it.next.state) } }),
    writeKey: async (it) => store.writeKey(encodedAct(coder, { ...it, state: it.state && coder.encode(it.state) })),
    writeSecret: async (it) => store.writeSecret(encodedAct(coder, { ...it, secret: coder.encode(it.secret) })),
    writeProbes: async (it) => {
      const text = (one: string) => coder.encode(one)
      const kept = it.kept.map((row) => ({ ...row, state: text(row.state), results: text(row.results) }))
      return store.writeProbes({ ...it, kept })
    },
    writeAudit: async (all) => store.writeAudit(all.map((it) => ({ ...it, text: coder.encode(it.text) }))),
  } satisfies Pick<StateStore, WritingCall>
}

// ---- into the store --------------------------------------------------------------------------------------------------

function encodedTransition(coder: Coder, transition: Transition): Transition {
  const { events, snapshot, work, children, posts } = transition
  return {
    ...transition,
    events: events && coder.encode(events),
    snapshot: snapshot && encodedSnapshot(coder, snapshot),
    work: work.map((it) => ({ ...it, request: encodedRequest(coder, it.request) })),
    children: children.map((it) => encodedTask(coder, it)),
    posts: posts.map((it) => encodedPost(coder, it)),
  }
}

function encodedTask(coder: Coder, task: NewTask): NewTask {
  return { ...task, events: coder.encode(task.events) }
}

function encodedLog(coder: Coder, write: LogWrite): LogWrite {
  return { ...write, entries: write.entries.map((it) => ({ ...it, text: coder.encode(it.text) })) }
}

function encodedPost(coder: Coder, post: Post): Post {
  return encodedAct(coder, { ...post, message: encodedMessage(coder, post.message) })
}

/** Encodes the text of an audit entry: the reason in it may contain what only a payload should. */
function encodedAct<A extends Audited>(coder: Coder, acted: A): A {
  const { audit } = acted
  return audit ? { ...acted, audit: { ...audit, text: coder.encode(audit.text) } } : acted
}

function encodedTermination(coder: Coder, it: Termination): Termination {
  const { events, snapshot, posts } = it
  return {
    ...it,
    events: coder.encode(events),
    snapshot: encodedSnapshot(coder, snapshot),
    posts: posts.map((post) => encodedPost(coder, post)),
  }
}

function encodedSchedule(coder: Coder, it: ScheduleWrite): ScheduleWrite {
  const { definition, state, tasks } = it
  return {
    ...it,
    definition: coder.encode(definition),
    state: coder.encode(state),
    tasks: tasks.map((task) => encodedTask(coder, task)),
  }
}

function encodedSnapshot(coder: Coder, snapshot: Snapshot): Snapshot {
  const { progress, output, error, pause } = snapshot
  return {
    ...snapshot,
    progress: progress && coder.encode(progress),
    output: output && (isPlace(output) ? output : coder.encode(output)),
    error: error && coder.encode(error),
    pause: pause && coder.encode(pause),
  }
}

/** Encodes a message: its kind and name stay readable because the stores count messages by them; the rest is encoded as a whole. */
function encodedMessage<M extends Message>(coder: Coder, message: M): M {
  if (messages[message.type] === 'plain') return message
  const names = ['type', ...(counted[message.type] ?? [])]
  return apart(coder, message, (name) => names.includes(name)) as M
}

function encodedRequest(coder: Coder, request: StepRequest): StepRequest {
  return apart(coder, request, (name) => requestFields[name as keyof StepRequest] === 'plain') as StepRequest
}

/** Returns the object with its hidden fields in one encoded value; the object itself if no codec changes them. */
function apart(coder: Coder, whole: object, shown: (name: string) => boolean): object {
  const entries = Object.entries(whole)
  const hidden = entries.filter(([name, value]) => value !== undefined && !shown(name))
  if (hidden.length === 0) return whole
  const sealed = coder.seal(JSON.stringify(Object.fromEntries(hidden)))
  return sealed ? { ...Object.fromEntries(entries.filter(([name]) => shown(name))), ...sealed } : whole
}

// ---- out of the store ------------------------------------------------------------------------------------------------

/** Throws CODEC_*. */
function together(coder: Coder, parted: object): object {
  const { '~coded': done, data, ...shown } = parted as Record<string, unknown>
  return { ...shown, ...(JSON.parse(coder.open({ '~coded': done, data })) as object) }
}

/** Decodes a message. A `child` message was made by the store from the child's row, whose payloads were encoded separately. */
function decodedMessage(coder: Coder, message: Message): Message {
  try {
    if (isSealed(message)) return together(coder, message) as Message
    if (message.type !== 'child' || !(isSealed(message.output) || isSealed(message.error))) return message
    const value = <T>(it: T): T => (isSealed(it) ? (JSON.parse(coder.open(it)) as T) : it)
    const { output, error } = message
    return {
      ...message,
      ...(output !== undefined && { output: value(output) }),
      ...(error !== undefined && { error: value(error) }),
    }
  } catch (why) {
    return { type: 'illegible', why: why as Error }
  }
}

function decodedRow(coder: Coder, row: TaskRow): TaskRow {
  let changed: TaskRow | null = null
  for (const name of ['progress', 'output', 'outputIn', 'error', 'pause'] as const) {
    const found = row[name] ?? null
    if (found === null || !isCoded(found)) continue
    const { text, undecoded } = decoded(coder, found)
    changed = { ...(changed ?? row), [name]: text, ...(undecoded && { undecoded }) }
  }
  return changed ?? row
}

function decodedSchedule(coder: Coder, row: ScheduleRow): ScheduleRow {
  let changed: ScheduleRow | null = null
  for (const name of ['definition', 'state'] as const) {
    const found = row[name]
    if (!isCoded(found)) continue
    const { text, undecoded } = decoded(coder, found)
    changed = { ...(changed ?? row), [name]: text, ...(undecoded && { undecoded }) }
  }
  return changed ?? row
}

function decodedState<Row extends { state: string; undecoded?: TriarchError }>(coder: Coder, row: Row): Row {
  if (!isCoded(row.state)) return row
  const { text, undecoded } = decoded(coder, row.state)
  return { ...row, state: text, ...(undecoded && { undecoded }) }
}

/** Decodes a secret; one that cannot be decoded becomes '', because this process cannot use it. */
function decodedSecret(coder: Coder, row: SecretRow): SecretRow {
  if (!isCoded(row.secret)) return row
  const { text, undecoded } = decoded(coder, row.secret)
  return { ...row, secret: undecoded ? '' : text }
}

function decodedProbe(coder: Coder, row: ProbeRow): ProbeRow {
  const read = decodedState(coder, row)
  if (read.results === null || !isCoded(read.results)) return read
  const { text, undecoded } = decoded(coder, read.results)
  return { ...read, results: text, ...(undecoded && { undecoded }) }
}

function decodedOutcomes(
  coder: Coder,
  outcomes: SubmitOutcome[] | Promise<SubmitOutcome[]>,
): SubmitOutcome[] | Promise<SubmitOutcome[]> {
  const decode = (it: SubmitOutcome): SubmitOutcome => {
    const { first } = it
    return first !== undefined && isCoded(first) ? { ...it, first: decoded(coder, first).text } : it
  }
  return outcomes instanceof Promise ? outcomes.then((all) => all.map(decode)) : outcomes.map(decode)
}

/** Decodes a request; returns null if this node cannot decode it. */
function legibleItem(coder: Coder, item: WorkItem, failed: (error: unknown) => void): WorkItem | null {
  if (!isSealed(item.request)) return item
  try {
    return { ...item, request: together(coder, item.request) as StepRequest }
  } catch (error) {
    failed(error)
    return null
  }
}

/**
 * Takes requests. Those that this node cannot decode are withdrawn, so that their tasks make them again: another node
 * may have the key.
 */
async function legibleWork(
  store: StateStore,
  coder: Coder,
  { node, agents }: TakeWork,
  failed: (error: unknown) => void,
): Promise<WorkItem[]> {
  const illegible: WorkItem[] = []
  const items = (await store.takeWork({ node, agents })).flatMap((item): WorkItem[] => {
    const legible = legibleItem(coder, item, failed)
    if (!legible) illegible.push(item)
    return legible ? [legible] : []
  })
  if (illegible.length === 0) return items
  const outcome = { kind: 'withdrawn', after: ASK_AGAIN } as const
  const giveBack = async () => {
    const endedAt = await store.now()
    const replies = illegible.map(({ id, request: { step, operation, attempt } }) => {
      const message = { type: 'reply', step, operation, attempt, outcome, startedAt: null, endedAt, node } as const
      return { work: id, node, message }
    })
    await store.reply(replies)
  }
  // If this fails, the requests count as lost when their time is over.
  await giveBack().catch(failed)
  return items
}
