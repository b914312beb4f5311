import { parentPort, workerData } from 'node:worker_threads'
import type { Database } from './database.ts'
import { send, unopened } from './failure.ts'
import { openDatabase } from './open.ts'
import { unpacked } from './parcel.ts'
import { perform } from './perform.ts'
import type { Request, Response, ThreadData } from './worker.ts'

const { path, block, migrations } = workerData as ThreadData
let database: Database | null = null

parentPort?.on('message', (request: Request) => parentPort?.postMessage(answer(request)))

function answer(request: Request): Response {
  const { id, name, now } = request
  try {
    const args = request.name === 'commit' ? [unpacked(request.batch)] : JSON.parse(request.args)
    return { id, value: JSON.stringify(act(name, now, args)) }
  } catch (error) {
    return { id, error: send(error) }
  }
}

function act(name: Request['name'], now: number, args: readonly unknown[]): unknown {
  if (name === 'open') {
    database = openDatabase(path, block, 'auto', migrations)
    return undefined
  }
  if (name === 'close') {
    database?.close()
    database = null
    return undefined
  }
  if (!database) throw unopened()
  return perform(database, name, now, args)
}
