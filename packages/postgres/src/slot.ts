import type { Environment } from 'triarch/store'
import { ask, type Client, connect, cut, disconnect, type Role } from './connect.ts'
import { blocked, mayBeDone, ruleOf, tooCostly, Unreachable, unanswered, unopened } from './failure.ts'
import type { Settings } from './options.ts'
import { patiently } from './patience.ts'
import type { Question, Row } from './query.ts'

/** A statement of the store; `numbered`: its first two parameters are the slot and the number of the call. */
export interface Statement {
  name: string
  sql: string
  numbered: boolean
  /**
   * Set if it waits only for a moment for rows that other transactions hold, and then fails with STORE_BUSY with
   * `blocked` in its details.
   */
  bounded?: boolean
}

/**
 * After these numbers of calls a connection plans its statements again. A plan made while a table was nearly empty
 * scans it row by row, and is kept when the table has grown, until autovacuum analyses it, which may take minutes.
 */
const REPLANNED: ReadonlySet<number> = new Set([16, 64, 256, 1_024, 4_096, 16_384, 65_536])

/**
 * Executes one call at a time, on one connection after another. A call whose connection broke is sent again on the next
 * one under the same number, so that it takes effect once and gets its answer (migrations/0001/call.sql).
 */
export class Slot {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #role: Role
  readonly #id: string
  #number = 0
  #client: Client | null = null
  /** The number of calls on this connection. */
  #sent = 0
  /** Whether the call lost a connection and may still be under way there. */
  #resent = false
  /** Whether the call was sent on any connection. */
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

  /** Executes a statement, tried for at most `patience` ms. Throws STORE_*. */
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
          // A call that was sent again may wait for itself; then it is not known yet whether it takes effect.
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
      // Whatever the last error was, an earlier attempt may have taken effect.
      throw numbered && this.#resent ? unanswered(error) : error
    })
    // A call that found nothing stored no answer, and the numbers of stored answers have no gaps
    // (migrations/0001/call.sql). If the call was sent twice, the first attempt may have found and stored something.
    if (numbered && rows.length === 0 && !this.#resent) this.#number--
    return rows
  }

  get connected(): boolean {
    return this.#client !== null
  }

  /** Closes the idle connection; the next call opens another. */
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
      // The store was closed meanwhile.
      if (this.#closed) {
        cut(client)
        throw unopened()
      }
      this.#client = client
      this.#sent = 0
    }
    const client = this.#client
    this.#asked = true
    // It is covered by the next call's timeout: whatever happens to it also happens to that call.
    if (REPLANNED.has(++this.#sent)) client.query('DISCARD PLANS').catch(() => undefined)
    return ask(this.#environment, this.#settings, client, question)
  }

  /** Closes the useless connection without notifying the server. */
  #drop(): void {
    const client = this.#client
    this.#client = null
    if (client) cut(client)
  }
}
