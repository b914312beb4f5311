import type { DatabaseSync } from 'node:sqlite'
import type { Environment } from '../../environment/environment.ts'
import { TriarchError } from '../../error/error.ts'
import type { Effect, EffectOutcome, Leading, TransactionBounds } from '../port.ts'
import { Revocable, type RevocableRules } from '../revocable.ts'
import type { Database } from './database.ts'
import { effect as answerOf, isOwned, keepEffect } from './effect.ts'
import { storeError, unopened } from './failure.ts'
import { isLed } from './leader.ts'
import { patiently } from './patience.ts'

/** The longest time that a transaction may hold the write lock (ms): leases cannot be renewed meanwhile. */
const LONGEST_HOLD = 2_000

function refuseEnd(): never {
  throw new TriarchError('TRANSACTION_ENDED', 'the function tried to close the connection of its transaction')
}

/** How user code sees the connection. */
const RULES: RevocableRules = {
  leading: new Set(['prepare', 'iterate', 'createTagStore', 'createSession']),
  instead: new Map(['open', 'close', Symbol.dispose].map((method) => [method, refuseEnd])),
}

/**
 * Runs users' transactions on a connection of their own in this thread, one after the other, because SQLite has one
 * writer. The write lock is held from the fence to the commit, so no node can take over the task in between.
 */
export class Transactions {
  readonly #environment: Environment
  readonly #busyTimeout: number
  /** Returns the connection; opens it if necessary. */
  readonly #open: () => Database
  /** Settles when the last requested transaction is over. */
  #last: Promise<void> = Promise.resolve()
  /** Settles when the running transaction is over; null if none is running. */
  underWay: Promise<void> | null = null

  constructor(environment: Environment, busyTimeout: number, open: () => Database) {
    this.#environment = environment
    this.#busyTimeout = busyTimeout
    this.#open = open
  }

  async transact(
    effect: Effect | Leading,
    { within, signal }: TransactionBounds,
    body: (tx: DatabaseSync) => string | Promise<string>,
  ): Promise<EffectOutcome> {
    const before = this.#last
    const over = Promise.withResolvers<void>()
    this.#last = over.promise
    await before
    try {
      const wait = Math.min(within, this.#busyTimeout)
      const database = await patiently(this.#environment, wait, () => this.#begin(signal, over.promise))
      return await this.#run(database, effect, { hold: Math.min(within, LONGEST_HOLD), signal }, body)
    } finally {
      this.underWay = null
      over.resolve()
    }
  }

  #begin(signal: AbortSignal, over: Promise<void>): Database {
    signal.throwIfAborted()
    const database = this.#open()
    database.run('BEGIN IMMEDIATE')
    this.underWay = over
    return database
  }

  async #run(
    database: Database,
    effect: Effect | Leading,
    bounds: { hold: number; signal: AbortSignal },
    body: (tx: DatabaseSync) => string | Promise<string>,
  ): Promise<EffectOutcome> {
    const { connection } = database
    const given = new Revocable(connection, RULES)
    try {
      const found = meet(database, effect)
      if (found !== null) return found
      const work = (async () => body(given.facade))()
      const answer = await this.#bounded(work, bounds)
      given.revoke()
      if (!connection.isOpen) throw unopened()
      if (!connection.isTransaction) throw new TriarchError('TRANSACTION_ENDED', 'the function ended its transaction')
      commit(database, effect, answer)
      return { ok: true, answer }
    } finally {
      given.revoke()
      if (connection.isOpen && connection.isTransaction) database.run('ROLLBACK')
    }
  }

  /** Rejects when the signal aborts or the time is up, though the work may go on. */
  #bounded(work: Promise<string>, { hold, signal }: { hold: number; signal: AbortSignal }): Promise<string> {
    return new Promise<string>((resolve, reject) => {
      const abort = () => reject(signal.reason)
      const late = new TriarchError('STORE_BUSY', `a transaction held the store for more than ${hold} ms`)
      const timer = this.#environment.timer(hold, () => reject(late))
      signal.addEventListener('abort', abort, { once: true })
      work.then(resolve, reject).finally(() => {
        timer.cancel()
        signal.removeEventListener('abort', abort)
      })
    })
  }
}

/** Returns the outcome if the body need not run; null if it must. */
function meet(database: Database, effect: Effect | Leading): EffectOutcome | null {
  const fenced = { ok: false, reason: 'fenced' } as const
  if ('token' in effect) return isLed(database, effect) ? null : fenced
  if (!isOwned(database, effect)) return fenced
  const known = answerOf(database, 0, effect)
  return known === null ? null : { ok: true, answer: known }
}

function commit(database: Database, effect: Effect | Leading, answer: string): void {
  try {
    if (!('token' in effect)) keepEffect(database, effect, answer)
    database.run('COMMIT')
  } catch (error) {
    throw storeError(error)
  }
}
