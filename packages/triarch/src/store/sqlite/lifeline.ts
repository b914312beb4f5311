import type { Environment } from '../../environment/environment.ts'
import { type KeepAlive, Lifeline } from '../lifeline.ts'
import { REGISTER } from './nodes.ts'

/** The longest a renewal waits for a lock before it tries anew (ms). */
const BLOCK = 250

/**
 * A connection that only renews: it waits for nobody's flush, and leaves the log's checkpoints to others. Without a node's
 * row it makes it anew, as the engine does.
 */
const SOURCE = `
function connect({ path, register, node, roles, lease, runs, place, block }, wall) {
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(path, { timeout: block })
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0')
  const beat = database.prepare(register)
  return {
    async renew() {
      const now = wall()
      const { changes } = beat.run(node, roles, now, now + lease, runs, lease, place)
      return { alive: Number(changes) > 0, now: wall() }
    },
    close: () => database.close(),
  }
}
`

export function lifeline(environment: Environment, path: string, options: KeepAlive): Lifeline | null {
  const { id, roles, lease, runs, place } = options.node
  const json = (it: unknown) => (it === undefined ? null : JSON.stringify(it))
  const data = {
    ...{ path, register: REGISTER, block: Math.ceil(Math.min(BLOCK, lease / 6)) },
    ...{ node: id, roles: JSON.stringify(roles), lease, runs: json(runs), place: json(place) },
  }
  return Lifeline.start(environment, options, { source: SOURCE, data })
}
