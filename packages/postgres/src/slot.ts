import type { Environment } from 'triarch/store'
import { ask, type Client, connect, cut, disconnect, type Role } from './connect.ts'
import { blocked, mayBeDone, ruleOf, tooCostly, Unreachable, unanswered, unopened } from './failure.ts'
import type { Settings } from './options.ts'
import { patiently } from './patience.ts'
import type { Question, Row } from './query.ts'

/** A statement of ours; `numbered`: its first two parameters are the slot and the number of the call. */
export interface Statement {
  name: string
  sql: string
  numbered: boolean
  /** It waits for others' rows for a moment only: STORE_BUSY then, with `blocked` in its details. */
  bounded?: boolean
}

/**
 * After so many calls a connection plans its statements anew. A plan made while a table was all but empty walks it row by row,
 * and stays when it has grown: until autovacuum looks, which may take minutes.
 */
const REPLANNED: ReadonlySet<number> = new Set([16, 64, 256, 1_024, 4_096, 16_384, 65_536])

/**
 * One connection after another, for one call at a time. A call whose connection broke is sent again on the next under
 * the same number, so that it takes effect once and gets its answer (migrations/0001/call.sql).
 */
export class Slot {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #role: Role
  readonly #id: string
  #number = 0
  #client: Client | null = null
  /** Calls on this connection. */
  #sent = 0
  /** The call lost a connection: it may be under way there still. */
  #resent = false
  /** The call was sent on a connection. */
  #asked = false
  #closed = false
  /** When its last call ended, by the monotonic clock. */
  restsSince = 0

  constructor(environment: Environment, settings: Settings, role: Role) {
    this.#environment = environment
    this.#settings = settings
    this.#role = role
    this.#id = environment.id()
  }

  /** Tries for at most `patience` ms. Throws STORE_*. */
  async run(statement: Statement, values: readonly unknown[], patience: number): Promise<Row[]> {
    const { name, sql, numbered, bounded } = statement
    this.#resent = false
    this.#asked = false
    if (numbered) this.#number++
    const given = numbered ? [this.#id, this.#number, ...values] : [...values]
    const question = { ...(this.#settings.notify && { name }), text: sql, values: given }
    const rows = await patiently(
      this.#environment,
      patience,
      async () => {
        try {
          return await this.#send(question)
        } catch (error) {
          // Sent again, it may wait for itself: then nobody knows yet whether it takes effect.
          if (this.#role === 'reads') throw tooCostly(error)
          throw bounded && !this.#resent ? blocked(error) : error
        }
      },
      (error) => {
        if (ruleOf(error).verdict !== 'reconnect') return
        this.#resent ||= this.#asked && mayBeDone(error)
        this.#drop()
      },
    ).catch((error) => {
      // Whatever ended the patience: what was sent before may have taken effect.
      throw numbered && this.#resent ? unanswered(error) : error
    })
    // A look that found nothing kept nothing: those that are kept follow each other (migrations/0001/call.sql). What was found when
    // it was first sent may be somebody else's by now, and is kept all the same.
    if (numbered && rows.length === 0 && !this.#resent) this.#number--
    return rows
  }

  get connected(): boolean {
    return this.#client !== null
  }

  /** Nobody needs its connection just now: the next call opens another. */
  rest(): void {
    const client = this.#client
    this.#client = null
    if (client) void disconnect(this.#environment, client)
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#client) await disconnect(this.#environment, this.#client)
  }

  async #send(question: Question): Promise<Row[]> {
    if (this.#closed) throw unopened()
    if (!this.#client) {
      const client = await connect(this.#settings, this.#role).catch((error: unknown) => {
        throw new Unreachable(error)
      })
      // The store was closed meanwhile, and knew nothing of it.
      if (this.#closed) {
        cut(client)
        throw unopened()
      }
      this.#client = client
      this.#sent = 0
    }
    const client = this.#client
    this.#asked = true
    // Under the next call's clock: whatever happens to it, happens to that one too.
    if (REPLANNED.has(++this.#sent)) client.query('DISCARD PLANS').catch(() => undefined)
    return ask(this.#environment, this.#settings, client, question)
  }

  /** The connection is of no more use: it is cut, without a word that nobody would hear. */
  #drop(): void {
    const client = this.#client
    this.#client = null
    if (client) cut(client)
  }
}
