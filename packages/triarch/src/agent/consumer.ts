import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import type { Service } from '../environment/service.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import type { Heartbeat, Outcome, Reply } from '../kernel/message.ts'
import { sizeOf } from '../kernel/size.ts'
import type { ProbationProgress } from '../kernel/step/step.ts'
import { isBlocked } from '../store/blocked.ts'
import { agentOfQueue } from '../store/breaker.ts'
import { takeFitting } from '../store/group.ts'
import type { QueuedReply, RequestMark, StateStore, WorkItem } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import type { Telling } from './attempt.ts'
import type { AgentHost } from './host.ts'
import { QueueOrder } from './queue-order.ts'
import { type QueueRequest, queueRequestsOf } from './queue-request.ts'

export interface ConsumerOptions {
  environment: Environment
  store: StateStore
  node: string
  hosts: ReadonlyMap<string, AgentHost>
  /** How often a running attempt shows that it is alive and asks whether it was withdrawn (ms). */
  pulse: number
  /** The context of the task with this id, if the task is in this process. */
  contextOf: (task: string) => CallContext
  /** Called when replies were written: the owners of their tasks may be in this process. */
  replied: () => void
  /** Called after the queues were asked. */
  asked: () => void
  telemetry: Telemetry
  late: (count: number) => void
  failed: (error: unknown) => void
}

/** A heartbeat of an attempt that runs here. `message` null: it only says that the attempt is alive. */
interface Beat {
  item: WorkItem
  message: Heartbeat | null
}

/** Most requests taken from one queue at a time. */
const LARGEST_TAKE = 500

/** Delay before the store is asked again after a failure: the first one, and the longest (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000

/** Delay before a heartbeat that was blocked by another transaction is sent again (ms). */
const BEAT_AGAIN = 1_000

/** Takes step requests from the agents' work queues, never more than there are free slots, and replies in batches. */
export class Consumer implements Service {
  readonly #options: ConsumerOptions
  readonly #running = new Register<number, WorkItem>()
  /** The last heartbeat of each item, with progress or a checkpoint. */
  readonly #said = new Register<number, Heartbeat>()
  #replies: QueuedReply[] = []
  /** Items run on probation whose replies are not written yet. */
  readonly #tried = new Map<number, WorkItem>()
  /** Items that are done and whose replies are not written yet. They still send heartbeats, so that they do not count as silent. */
  readonly #unsent = new Register<number, WorkItem>()
  /** Callbacks to call once the reply of an item is written. */
  readonly #recorded = new Map<number, Telling['recorded']>()
  #replying = false
  /** Number of replies that are retried one by one, because another transaction blocks their task or the store refuses them. */
  #held = 0
  /** Resolved when every reply is written. */
  readonly #flushed: (() => void)[] = []
  #polling = false
  readonly #order: QueueOrder
  /** Counts the portions that gave something; rotates which portion is asked first, so that none starves. */
  #round = 1
  #again = false
  #open = true
  /** Attempts that still run count as lost, because the node is leaving. */
  #ended = false
  #pulse: Timer | null = null
  readonly #backoff = { poll: new Backoff(AGAIN, LONGEST_AGAIN), reply: new Backoff(AGAIN, LONGEST_AGAIN) }
  #retry: Timer | null = null

  constructor(options: ConsumerOptions) {
    this.#options = options
    this.#order = new QueueOrder(options.store)
  }

  start(): void {
    this.wake()
  }

  /** There may be work in the queues. */
  wake(): void {
    this.#again = true
    if (this.#polling || !this.#open) return
    this.#polling = true
    CallContext.none.run(() => void this.#poll())
  }

  stop(): void {
    this.#open = false
  }

  /** Goes on with an attempt that already runs and that this node got from the node that took it. */
  adopt(item: WorkItem): void {
    this.#options.hosts.get(agentOfQueue(item.agent))?.slots.take()
    this.#start(item, true)
  }

  /** Called once the hosts have drained; resolves when every reply is written. */
  async drain(): Promise<void> {
    this.#pulse?.cancel()
    this.#retry?.cancel()
    if (this.#replying || this.#held > 0) await new Promise<void>((resolve) => this.#flushed.push(resolve))
    this.#ended = true
  }

  /** Sends no more replies: the store may not yet count this node as gone and would believe them. */
  abandon(): void {
    this.stop()
    this.#ended = true
  }

  async #poll(): Promise<void> {
    while (this.#again && this.#open) {
      this.#again = false
      // Slots are held before the queue is asked, so that no request is taken without one.
      const held = new Map<string, number>()
      for (const host of this.#options.hosts.values()) {
        const slots = host.slots.hold(LARGEST_TAKE)
        if (slots === 0) continue
        held.set(host.name, slots)
        host.backlog.asked()
      }
      if (held.size === 0) break
      const ranks = new Map<string, number[]>([...held.keys()].map((agent) => [agent, []]))
      const partly = new Set<string>()
      try {
        for (const portion of this.#portions()) {
          const all = portion.asks(held)
          const ordered = portion.agent === null ? null : await this.#order.of(portion.agent, all, this.#round)
          const asks = ordered?.asks ?? all
          if (portion.agent !== null && ordered?.more) partly.add(portion.agent)
          const agents = asks.map(({ share }) => share).filter(({ limit }) => limit > 0)
          const asked = this.#options.environment.monotonic()
          const items =
            agents.length > 0 ? await this.#options.store.takeWork({ node: this.#options.node, agents }) : []
          for (const { share, tight, narrow } of asks)
            if (narrow && tight && items.filter(({ agent }) => agent === share.agent).length >= share.limit) narrow()
          if (agents.length === 0) continue
          ordered?.gave(items)
          if (ordered?.more && items.length > 0) this.#again = true
          this.#tell(items.length, asked)
          if (items.length > 0) this.#round++
          for (const item of items) {
            const agent = agentOfQueue(item.agent)
            held.set(agent, (held.get(agent) ?? 0) - 1)
            this.#options.hosts.get(agent)?.slots.fill()
            ranks.get(agent)?.push(item.request.rank ?? 0)
            this.#options.contextOf(item.request.task).run(() => this.#start(item))
          }
        }
        for (const [agent, of] of ranks) this.#options.hosts.get(agent)?.backlog.taken(of, held.get(agent) === 0)
        // A queue that a rate limit kept from being asked must not count as found empty.
        for (const host of this.#options.hosts.values()) {
          const { breakerGate, rateLimiter, sharedConcurrency, slots, name, paused } = host
          breakerGate?.asked(
            (held.get(name) ?? 0) > 0 && rateLimiter?.open !== false && paused === null && !partly.has(name),
            (queue) =>
              !sharedConcurrency.isUnlimited || rateLimiter?.isOpen(queue) === false || host.isCoolingDown(queue),
            slots.running > 0 || this.#again || this.#seated(host),
          )
        }
        // All held slots were used, so there may be more. Otherwise a notification announces new work.
        if ([...held.values()].includes(0)) this.#again = true
        this.#backoff.poll.reset()
      } catch (error) {
        if (!this.#open) break // a stopping node does not need the answer
        this.#options.failed(error)
        this.#retry?.cancel()
        this.#retry = this.#options.environment.timer(this.#backoff.poll.next(), () => this.wake())
        break
      } finally {
        for (const [agent, slots] of held) this.#options.hosts.get(agent)?.slots.unhold(slots)
        this.#options.asked()
      }
    }
    this.#polling = false
  }

  /**
   * Whether the agent holds permits of finished attempts, which are free only once the replies are written; the queue is asked again
   * then.
   */
  #seated({ name, sharedConcurrency }: AgentHost): boolean {
    if (sharedConcurrency.isUnlimited) return false
    for (const { agent } of this.#unsent.values()) if (agentOfQueue(agent) === name) return true
    return false
  }

  #tell(requests: number, asked: number): void {
    const { environment, node, telemetry } = this.#options
    const outlet = telemetry['queue:taken']
    if (requests === 0 || !outlet.open) return
    outlet.tell({ at: environment.now(), node, requests, ms: environment.monotonic() - asked })
  }

  /**
   * What to ask for, one portion after the other: all actions without a limit of their own, and each action that has one. The first
   * portion rotates each time something was taken, so that none starves when slots are few.
   */
  #portions(): QueueRequest[] {
    const hosts = [...this.#options.hosts.values()]
    const keyed = hosts.flatMap((host) => {
      const { breakerGate } = host
      if (!breakerGate || breakerGate.keys.none) return []
      // If all actions have keys, the agent's own queue (the first) is asked separately, below: requests mostly just pass through it.
      const queues = breakerGate.keys.all ? breakerGate.queues().slice(1) : breakerGate.queues()
      return queues.length > 0
        ? queueRequestsOf(
            queues.map((queue) => ({ host, queue })),
            host.name,
          )
        : []
    })
    const own = hosts
      .filter(({ breakerGate }) => !breakerGate || breakerGate.keys.none || breakerGate.keys.all)
      .map((host) => ({ host, queue: host.breakerGate ? host.breakerGate.queues()[0] : null }))
    // The queues by keys are one portion: the request that is next in any of them comes first.
    const portions = own.length > 0 ? [...queueRequestsOf(own), ...keyed] : keyed
    const first = this.#round % Math.max(1, portions.length)
    return [...portions.slice(first), ...portions.slice(0, first)]
  }

  #start(item: WorkItem, adopted = false): void {
    const host = this.#options.hosts.get(agentOfQueue(item.agent))
    host?.slots.count(item.request.action, item.request.rank)
    const pass = adopted ? undefined : host?.breakerGate?.pass(item.agent)
    // A store that went back assigns its numbers anew; an attempt with the same number belongs to the history that was lost.
    const before = this.#running.get(item.id)
    this.#running.set(item.id, item)
    if (before) this.#attempt(before)?.abandon(new TriarchError('STEP_LOST', 'the store went back behind the attempt'))
    this.#said.delete(item.id)
    if (!this.#pulse) this.#beat()
    host?.start({
      request: item.request,
      ...(pass && { pass }),
      adopted,
      work: item.id,
      queue: item.agent,
      completeBy: item.completeBy,
      heartbeatWithin: item.heartbeatWithin,
      beat: (progress, checkpoint) => {
        if (this.#running.get(item.id) === item) void this.#heartbeat(item, progress, checkpoint)
      },
      begun: () => this.#told(item, 'begun'),
      survived: () => void this.#told(item, 'survived'),
      done: (message, recorded) => {
        if (this.#running.get(item.id) !== item) recorded?.(false)
        else {
          this.#running.delete(item.id)
          this.#said.delete(item.id)
          if (item.request.trial && message.startedAt !== null) this.#tried.set(item.id, item)
          if (this.#ended) recorded?.(false)
          else {
            this.#unsent.set(item.id, item)
            if (recorded) this.#recorded.set(item.id, recorded)
            this.#reply({ work: item.id, node: this.#options.node, of: markOf(item), message })
          }
        }
        this.wake()
      },
    })
  }

  #attempt({ agent, request }: WorkItem) {
    return this.#options.hosts.get(agentOfQueue(agent))?.attempt(request)
  }

  /** Returns false if the request is no longer this node's, or if that is unknown. */
  async #told(item: WorkItem, trial: ProbationProgress): Promise<boolean> {
    const { step, attempt } = item.request
    const message: Heartbeat = { type: 'heartbeat', step, attempt, trial }
    try {
      const [outcome] = await this.#options.store.heartbeatWork([
        { work: item.id, node: this.#options.node, of: markOf(item), message },
      ])
      this.#options.replied()
      return outcome === 'ok'
    } catch (error) {
      this.#options.failed(error)
      return false
    }
  }

  #reply(reply: QueuedReply): void {
    this.#replies.push(reply)
    if (this.#replying) return
    this.#replying = true
    this.#options.environment.soon(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    const batch = takeFitting(this.#replies, ({ message }) => sizeOf(message))
    try {
      await this.#send(batch)
      this.#backoff.reply.reset()
      if (this.#tried.size > 0) for (const { work } of batch) this.#tried.delete(work)
    } catch (error) {
      // A closed store takes nothing more; other nodes learn from the lease that the attempts are lost.
      if (isTriarchError(error, 'STORE_CLOSED')) return this.#replied()
      // Retrying is safe: a reply that was written the first time is refused as late the second time.
      this.#options.failed(error)
      this.#replies.unshift(...batch)
      // The reply may come too late and the attempt count as a death of this process, so survival is reported now.
      for (const item of this.#tried.values()) void this.#told(item, 'survived')
      this.#tried.clear()
      this.#options.environment.timer(this.#backoff.reply.next(), () => void this.#flush())
      return
    }
    if (this.#replies.length > 0) this.#options.environment.soon(() => void this.#flush())
    else this.#replied()
  }

  /**
   * Writes the replies. If another transaction blocks a task, or the store refuses a reply, the batch is halved until that reply is
   * alone.
   */
  async #send(batch: readonly QueuedReply[], again = new Backoff(AGAIN, LONGEST_AGAIN)): Promise<void> {
    try {
      const accepted = await this.#options.store.reply(batch)
      let seated = false
      for (const [index, { work }] of batch.entries()) {
        const item = this.#unsent.get(work)
        if (item) seated ||= this.#options.hosts.get(agentOfQueue(item.agent))?.sharedConcurrency.isUnlimited === false
        this.#unsent.delete(work)
        if (this.#recorded.size > 0) this.#tellRecorded(work, accepted[index] === true)
      }
      const late = accepted.filter((ok) => !ok).length
      if (late > 0) this.#options.late(late)
      this.#options.replied()
      // A permit is free only now, after the request is gone.
      if (seated) this.wake()
    } catch (error) {
      if (!isTriarchError(error) && batch.some((reply) => !isSendable(reply)))
        return this.#send(batch.map((reply) => (isSendable(reply) ? reply : withoutContent(reply))))
      if (!isBlocked(error) && !isTriarchError(error, 'STORE_FAILED')) throw error
      if (!isBlocked(error)) this.#options.failed(error)
      const [reply] = batch
      if (batch.length > 1) {
        const half = batch.length >> 1
        await Promise.all([this.#send(batch.slice(0, half)), this.#send(batch.slice(half))])
      } else if (reply) this.#hold(reply, again)
    }
  }

  #tellRecorded(work: number, counts: boolean): void {
    const recorded = this.#recorded.get(work)
    this.#recorded.delete(work)
    recorded?.(counts)
  }

  /** Retries the reply by itself, so that others need not wait for it. */
  #hold(reply: QueuedReply, again: Backoff): void {
    this.#held++
    this.#options.environment.timer(again.next(), () => {
      void this.#send([reply], again)
        .catch(() => this.#reply(reply))
        .finally(() => {
          this.#held--
          this.#settled()
        })
    })
  }

  #replied(): void {
    this.#replying = false
    this.#settled()
  }

  #settled(): void {
    if (this.#replying || this.#held > 0) return
    for (const done of this.#flushed.splice(0)) done()
  }

  async #heartbeat(item: WorkItem, progress: Json | undefined, checkpoint: Json | undefined): Promise<void> {
    const { step, attempt } = item.request
    if (progress === undefined && checkpoint === undefined) return this.#beats([{ item, message: null }])
    const said = { ...(progress !== undefined && { progress }), ...(checkpoint !== undefined && { checkpoint }) }
    const message: Heartbeat = { type: 'heartbeat', step, attempt, ...said }
    this.#said.set(item.id, message)
    await this.#beats([{ item, message }])
  }

  /** Sends the heartbeat again, unless the attempt has sent a newer one. */
  #beatAgain(item: WorkItem, message: Heartbeat): void {
    this.#options.environment.timer(BEAT_AGAIN, () => {
      if (this.#said.get(item.id) === message) void this.#beats([{ item, message }])
    })
  }

  /** Checks regularly whether the running attempts are still wanted. This does not count as the attempt's own heartbeat. */
  #beat(): void {
    this.#pulse = this.#options.environment.timer(this.#options.pulse, () => {
      const items = [...this.#running.values()].filter((item) => item.heartbeatWithin === null)
      const unsent = [...this.#unsent.values()].filter((item) => item.heartbeatWithin !== null)
      void this.#beats([...items, ...unsent].map((item) => ({ item, message: null }))).then(() => {
        this.#pulse = null
        if (this.#running.size + this.#unsent.size > 0) this.#beat()
      })
    })
  }

  async #beats(beats: Beat[]): Promise<void> {
    while (beats.length > 0) await this.#beatAtOnce(takeFitting(beats, ({ message }) => sizeOf(message)))
  }

  async #beatAtOnce(beats: readonly Beat[]): Promise<void> {
    const { store, node } = this.#options
    try {
      const outcomes = await store.heartbeatWork(
        beats.map(({ item, message }) => ({ work: item.id, node, of: markOf(item), message })),
      )
      for (const [index, { item, message }] of beats.entries()) {
        if (outcomes[index] === 'held' && message) this.#beatAgain(item, message)
        // Only this attempt: a newer one of the same step may already run here.
        const attempt = this.#running.get(item.id) === item ? this.#attempt(item) : undefined
        if (outcomes[index] === 'withdrawn') attempt?.abort(new TriarchError('STEP_CANCELLED', 'the task stops'))
        if (outcomes[index] === 'late') attempt?.abandon(new TriarchError('STEP_LOST', 'the attempt was given up'))
      }
      if (beats.some(({ message }) => message)) this.#options.replied()
    } catch (error) {
      this.#options.failed(error)
    }
  }
}

function isSendable({ message }: QueuedReply): boolean {
  try {
    return JSON.stringify(message) !== undefined
  } catch {
    return false
  }
}

/** The reply for an answer that cannot be written as JSON: the attempt failed with unknown effect, unless its code had reported success. */
function withoutContent(reply: QueuedReply): QueuedReply {
  const message = reply.message as Reply
  const { checkpoint: _, ...rest } = message
  const error = {
    name: 'TriarchError',
    code: 'UNSERIALISABLE',
    message: 'the answer of the attempt cannot be written as JSON',
  }
  const done = message.outcome.kind === 'done'
  const outcome: Outcome = { kind: 'failed', error, retryable: false, unknown: true, ...(done && { done }) }
  return { ...reply, message: { ...rest, outcome } }
}

function markOf({ request: { task, step, operation, attempt } }: WorkItem): RequestMark {
  return { task, step, operation, attempt }
}
