import type { Message, Outcome } from '../../src/kernel/message.ts'
import type * as port from '../../src/store/port.ts'

/**
 * The state store as plain collections: what every store must answer, said as simply as it can be said. Takes the very
 * requests of the port. Ids that the store gives are unknown here until it tells them; `agreement.ts` writes them down.
 */
export interface Reference {
  now: number
  /** Counts operations: letters of one operation have no order among each other, but for posts. */
  round: number
  /** Makes every message and record of a run another one. */
  serial: number
  tasks: Map<string, ModelTask>
  letters: ModelLetter[]
  work: ModelWork[]
  nodes: Map<string, port.NodeRow & { dead: boolean }>
  leases: Map<string, { holder: string; token: number; until: number }>
  /** In the order of asking. */
  locks: ModelLock[]
  followers: { antecedent: string; task: string }[]
}

export interface ModelLock extends port.LockRequest {
  task: string
  priority: number
  held: boolean
}

export interface ModelTask extends Omit<port.TaskRow, 'key'> {
  key: number | null
  control: boolean
  orphaned: boolean
  /** The operation in which it became ready: among those of one operation any may come first. */
  readied: number
  suspicion: number
  claimedSeq: number
  onTrial: boolean
  strikes: number
  /** Record from which it is replayed. */
  base: number
  records: port.HistoryRecord[]
}

export interface ModelLetter {
  id: number | null
  task: string
  round: number
  posted: boolean
  control: boolean
  /** What it may say: where a request is given up for two reasons at once, the store names either. */
  messages: Message[]
}

export interface ModelWork {
  id: number | null
  task: string
  request: port.WorkRequest
  lockedBy: string | null
  completeBy: number | null
  heartbeatBy: number | null
  withdrawn: boolean
}

export function newReference(now: number): Reference {
  return {
    now,
    round: 0,
    serial: 0,
    tasks: new Map(),
    letters: [],
    work: [],
    nodes: new Map(),
    leases: new Map(),
    locks: [],
    followers: [],
  }
}

// ---- tasks -----------------------------------------------------------------------------------------------------------

/** All of them are there before any asks for its locks. */
export function submit(model: Reference, tasks: readonly port.NewTask[]): ExpectedSubmit[] {
  const made = tasks.map((task) => ({ task, created: insert(model, task) }))
  return made.map(({ task, created }) => {
    const heldBy = created && task.gates ? gate(model, task.id, task.gates) : undefined
    return { id: task.id, created: created && heldBy === undefined, ...(heldBy !== undefined && { heldBy }) }
  })
}

export interface ExpectedSubmit {
  id: string
  created: boolean
  heldBy?: string
}

// ---- locks -----------------------------------------------------------------------------------------------------------

function gate(model: Reference, id: string, { locks, after }: NonNullable<port.NewTask['gates']>): string | undefined {
  for (const { name, ifHeld } of locks) {
    const holder = ifHeld === 'reject' ? holderOf(model, name) : undefined
    if (!holder) continue
    model.tasks.delete(id)
    return holder.task
  }
  for (const antecedent of after) {
    const found = model.tasks.get(antecedent)
    if (found && found.status !== 'stopped') model.followers.push({ antecedent, task: id })
    else deliver(model, id, [{ type: 'antecedent', task: antecedent, result: found?.result ?? null }])
  }
  for (const lock of locks) ask(model, id, lock)
  return undefined
}

function holderOf(model: Reference, name: string): ModelLock | undefined {
  return model.locks.find((lock) => lock.name === name && lock.held)
}

/** Those that are served before this claim. */
export function before(model: Reference, { name, task, step, priority, held }: ModelLock): ModelLock[] {
  const mine = model.locks.findIndex((lock) => lock.task === task && lock.step === step)
  return model.locks.filter((lock, index) => {
    if (held || lock.name !== name || index === mine) return false
    return lock.held || lock.priority > priority || (lock.priority === priority && index < mine)
  })
}

function ask(model: Reference, task: string, request: port.LockRequest): void {
  const { step, name, ifHeld } = request
  const letter = { type: 'lock', step, name } as const
  // What has stopped asks for nothing.
  if (model.tasks.get(task)?.status === 'stopped') return
  const holder = holderOf(model, name)
  if (holder && ifHeld === 'reject') return deliver(model, task, [{ ...letter, outcome: 'held', by: [holder.task] }])
  if (model.locks.some((lock) => lock.task === task && lock.step === step)) return
  const priority = model.tasks.get(task)?.priority ?? 0
  const mine: ModelLock = { step, name, ifHeld, task, priority, held: !holder }
  model.locks.push(mine)
  if (!holder) return deliver(model, task, [{ ...letter, outcome: 'granted' }])
  if (waitsForItself(model, task)) {
    const by = [...new Set(before(model, mine).map((lock) => lock.task))].sort()
    model.locks = model.locks.filter((lock) => lock !== mine)
    return deliver(model, task, [{ ...letter, outcome: 'deadlock', by }])
  }
  if (ifHeld !== 'replace') return
  const reason = `replaced by another task that wants lock "${name}"`
  for (const lock of model.locks) {
    if (lock.name !== name || lock.task === task || !(lock.held || lock.ifHeld === 'replace')) continue
    deliver(model, lock.task, [{ type: 'cancel', force: false, compensate: null, reason }], { control: true })
    // Who waits is told once.
    if (!lock.held) lock.ifHeld = 'queue'
  }
}

function waitsForItself(model: Reference, task: string): boolean {
  const next = (of: string) =>
    model.locks.filter((lock) => lock.task === of).flatMap((lock) => before(model, lock).map((it) => it.task))
  const seen = new Set<string>()
  for (const open = next(task); open.length > 0; ) {
    const one = open.pop() as string
    if (one === task) return true
    if (!seen.has(one)) open.push(...next(one))
    seen.add(one)
  }
  return false
}

function free(model: Reference, rows: readonly ModelLock[]): void {
  for (const lock of rows) model.locks = model.locks.filter((it) => it !== lock)
  for (const { name } of rows.filter(({ held }) => held)) {
    const line = model.locks.filter((lock) => lock.name === name)
    const next = line.find((lock) => before(model, lock).length === 0)
    if (!next) continue
    next.held = true
    deliver(model, next.task, [{ type: 'lock', step: next.step, name, outcome: 'granted' }])
  }
}

function stop(model: Reference, task: ModelTask, { result }: port.Snapshot): void {
  if (task.status === 'stopped') return
  free(
    model,
    model.locks.filter((lock) => lock.task === task.id),
  )
  const followers = model.followers.filter(({ antecedent }) => antecedent === task.id)
  model.followers = model.followers.filter(({ antecedent }) => antecedent !== task.id)
  for (const { task: id } of followers) {
    if (model.tasks.has(id)) deliver(model, id, [{ type: 'antecedent', task: task.id, result }])
  }
}

function insert(model: Reference, task: port.NewTask): boolean {
  if (model.tasks.has(task.id)) return false
  const { at, startAt, events, gates, ...rest } = task
  model.tasks.set(task.id, {
    parentStep: null,
    ...rest,
    ...fresh,
    key: null,
    lockedBy: null,
    epoch: 0,
    submittedAt: at,
    updatedAt: at,
    ready: startAt === null && !gates,
    wakeAt: startAt,
    control: false,
    orphaned: false,
    quarantined: false,
    readied: model.round,
    suspicion: 0,
    claimedSeq: 0,
    onTrial: false,
    strikes: 0,
    base: 1,
    records: [{ seq: 1, at, events }],
  })
  return true
}

const fresh = { result: 'pending', failures: 0, progress: null, output: null, error: null, pause: null } as const

export type ExpectedCommit = { ok: true; id: string } | { ok: false; reason: 'fenced' | 'exists' }

export function commit(model: Reference, batch: readonly port.Transition[]): ExpectedCommit[] {
  const outcomes = batch.map((transition) => commitOne(model, transition))
  for (const [index, { gates }] of batch.entries()) {
    const outcome = outcomes[index]
    if (!outcome?.ok || !gates) continue
    for (const step of gates.unlocks) {
      free(
        model,
        model.locks.filter((lock) => lock.task === outcome.id && lock.step === step),
      )
    }
    for (const lock of gates.locks) ask(model, outcome.id, lock)
  }
  return outcomes
}

function commitOne(model: Reference, transition: port.Transition): ExpectedCommit {
  const { create, node, epoch, seq, at, events, snapshot } = transition
  if (create) {
    if (!insert(model, { ...create, events: events ?? '' })) return { ok: false, reason: 'exists' }
    const made = model.tasks.get(create.id) as ModelTask
    Object.assign(made, { lockedBy: node, epoch, ready: false, wakeAt: null, updatedAt: at })
    made.records = [{ seq, at, events: events ?? '' }]
  }
  const task = create ? model.tasks.get(create.id) : byKey(model, transition.key)
  if (!task || task.lockedBy !== node || task.epoch !== epoch) return { ok: false, reason: 'fenced' }
  if (!create) {
    // The record before is there; of a transition without one, that which it names, if it names any.
    const has = (it: number) => task.records.some((record) => record.seq === it)
    const goesOn = events === null ? seq === 0 || has(seq) : has(seq - 1) && !has(seq)
    if (!goesOn) return { ok: false, reason: 'fenced' }
    if (events !== null) task.records.push({ seq, at, events })
  }
  const { consumed, forget } = transition
  model.letters = model.letters.filter(({ id, task: of }) => of !== task.id || id === null || !consumed.includes(id))
  model.work = model.work.filter(({ task: of, request }) => of !== task.id || !forget.includes(request.step))
  for (const request of transition.work) enqueue(model, task.id, request)
  for (const step of transition.withdraw) withdraw(model, task.id, step, at)
  for (const child of transition.children) startChild(model, task.id, child)
  for (const one of transition.posts) postOne(model, one)
  if (snapshot?.status === 'stopped' && !create) stop(model, task, snapshot)
  if (snapshot) Object.assign(task, snapshot, { updatedAt: at })
  if (transition.rebase) task.base = seq
  if (transition.release) release(model, task, transition.release)
  return { ok: true, id: task.id }
}

function release(
  model: Reference,
  task: ModelTask,
  { wakeAt, ready, orphaned }: NonNullable<port.Transition['release']>,
) {
  const unread = lettersOf(model, task.id)
  Object.assign(task, {
    lockedBy: null,
    wakeAt,
    orphaned,
    ...((ready || unread.length > 0) && readied(model, task)),
    control: unread.some((letter) => letter.control),
  })
}

function startChild(model: Reference, parent: string, child: port.NewTask): void {
  if (insert(model, child)) return
  const found = model.tasks.get(child.id) as ModelTask
  const step = child.parentStep ?? 0
  if (found.parent !== parent || (found.parentStep ?? 0) !== step) {
    const refused = { child: child.id, code: 'TASK_EXISTS' } as const
    return deliver(model, parent, [{ type: 'child', step, result: 'error', refused }])
  }
  if (found.status !== 'stopped') return
  const { result, output, error } = found
  const ending = { ...(output && { output: JSON.parse(output) }), ...(error && { error: JSON.parse(error) }) }
  deliver(model, parent, [{ type: 'child', step, result, ...ending }])
}

/** `told`: the store's answer, where the order is its own choice. */
export function claim(model: Reference, { node, runnable, limit, trial }: port.ClaimRequest, told: string[]): string[] {
  const sleepers = [...model.tasks.values()].filter(({ wakeAt }) => wakeAt !== null && wakeAt <= model.now)
  for (const task of sleepers) Object.assign(task, { ...readied(model, task), wakeAt: null })
  const fits = (task: ModelTask) =>
    task.control || runnable.some(({ workflow, version }) => task.workflow === workflow && task.version === version)
  const place = ({ id }: ModelTask) => (told.includes(id) ? told.indexOf(id) : Infinity)
  const inLine = (a: ModelTask, b: ModelTask) => a.readied - b.readied || place(a) - place(b) || 0
  const ready = [...model.tasks.values()].filter((task) => task.ready && fits(task))
  const suspects = ready.filter(({ suspicion }) => suspicion >= 2)
  const strikesOf = ({ strikes, onTrial, orphaned }: ModelTask) => strikes + (onTrial && orphaned ? 1 : 0)
  const tried = suspects.sort((a, b) => strikesOf(a) - strikesOf(b) || inLine(a, b)).slice(0, Math.min(limit, 8))
  const first = trial ? tried.filter((task, index) => index === 0 || strikesOf(task) === 0) : []
  const others = ready.filter(({ suspicion }) => suspicion < 2)
  const taken =
    first.length > 0 ? first : others.sort((a, b) => b.priority - a.priority || inLine(a, b)).slice(0, limit)
  return taken.map((task) => {
    const { orphaned, onTrial, records } = task
    const last = records.at(-1)?.seq ?? 0
    const again = first.length > 0 || task.claimedSeq === last
    if (orphaned || first.length > 0) {
      task.suspicion = again ? task.suspicion + 1 : 1
      Object.assign(task, { claimedSeq: last, strikes: task.strikes + (onTrial ? 1 : 0), onTrial: first.length > 0 })
    } else task.suspicion = 0
    const epoch = task.epoch + 1
    Object.assign(task, { lockedBy: node, epoch, ready: false, control: false, wakeAt: null })
    return task.id
  })
}

function readied(model: Reference, task: ModelTask): { ready: true; readied: number } {
  return { ready: true, readied: task.ready ? task.readied : model.round }
}

export function nextWake(model: Reference): number | null {
  const instants = [...model.tasks.values()].flatMap(({ wakeAt }) => wakeAt ?? [])
  return instants.length > 0 ? Math.min(...instants) : null
}

export function byKey(model: Reference, key: number | null): ModelTask | undefined {
  return key === null ? undefined : [...model.tasks.values()].find((task) => task.key === key)
}

// ---- the inbox -------------------------------------------------------------------------------------------------------

export function post(model: Reference, posts: readonly port.Post[]): port.PostOutcome[] {
  return posts.map((one) => (postOne(model, one) ? 'posted' : 'unknown'))
}

function postOne(model: Reference, { task, message, control }: port.Post): boolean {
  if (!model.tasks.has(task)) return false
  deliver(model, task, [message], { control, posted: true })
  return true
}

function deliver(model: Reference, id: string, messages: Message[], { control = false, posted = false } = {}): void {
  model.letters.push({ id: null, task: id, round: model.round, posted, control, messages })
  const task = model.tasks.get(id) as ModelTask
  if (task.lockedBy === null) Object.assign(task, { ...readied(model, task), control: task.control || control })
}

export function lettersOf(model: Reference, task: string): ModelLetter[] {
  return model.letters.filter((letter) => letter.task === task)
}

export function inbox(model: Reference, node: string): ModelLetter[] {
  return model.letters.filter(({ task }) => model.tasks.get(task)?.lockedBy === node)
}

// ---- the work queue --------------------------------------------------------------------------------------------------

function enqueue(model: Reference, task: string, request: port.WorkRequest): void {
  const same = (it: ModelWork) =>
    it.task === task &&
    it.request.step === request.step &&
    it.request.operation === request.operation &&
    it.request.attempt === request.attempt
  model.work = model.work.filter((it) => !same(it))
  const untaken = { lockedBy: null, completeBy: null, heartbeatBy: null, withdrawn: false }
  model.work.push({ id: null, task, request, ...untaken })
}

function withdraw(model: Reference, task: string, step: number, at: number): void {
  for (const work of model.work.filter((it) => it.task === task && it.request.step === step)) {
    if (work.lockedBy !== null) work.withdrawn = true
    else giveUp(model, work, [reply(work, { kind: 'withdrawn' }, at)])
  }
}

function giveUp(model: Reference, work: ModelWork, messages: Message[]): void {
  model.work = model.work.filter((it) => it !== work)
  deliver(model, work.task, messages)
}

export function takeWork(model: Reference, { node, agents }: port.TakeWork): ModelWork[] {
  return agents.flatMap(({ agent, actions, limit }) => {
    const fits = ({ request, lockedBy }: ModelWork) =>
      request.agent === agent &&
      actions.includes(request.action) &&
      lockedBy === null &&
      (request.expiresAt === null || request.expiresAt > model.now)
    const taken = model.work
      .filter(fits)
      .sort((a, b) => b.request.priority - a.request.priority)
      .slice(0, limit)
    for (const work of taken) {
      const { completeWithin, heartbeatWithin, expiresAt } = work.request
      work.lockedBy = node
      work.completeBy = Math.min(model.now + completeWithin, expiresAt ?? Infinity)
      work.heartbeatBy = heartbeatWithin === null ? null : model.now + heartbeatWithin
    }
    return taken
  })
}

export function replied(model: Reference, replies: readonly port.QueuedReply[]): boolean[] {
  return replies.map(({ work, node, message }) => {
    const found = model.work.find(({ id, lockedBy }) => id === work && lockedBy === node)
    if (found) giveUp(model, found, [message])
    return found !== undefined
  })
}

export function beatWork(model: Reference, beats: readonly port.WorkHeartbeat[]): port.WorkHeartbeatOutcome[] {
  return beats.map(({ work, node, message }) => {
    const found = model.work.find(({ id, lockedBy }) => id === work && lockedBy === node)
    if (!found) return 'late'
    const { heartbeatWithin } = found.request
    if (heartbeatWithin !== null) found.heartbeatBy = model.now + heartbeatWithin
    if (message) deliver(model, found.task, [message])
    return found.withdrawn ? 'withdrawn' : 'ok'
  })
}

function reply({ request, lockedBy }: ModelWork, outcome: Outcome, endedAt: number): Message {
  const { step, operation, attempt } = request
  return { type: 'reply', step, operation, attempt, outcome, startedAt: null, endedAt, node: lockedBy }
}

// ---- nodes and their supervision -------------------------------------------------------------------------------------

export function beat(model: Reference, { id, roles, lease }: port.NodeHeartbeat): boolean {
  const known = model.nodes.get(id)
  if (known?.dead) return false
  const startedAt = known?.startedAt ?? model.now
  model.nodes.set(id, {
    id,
    roles: [...roles],
    startedAt,
    leaseUntil: model.now + lease,
    runs: null,
    place: null,
    dead: false,
  })
  return true
}

export function leave(model: Reference, node: string): void {
  releaseAll(model, (owner) => owner === node)
  for (const work of model.work.filter(({ lockedBy }) => lockedBy === node)) giveUp(model, work, [lost(model, work)])
  model.nodes.delete(node)
  for (const lease of model.leases.values()) {
    if (lease.holder === node) lease.until = Math.min(lease.until, model.now)
  }
}

export function lead(model: Reference, request: { name: string; node: string; ttl: number }): number | null {
  const { name, node, ttl } = request
  const lease = model.leases.get(name) ?? { holder: '', token: 0, until: 0 }
  const lapsed = lease.until <= model.now
  if (lease.holder !== node && !lapsed) return null
  const token = lease.holder === node && !lapsed ? lease.token : lease.token + 1
  model.leases.set(name, { holder: node, token, until: model.now + ttl })
  return token
}

/** A sweep without a limit, or as many as it takes until there is nothing more. */
export function sweep(model: Reference, { name, token }: { name: string; token: number }): port.SweepReport | null {
  const { now } = model
  const lease = model.leases.get(name)
  if (!lease || lease.token !== token || lease.until <= now) return null
  const dead = [...model.nodes.values()].filter((node) => !node.dead && node.leaseUntil < now)
  for (const node of dead) node.dead = true
  const isLost = (owner: string) => model.nodes.get(owner)?.dead !== false
  const releasedTasks = releaseAll(model, isLost)
  let expiredSteps = 0
  for (const work of [...model.work]) {
    const gone = work.lockedBy !== null && isLost(work.lockedBy)
    if (!gone && due(work) > now) continue
    expiredSteps++
    giveUp(model, work, [...(gone ? [lost(model, work)] : []), ...(due(work) <= now ? [late(model, work)] : [])])
  }
  let overdueTasks = 0
  for (const task of model.tasks.values()) {
    if (task.lockedBy !== null || task.control || task.deadline === null || task.deadline > now) continue
    Object.assign(task, { ...readied(model, task), control: true })
    overdueTasks++
  }
  const deadNodes = dead.map(({ id }) => id).sort()
  return { deadNodes, releasedTasks, expiredSteps, overdueTasks, schedules: false, more: false }
}

function releaseAll(model: Reference, isLost: (owner: string) => boolean): number {
  const lostTasks = [...model.tasks.values()].filter(({ lockedBy }) => lockedBy !== null && isLost(lockedBy))
  for (const task of lostTasks) release(model, task, { wakeAt: null, ready: true, orphaned: true })
  return lostTasks.length
}

function due({ request, completeBy, heartbeatBy }: ModelWork): number {
  return Math.min(completeBy ?? Infinity, heartbeatBy ?? Infinity, request.expiresAt ?? Infinity)
}

function lost(model: Reference, work: ModelWork): Message {
  return reply(work, { kind: 'failed', error: record('STEP_LOST'), retryable: true, unknown: true }, model.now)
}

function late(model: Reference, work: ModelWork): Message {
  const { lockedBy, completeBy, heartbeatBy } = work
  const silent = heartbeatBy !== null && heartbeatBy <= model.now && heartbeatBy < (completeBy ?? Infinity)
  const error = record(silent ? 'HEARTBEAT_MISSED' : 'STEP_TIMEOUT')
  const unknown = lockedBy !== null && { unknown: true as const }
  return reply(work, { kind: 'failed', error, retryable: true, ...unknown }, model.now)
}

function record(code: string) {
  return { name: 'Error', code, message: '' }
}
