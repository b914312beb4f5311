import type { Environment } from '../../environment/environment.ts'
import { type KeepAlive, Lifeline } from '../lifeline.ts'
import { storeError } from './failure.ts'
import { REGISTER } from './nodes.ts'

/** SQLITE_BUSY: another connection has the write lock. */
const BUSY = 5

/**
 * The thread's connection, which only renews the lease: it waits for no other commit's flush, and leaves checkpoints to
 * other connections. If the node's row is missing it inserts it again, as the engine does. SQLite's busy handler sleeps
 * longer and longer and rarely gets the lock where many write. This one retries every few milliseconds, because it is
 * one connection per node and locks for one row only.
 */
const SOURCE = `
function connect({ path, register, node, roles, runs, place }, wall) {
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(path, { timeout: 0 })
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0')
  const beat = database.prepare(register)
  return {
    async renew(lease) {
      for (let waited = 0; ; waited += 3) {
        const now = wall()
        try {
          const { changes } = beat.run(node, roles, now, now + lease, runs, lease, place)
          return { alive: Number(changes) > 0, now: wall() }
        } catch (error) {
          if ((error.errcode & 0xff) !== ${BUSY} || waited > lease / 3) throw error
        }
        await new Promise((resolve) => setTimeout(resolve, 1 + waited % 4))
      }
    },
    close: () => database.close(),
  }
}
`

export function lifeline(environment: Environment, path: string, options: KeepAlive): Lifeline | null {
  const { id, roles, runs, place } = options.node
  const json = (it: unknown) => (it === undefined ? null : JSON.stringify(it))
  const data = {
    ...{ path, register: REGISTER },
    ...{ node: id, roles: JSON.stringify(roles), runs: json(runs), place: json(place) },
  }
  const report: KeepAlive['report'] = (it) => {
    const { error, code, errcode } = it.type === 'failed' ? it : {}
    options.report(error ? { type: 'failed', error: storeError(Object.assign(error, { code, errcode })) as Error } : it)
  }
  return Lifeline.start(environment, { ...options, report }, { source: SOURCE, data })
}
