import { type Environment, type NodeRuns, runsOf, textsOf } from 'triarch/store'
import { inSchema } from './schema.ts'

/** What may be told, besides whom it is for. */
export type Errand = '@' | '=' | '+'

interface Member {
  id: string
  /** Null: it never said. */
  workflows: ReadonlySet<string> | null
  actions: ReadonlySet<string> | null
  scheduler: boolean
  agent: boolean
  /** It knows hints with an address; those of versions before hear of tasks as of mail, and of work with everybody. */
  addressed: boolean
}

/** For how long what was read of the nodes is good enough (ms). */
const FRESH = 5_000

/** A node says with what it can run that hints may be addressed to it. */
export interface AddressedRuns extends NodeRuns {
  addressed?: true
}

export function membersStatement(schema: string): string {
  return inSchema('SELECT id, roles, runs FROM triarch.nodes WHERE NOT dead', schema)
}

/** The nodes that live and what each can run: who is to be told. Read when there is something to tell, now and then. */
export class Audience {
  readonly #environment: Environment
  #members: readonly Member[] = []
  #readAt = Number.NEGATIVE_INFINITY
  #outdated = false

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** To be read before somebody is chosen. */
  get old(): boolean {
    return this.#outdated || !this.#fresh
  }

  get #fresh(): boolean {
    return this.#environment.monotonic() - this.#readAt <= FRESH
  }

  /** Whether all schedulers say who need not look any more. */
  get addressed(): boolean {
    return this.#fresh && this.#members.every(({ scheduler, addressed }) => !scheduler || addressed)
  }

  read(rows: readonly { id: string; roles: string; runs: string | null }[]): void {
    this.#readAt = this.#environment.monotonic()
    this.#outdated = false
    this.#members = rows.map(({ id, roles, runs }) => {
      const has = textsOf(roles)
      const said = runsOf<AddressedRuns>(runs)
      return {
        id,
        workflows: said && new Set(said.workflows),
        actions: said && new Set(said.actions),
        scheduler: has.includes('scheduler'),
        agent: has.includes('agent'),
        addressed: said?.addressed === true,
      }
    })
  }

  /** A node came: it would hear of nothing until the rows are read again. */
  came(): void {
    this.#outdated = true
  }

  gone(node: string): void {
    this.#members = this.#members.filter(({ id }) => id !== node)
  }

  /**
   * Words for at most so many of those who can run tasks of this workflow version, drawn at random. With `control`, if there
   * are none, of all schedulers. `self` is not told: whoever writes in a process wakes its own node.
   */
  tasks(version: string, control: boolean, most: number, self: string | null): string[] {
    const schedulers = this.#members.filter(({ scheduler }) => scheduler)
    const able = schedulers.filter(({ workflows }) => workflows?.has(version) ?? true)
    const chosen = able.length === 0 && control ? schedulers : able
    // One task that is made here and can be run here is taken here.
    if (most === 1 && chosen.some(({ id }) => id === self)) return []
    return this.#drawn(chosen, most, self).map(({ id, addressed }) => `${addressed ? '=' : '@'}${id}`)
  }

  /** The same for requests for an action. */
  work(action: string, most: number, self: string | null): string[] {
    const able = this.#members.filter(({ agent, actions }) => agent && (actions?.has(action) ?? true))
    return this.#drawn(able, most, self).map(({ id, addressed }) => (addressed ? `+${id}` : 'work'))
  }

  #drawn(able: readonly Member[], most: number, self: string | null): Member[] {
    const others = able.filter(({ id }) => id !== self)
    const drawn: Member[] = []
    while (drawn.length < most && others.length > 0) {
      drawn.push(...others.splice(Math.floor(this.#environment.random() * others.length), 1))
    }
    return drawn
  }
}
