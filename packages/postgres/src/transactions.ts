import pg from 'pg'
import { TriarchError, UnknownOutcomeError } from 'triarch'
import {
  type Effect,
  type EffectOutcome,
  type Environment,
  LEADER,
  type Leading,
  Revocable,
  type TransactionBounds,
} from 'triarch/store'
import { cut, goodbye, inTime } from './connect.ts'
import { causesOf, ruleOf, Unreachable, unopened } from './failure.ts'
import { LEADS } from './leader.ts'
import type { Settings } from './options.ts'
import { patiently } from './patience.ts'
import { inSchema } from './schema.ts'

const BEGIN = 'SELECT answer, transaction FROM triarch.begin_effect($1, $2, $3, $4, $5)'
const KEEP = 'SELECT triarch.keep_effect($1, $2, $3, $4, $5, $6, $7, $8) AS kept'
const ANSWER = 'SELECT triarch.effect($1, $2, $3, $4) AS answer'

/** SQLSTATE unique_violation: another attempt, which this one's snapshot did not show, has stored the answer. */
const ANSWERED = '23505'

/** SQLSTATE query_canceled: a statement of the body took too long, which would happen again. */
const TIMEOUT = '57014'

/** The highest value of such settings (ms). */
const LONGEST = 2 ** 31 - 1

type Body = (tx: pg.ClientBase) => string | Promise<string>
interface Thrown {
  thrown: unknown
}

/**
 * Runs users' transactions, on connections of their own with the default settings and types of `pg`. When the answer to
 * a COMMIT is lost, the next try waits for the end of that transaction and finds its answer, or runs again.
 */
export class Transactions {
  readonly #environment: Environment
  readonly #settings: Settings
  readonly #pool: pg.Pool

  constructor(environment: Environment, settings: Settings) {
    this.#environment = environment
    this.#settings = settings
    this.#pool = new pg.Pool({
      ...settings.connection,
      application_name: 'triarch-transactions',
      max: settings.transactions,
      keepAlive: true,
      connectionTimeoutMillis: settings.answerWithin,
      allowExitOnIdle: true,
    })
    this.#pool.on('error', () => undefined) // an idle connection was lost: the next call opens another
    this.#pool.on('connect', (client) => client.on('error', () => undefined)) // the call that uses it gets the error
  }

  async transact(effect: Effect | Leading, bounds: TransactionBounds, body: Body): Promise<EffectOutcome> {
    const { within, signal } = bounds
    const until = this.#environment.monotonic() + within
    const doubt = { commit: false }
    try {
      const outcome = await patiently(this.#environment, within, async () => {
        if (signal.aborted) return { thrown: signal.reason }
        const left = Math.max(1, Math.ceil(until - this.#environment.monotonic()))
        return this.#attempt(effect, { ...bounds, within: left }, body, doubt)
      })
      if ('thrown' in outcome) throw outcome.thrown
      return outcome
    } catch (error) {
      if (!doubt.commit) throw error
      throw new UnknownOutcomeError('nobody knows whether the transaction was committed', { cause: error })
    }
  }

  async effect({ key, epoch, step, name }: Effect, within: number): Promise<string | null> {
    return patiently(this.#environment, within, async () => {
      const client = await this.#connect()
      const late = new AbortController()
      const timer = this.#environment.timer(this.#settings.answerWithin, () => late.abort())
      const session = new Session(client, late.signal)
      try {
        // The statement must read what it has waited for, whatever the default isolation level of the database.
        await session.run('BEGIN ISOLATION LEVEL READ COMMITTED')
        const [row] = await session.run(this.#sql(ANSWER), [key, epoch, step, name])
        return (row as { answer: string | null }).answer
      } finally {
        await session.end()
        timer.cancel()
      }
    })
  }

  close(): Promise<void> {
    return goodbye(this.#environment, this.#pool.end())
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.#pool.ending) throw unopened()
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw new Unreachable(error)
    }
  }

  /** Runs one attempt. Throws errors that are to be retried or that concern the database; returns what the body threw. */
  async #attempt(
    effect: Effect | Leading,
    bounds: TransactionBounds,
    body: Body,
    doubt: { commit: boolean },
  ): Promise<EffectOutcome | Thrown> {
    const client = await this.#connect()
    const session = new Session(client, bounds.signal)
    try {
      // An idle connection may be dead, and a BEGIN waits for nothing else, so its answer must come in time.
      await inTime(this.#environment, this.#settings, client, session.run(begin(bounds)))
      const [begun] = await session.run(this.#sql('token' in effect ? LEADS : BEGIN), fenceOf(effect))
      // From here on no commit of an earlier try is under way.
      doubt.commit = false
      if (!begun) return { ok: false, reason: 'fenced' }
      if (typeof begun.answer === 'string') return { ok: true, answer: begun.answer }
      const answer = await session.body(body)
      if (typeof answer !== 'string') return answer
      if (!('token' in effect) && !(await this.#keep(session, effect, answer, begun.transaction)))
        return { ok: false, reason: 'fenced' }
      doubt.commit = true
      await session.commit()
      doubt.commit = false
      return { ok: true, answer }
    } catch (error) {
      // The server answered, so it did not commit.
      if (ruleOf(error).verdict !== 'reconnect') doubt.commit = false
      // For a leadership no answer is stored, so it cannot be found out later and is not tried again.
      if (doubt.commit && 'token' in effect) throw new UnknownOutcomeError('the answer to COMMIT was lost')
      throw error
    } finally {
      await session.end()
    }
  }

  async #keep(session: Session, effect: Effect, answer: string, transaction: unknown): Promise<boolean> {
    const { key, node, epoch, step, firstStep, name } = effect
    const values = [key, node, epoch, step, firstStep, name, answer, transaction]
    const [row] = await session.run(this.#sql(KEEP), values)
    return row?.kept === true
  }

  #sql(statement: string): string {
    return inSchema(statement, this.#settings.schema)
  }
}

/** Returns the parameters of the fence statement with which the transaction begins. */
function fenceOf(effect: Effect | Leading): unknown[] {
  if ('token' in effect) return [LEADER + effect.name, effect.node, effect.token]
  const { key, node, epoch, step, name } = effect
  return [key, node, epoch, step, name]
}

/** The server must end statements, and pauses between statements, that outlast the attempt, even if this process no longer exists. */
function begin({ within, isolation }: TransactionBounds): string {
  const bound = Math.min(within, LONGEST)
  return `BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL statement_timeout = ${bound};
    SET LOCAL idle_in_transaction_session_timeout = ${bound}`
}

/** One transaction on one connection, which is cut when the signal aborts. */
class Session {
  readonly #client: pg.PoolClient
  readonly #signal: AbortSignal
  readonly #aborted: Promise<Thrown>
  readonly #abort: () => void
  /** Whether the connection may be used again. */
  #sound = true
  #over = false

  constructor(client: pg.PoolClient, signal: AbortSignal) {
    const aborted = Promise.withResolvers<Thrown>()
    this.#client = client
    this.#signal = signal
    this.#aborted = aborted.promise
    this.#abort = () => {
      this.#abandon()
      aborted.resolve({ thrown: signal.reason })
    }
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
  }

  async run(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
    try {
      const { rows } = await this.#client.query<Record<string, unknown>>(sql, values)
      return rows
    } catch (error) {
      throw this.#judged(error)
    }
  }

  /** Runs the body. Returns its answer, or what it threw if that is no reason to run it again. */
  async body(body: Body): Promise<string | Thrown> {
    const lent = new Lent(this.#client)
    const work = (async () => body(lent.facade))().catch((thrown: unknown) => {
      const cause = serverError(thrown)
      if (cause && ruleOf(cause).verdict !== 'fail' && cause.code !== TIMEOUT) throw this.#judged(cause)
      if (isOpen(this.#client)) return { thrown }
      throw this.#judged(Object.assign(new Error('connection terminated', { cause: thrown }), { code: '08006' }))
    })
    let answer: string | Thrown | undefined
    try {
      answer = await Promise.race([work, this.#aborted])
    } finally {
      lent.revoke()
      // A ROLLBACK would wait for the end of the statements that are still under way.
      if (typeof answer !== 'string' && lent.busy) this.#abandon()
    }
    if (typeof answer === 'string' && this.#client.getTransactionStatus() === 'I') throw ended()
    return answer
  }

  async commit(): Promise<void> {
    this.#over = true
    try {
      const { command } = await this.#client.query('COMMIT')
      // COMMIT of a failed transaction rolls it back without an error.
      if (command !== 'COMMIT')
        throw Object.assign(new Error('the transaction could not be committed'), { code: '40001' })
    } catch (error) {
      throw this.#judged(error)
    }
  }

  async end(): Promise<void> {
    if (this.#sound && !this.#over) {
      await this.#client.query('ROLLBACK').catch(() => {
        this.#sound = false
      })
    }
    this.#signal.removeEventListener('abort', this.#abort)
    this.#client.release(!this.#sound)
  }

  /** Closes the connection, so that the server rolls back. */
  #abandon(): void {
    this.#sound = false
    cut(this.#client)
  }

  #judged(error: unknown): unknown {
    const { code } = error as { code?: unknown }
    if (code === '2D000') return ended()
    if (code === ANSWERED) return Object.assign(new Error('answered by another attempt'), { code: '40001' })
    if (ruleOf(error).verdict === 'reconnect') this.#sound = false
    return error
  }
}

/** The connection as the body sees it. */
class Lent {
  readonly #revocable: Revocable<pg.ClientBase>
  #statements = 0

  constructor(client: pg.PoolClient) {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    this.#revocable = new Revocable<pg.ClientBase>(client, {
      instead: new Map([
        ['query', (...args: unknown[]) => this.#counted(query, args)],
        ...['connect', 'end', 'release'].map((method) => [method, refuseEnd] as const),
      ]),
      refuse: refused,
    })
  }

  get facade(): pg.ClientBase {
    return this.#revocable.facade
  }

  /** Whether a statement is under way. */
  get busy(): boolean {
    return this.#statements > 0
  }

  revoke(): void {
    this.#revocable.revoke()
  }

  #counted(query: (...args: unknown[]) => unknown, args: unknown[]): unknown {
    this.#statements++
    const done = () => {
      this.#statements--
    }
    const callback = args.findIndex((it) => typeof it === 'function')
    if (callback >= 0) {
      const told = args[callback] as (...results: unknown[]) => unknown
      const counted = (...results: unknown[]) => {
        done()
        return told(...results)
      }
      return query(...args.with(callback, counted))
    }
    // The end of a cursor or stream is not known, so it counts as under way.
    const answer = query(...args)
    if (answer instanceof Promise) answer.then(done, done)
    return answer
  }
}

/** Refuses a call by a promise or a callback, in the way in which the driver reports errors. */
function refused(method: PropertyKey, args: readonly unknown[], error: TriarchError): unknown {
  if (method !== 'query' || typeof (args[0] as { submit?: unknown } | null)?.submit === 'function') throw error
  const callback = args.find((it) => typeof it === 'function') as ((error: unknown) => void) | undefined
  const answer = Promise.reject(error)
  if (!callback) return answer
  answer.catch(callback)
  return undefined
}

function refuseEnd(): never {
  throw new TriarchError('TRANSACTION_ENDED', 'the function tried to end the connection of its transaction')
}

function ended(): TriarchError {
  return new TriarchError('TRANSACTION_ENDED', 'the function ended its transaction')
}

/** Returns the server's error that a query builder may have wrapped. */
function serverError(error: unknown): pg.DatabaseError | null {
  for (const it of causesOf(error)) if (it instanceof pg.DatabaseError) return it
  return null
}

function isOpen(client: pg.ClientBase): boolean {
  return !(client as unknown as { connection: { stream: { destroyed: boolean } } }).connection.stream.destroyed
}
