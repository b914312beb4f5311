import type {
  Claim,
  ClaimRequest,
  CommitOutcome,
  NodeHeartbeat,
  SweepReport,
  Transition,
} from '../../packages/triarch/src/store/port.ts'
import { LEASE } from '../../packages/triarch/src/supervisor/supervisor.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { Plan } from './plan.ts'

/** Rows that break what the schema promises of them. */
const broken = `
SELECT 'task ' || id || ' is owned and waits for an owner' AS fault FROM triarch_tasks
WHERE locked_by IS NOT NULL AND (ready = 1 OR control = 1 OR orphaned = 1 OR wake_at IS NOT NULL)
UNION ALL SELECT 'task ' || id || ' wants control and is not ready' FROM triarch_tasks WHERE control = 1 AND ready = 0
UNION ALL SELECT 'a letter of ' || t.id || ' is for ' || ifnull(i.owner, 'nobody') || ', its owner is ' || ifnull(t.locked_by, 'nobody')
FROM triarch_inbox i JOIN triarch_tasks t ON t.key = i.task WHERE i.owner IS NOT t.locked_by`

/** Of this many calls, one is followed by a look at all rows. */
const LOOK_EVERY = 16

/** Watches each call as the store carries it out: what histories alone cannot tell. */
export class Sight {
  readonly faults: string[] = []
  /** When each record became durable, in true time: by task, then by sequence. */
  readonly durable: Map<string, Map<number, number>> = new Map()
  readonly #clock: { now(): number }
  readonly #store: SharedStore
  readonly #nodes = new Map<Machine, string>()
  readonly #owners = new Map<string, Map<number, string>>()
  readonly #epochs = new Map<string, number>()
  /** Which call told that each node leaves. */
  readonly #left = new Map<string, number>()
  readonly #leaders = new Map<number, string>()
  /** Nobody stands still, crashes or is cut off. */
  readonly #onlyClocks: boolean
  #token = 0
  #calls = 0

  /** `clock`: the store's. */
  constructor(clock: { now(): number }, store: SharedStore, { leaps, tasks }: Plan) {
    this.#clock = clock
    // Behind a user's transaction a renewal waits in reality; here it is refused, and three in a row are a lease.
    this.#onlyClocks = leaps !== undefined && !tasks.some((task) => JSON.stringify(task).includes('"transaction"'))
    this.#store = store
  }

  /** The name under which the machine last registered as a node. */
  nodeOf(machine: Machine): string | undefined {
    return this.#nodes.get(machine)
  }

  /** Whether the store holds the node for alive. */
  lives(node: string): boolean {
    return this.#store.database.get('SELECT 1 FROM triarch_nodes WHERE id = ? AND dead = 0', node) !== undefined
  }

  readonly observe = ({ machine, name, args, index }: LinkCall, answer: unknown): void => {
    if (name === 'heartbeat') this.#beat(machine, (args[0] as NodeHeartbeat).id, index)
    if (name === 'leave') this.#left.set(args[0] as string, index)
    if (name === 'claim') this.#claimed((args[0] as ClaimRequest).node, answer as Claim[])
    if (name === 'commit') this.#committed(args[0] as Transition[], answer as CommitOutcome[])
    if (name === 'lead' && answer !== null) this.#led(args[0] as { name: string; node: string }, answer as number)
    if (name === 'sweep' && answer !== null) {
      if (this.#onlyClocks)
        for (const node of (answer as SweepReport).deadNodes)
          this.faults.push(`alive: node ${node} was taken for dead, and only clocks were set`)
      const { token } = args[0] as { token: number }
      if (token < this.#token)
        this.faults.push(`leader: a sweep was let through under token ${token} of ${this.#token}`)
    }
    if (++this.#calls % LOOK_EVERY === 0) this.look()
  }

  /** Its id is free for another. */
  forget(id: string): void {
    for (const known of [this.durable, this.#owners, this.#epochs]) known.delete(id)
  }

  look(): void {
    for (const { fault } of this.#store.database.all<{ fault: string }>(broken)) this.faults.push(`rows: ${fault}`)
  }

  #beat(machine: Machine, id: string, index: number): void {
    this.#nodes.set(machine, id)
    const left = this.#left.get(id)
    if (left !== undefined && index > left) this.faults.push(`rest: node ${id} renewed its lease after it had left`)
  }

  /** From here on nobody else may write to these tasks. */
  #claimed(node: string, claims: readonly Claim[]): void {
    for (const { id, epoch } of claims) this.#own(id, epoch, node)
  }

  #own(id: string, epoch: number, node: string): void {
    const owners = this.#owners.get(id) ?? new Map<number, string>()
    this.#owners.set(id, owners)
    const owner = owners.get(epoch) ?? node
    owners.set(epoch, owner)
    if (owner !== node) this.faults.push(`owners: ${id} has two owners in epoch ${epoch}: ${owner} and ${node}`)
    const latest = this.#epochs.get(id) ?? 0
    if (epoch < latest) this.faults.push(`owners: ${id} was written in epoch ${epoch} after ${latest} was claimed`)
    this.#epochs.set(id, epoch)
  }

  #committed(batch: Transition[], outcomes: CommitOutcome[]): void {
    for (const [index, { id, node, epoch, seq, events, create }] of batch.entries()) {
      if (!outcomes[index]?.ok) continue
      this.#own(id, epoch, node)
      if (events === null && create === null) continue
      const durable = this.durable.get(id) ?? new Map<number, number>()
      this.durable.set(id, durable)
      durable.set(seq, this.#clock.now())
    }
  }

  #led({ name, node }: { name: string; node: string }, token: number): void {
    if (name !== LEASE) return
    const leader = this.#leaders.get(token) ?? node
    this.#leaders.set(token, leader)
    if (leader !== node) this.faults.push(`leader: token ${token} was given to ${leader} and to ${node}`)
    if (token < this.#token) this.faults.push(`leader: token ${token} was given after ${this.#token}`)
    this.#token = Math.max(this.#token, token)
  }
}
