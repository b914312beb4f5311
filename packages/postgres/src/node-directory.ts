import { type Environment, type NodeRuns, runsOf, textsOf } from 'triarch/store'
import { type Address, wordOf } from './notification.ts'
import type { Row } from './query.ts'
import { inSchema } from './schema.ts'

interface Member {
  id: string
  /** Null if its row does not contain them. */
  workflows: ReadonlySet<string> | null
  actions: ReadonlySet<string> | null
  /** Slots, by agent. */
  slots: NodeRuns['slots']
  scheduler: boolean
  agent: boolean
  /** The channel that its process alone listens to; null: it has none. */
  own: string | null
}

/** How long a reading of the nodes is valid (ms). */
const FRESH = 5_000

/**
 * Tasks or requests that one notified node is expected to take, with one call and one commit for all. For requests only
 * a small share of its slots, so that nodes with few slots are notified for few.
 */
const PORTION = 4

/** The workflows and actions that a node can run, and the channel that it listens to. */
export interface AddressedRuns extends NodeRuns {
  /** The channel that its process alone listens to. */
  own?: string
}

export function membersStatement(schema: string): string {
  return inSchema('SELECT id, roles, runs FROM triarch.nodes WHERE NOT dead', schema)
}

/**
 * The living nodes and what each can run, from which the nodes to notify are chosen. Read when there is something to
 * notify of and the last reading is too old.
 */
export class NodeDirectory {
  readonly #environment: Environment
  #members: readonly Member[] = []
  #readAt = Number.NEGATIVE_INFINITY
  #outdated = false

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Whether it must be read before a node is chosen. */
  get old(): boolean {
    return this.#outdated || !this.known
  }

  /** Whether the last reading is valid. */
  get known(): boolean {
    return this.#environment.monotonic() - this.#readAt <= FRESH
  }

  read(rows: readonly Row[]): void {
    this.#readAt = this.#environment.monotonic()
    this.#outdated = false
    this.#members = (rows as readonly [string, string, string | null][]).map(([id, roles, runs]) => {
      const has = textsOf(roles)
      const said = runsOf<AddressedRuns>(runs)
      return {
        id,
        workflows: said && new Set(said.workflows),
        actions: said && new Set(said.actions),
        slots: said?.slots,
        scheduler: has.includes('scheduler'),
        agent: has.includes('agent'),
        own: typeof said?.own === 'string' ? said.own : null,
      }
    })
  }

  /** A node came: it is not notified until the rows are read again. */
  came(): void {
    this.#outdated = true
  }

  gone(node: string): void {
    this.#members = this.#members.filter(({ id }) => id !== node)
  }

  /**
   * Returns notifications for nodes that can run tasks of this workflow version, drawn at random, until the expected
   * claims cover the tasks. With `control`, if there are no such nodes, all schedulers are candidates. `self` is not
   * notified, because a process wakes its own node itself.
   */
  tasks(version: string, control: boolean, count: number, self: string | null): Address[] {
    const schedulers = this.#members.filter(({ scheduler }) => scheduler)
    const able = schedulers.filter(({ workflows }) => workflows?.has(version) ?? true)
    const chosen = able.length === 0 && control ? schedulers : able
    // A single task that this node can run is taken by this node.
    if (count === 1 && chosen.some(({ id }) => id === self)) return []
    const drawn = this.#drawn(chosen, count, self, () => PORTION)
    return drawn.map(({ id, own }) => ({ own, word: wordOf('tasks', id) }))
  }

  /** Returns notifications for nodes that can take requests for an action. */
  work(action: string, count: number, self: string | null): Address[] {
    const able = this.#members.filter(({ agent, actions }) => agent && (actions?.has(action) ?? true))
    const agent = action.slice(0, action.lastIndexOf('.'))
    const drawn = this.#drawn(able, count, self, ({ slots }) =>
      Math.min(PORTION, Math.max(1, Math.floor((slots?.[agent] ?? 1) / PORTION))),
    )
    return drawn.map(({ id, own }) => ({ own, word: wordOf('work', id) }))
  }

  /** Returns the notification for a node that has messages. Its own channel is used only while the reading is valid. */
  mail(node: string): Address {
    const known = this.old ? undefined : this.#members.find(({ id }) => id === node)
    return { own: known?.own ?? null, word: wordOf('mail', node) }
  }

  #drawn(able: readonly Member[], count: number, self: string | null, share: (of: Member) => number): Member[] {
    const others = able.filter(({ id }) => id !== self)
    const drawn: Member[] = []
    for (let left = count; left > 0 && others.length > 0; ) {
      for (const member of others.splice(Math.floor(this.#environment.random() * others.length), 1)) {
        drawn.push(member)
        left -= share(member)
      }
    }
    return drawn
  }
}
