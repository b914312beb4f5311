import { parentPort, workerData } from 'node:worker_threads'
import { type Database, openDatabase } from './database.ts'
import { send, unopened } from './failure.ts'
import { perform } from './perform.ts'
import type { Request, Response, ThreadData } from './worker.ts'

const { path, block } = workerData as ThreadData
let database: Database | null = null

parentPort?.on('message', (request: Request) => parentPort?.postMessage(answer(request)))

function answer({ id, name, now, args }: Request): Response {
  try {
    return { id, value: JSON.stringify(act(name, now, JSON.parse(args))) }
  } catch (error) {
    return { id, error: send(error) }
  }
}

function act(name: Request['name'], now: number, args: readonly unknown[]): unknown {
  if (name === 'open') {
    database = openDatabase(path, block)
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
