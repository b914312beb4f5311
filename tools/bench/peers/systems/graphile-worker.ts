import { Gathering } from '../gathering.ts'
import { type System, Waiting } from '../system.ts'

interface Payload {
  key: string
  left: number
}

interface Query {
  name?: string
  values?: unknown[]
}

interface Client {
  query(query: unknown, ...rest: unknown[]): Promise<unknown>
}

interface Pool {
  on(event: 'connect', listener: (client: Client) => void): void
  on(event: 'error', listener: (error: Error) => void): void
}

type Task = (payload: Payload, helpers: { job: { id: string } }) => Promise<void>

interface Library {
  Logger: new (factory: () => () => void) => unknown
  run(options: {
    pgPool: Pool
    taskList: Record<string, Task>
    noHandleSignals: boolean
    preset: { worker: Record<string, unknown> }
  }): Promise<unknown>
  makeWorkerUtils(options: { pgPool: Pool }): Promise<{
    migrate(): Promise<void>
    addJobs(jobs: { identifier: string; payload: Payload }[]): Promise<unknown>
  }>
}

export const graphileWorker: System = {
  name: 'graphile-worker',
  title: 'graphile-worker',
  packages: { 'graphile-worker': '0.18.0', pg: '8.23.1' },
  settings:
    '100 concurrent jobs, a local queue of 400, completions in batches (completeJobBatchDelay 0); jobs of one moment in one addJobs; 20 connections',
  less: 'a queue: no results, no history (a finished job is deleted), no steps, no undo; the next job and the end of the one before are not one commit',
  async start({ database, require }) {
    const { Logger, makeWorkerUtils, run } = require('graphile-worker') as Library
    const { Pool } = require('pg') as { Pool: new (options: Record<string, unknown>) => Pool }
    const waiting = new Waiting()
    const ended = new Map<string, string>()
    const pgPool = new Pool({ connectionString: await database(), max: 20 })
    pgPool.on('error', (error) => {
      throw error
    })
    // Its events tell of a job before its end is in the database: it is its own statement that says when it is.
    pgPool.on('connect', (client) => {
      const query = client.query.bind(client)
      client.query = async (...args) => {
        const answer = await query(...args)
        const { name, values } = (args[0] ?? {}) as Query
        if (name?.startsWith('complete_job')) done([values?.[0]].flat().map(String))
        return answer
      }
    })
    const done = (ids: readonly string[]) => {
      for (const id of ids) {
        const key = ended.get(id)
        ended.delete(id)
        if (key !== undefined) waiting.tell(key)
      }
    }
    const step: Task = async ({ key, left }, { job }) => {
      if (left > 1) await jobs.add({ key, left: left - 1 })
      else ended.set(String(job.id), key)
    }
    const logger = new Logger(() => () => undefined)
    const utils = await makeWorkerUtils({ pgPool })
    await utils.migrate()
    await run({
      pgPool,
      taskList: { step },
      noHandleSignals: true,
      preset: {
        worker: {
          concurrentJobs: 100,
          localQueue: { size: 400 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
          logger,
        },
      },
    })
    const jobs = new Gathering<Payload>((payloads) =>
      utils.addJobs(payloads.map((payload) => ({ identifier: 'step', payload }))),
    )
    const submit = (left: number) => waiting.for((key) => jobs.add({ key, left }))
    return {
      job: () => submit(1),
      workflow: () => submit(3),
      wide: (width) => Promise.all(Array.from({ length: width }, () => submit(1))),
    }
  },
}
