import type { DatabaseSync } from 'node:sqlite'
import { TriarchError } from '../../error/error.ts'
import type { NewTask, SubmitOutcome } from '../port.ts'
import { connectionOf } from '../revocable.ts'
import { Database } from './database.ts'
import { storeError } from './failure.ts'
import { insertTasks } from './submit.ts'

const OURS = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'triarch_tasks'`

const FIRST = 'SELECT events FROM triarch_history WHERE task = ? AND seq = 1'

/** The callers' connections, with their prepared statements. */
const known: WeakMap<object, Database> = new WeakMap()

/** Submits inside the caller's transaction: the tasks exist exactly when the caller's rows do. */
export function submitIn(transaction: unknown, tasks: readonly NewTask[]): SubmitOutcome[] {
  const database = databaseOf(transaction)
  try {
    return insertTasks(database, tasks).map((outcome) => {
      if (outcome.created) return outcome
      const first = database.get<{ events: string }>(FIRST, outcome.key)?.events
      return { ...outcome, ...(first !== undefined && { first }) }
    })
  } catch (error) {
    throw storeError(error)
  }
}

function databaseOf(transaction: unknown): Database {
  const given = typeof transaction === 'object' && transaction !== null ? transaction : {}
  const connection = connectionOf(given) as Partial<DatabaseSync>
  if (typeof connection.prepare !== 'function') {
    throw new TriarchError('STORE_TRANSACTION_INVALID', '`transaction` is not a DatabaseSync of node:sqlite')
  }
  if (connection.isTransaction !== true) {
    throw new TriarchError('STORE_TRANSACTION_INVALID', 'the connection given as `transaction` has no open transaction')
  }
  let database = known.get(connection)
  if (!database) {
    database = new Database(connection as DatabaseSync)
    if (!database.get(OURS)) {
      throw new TriarchError(
        'STORE_TRANSACTION_INVALID',
        'the connection given as `transaction` is on a database without the tables of Triarch',
      )
    }
    known.set(connection, database)
  }
  return database
}
