import { Gathering } from '../gathering.ts'
import { IN_FLIGHT, type System, Waiting } from '../system.ts'

interface Job {
  id: string
  data: { key: string; left: number }
}

interface Boss {
  start(): Promise<unknown>
  createQueue(name: string): Promise<void>
  insert(name: string, jobs: Pick<Job, 'data'>[]): Promise<unknown>
  fetch(name: string, options: { batchSize: number }): Promise<Job[]>
  complete(name: string, ids: string[]): Promise<unknown>
}

const QUEUE = 'peers'
const LOOPS = 4

export const pgBoss: System = {
  name: 'pg-boss',
  title: 'pg-boss',
  packages: { 'pg-boss': '12.38.0' },
  settings: `${LOOPS} loops of fetch (up to ${IN_FLIGHT}) and complete, woken by whoever submits; jobs of one moment in one insert; 20 connections`,
  less: 'a queue: no history, no steps, no undo; the next job and the end of the one before are not one commit',
  async start({ database, require }) {
    const { PgBoss } = require('pg-boss') as {
      PgBoss: new (
        options: Record<string, unknown>,
      ) => Boss & { on(event: 'error', listener: (error: Error) => void): void }
    }
    const boss = new PgBoss({ connectionString: await database(), max: 20 })
    boss.on('error', (error) => {
      throw error
    })
    await boss.start()
    await boss.createQueue(QUEUE)
    const waiting = new Waiting()
    let more = Promise.withResolvers<void>()
    const jobs = new Gathering<Job['data']>(async (data) => {
      await boss.insert(
        QUEUE,
        data.map((data) => ({ data })),
      )
      more.resolve()
      more = Promise.withResolvers()
    })
    const loop = async () => {
      for (;;) {
        const { promise: woken } = more
        const taken = await boss.fetch(QUEUE, { batchSize: IN_FLIGHT })
        if (taken.length === 0) await woken
        else await run(taken)
      }
    }
    const run = async (taken: readonly Job[]) => {
      const unfinished = taken.filter(({ data: { left } }) => left > 1)
      await Promise.all(unfinished.map(({ data: { key, left } }) => jobs.add({ key, left: left - 1 })))
      await boss.complete(
        QUEUE,
        taken.map(({ id }) => id),
      )
      for (const { data } of taken) if (data.left === 1) waiting.tell(data.key)
    }
    for (let count = 0; count < LOOPS; count++) void loop()
    const submit = (left: number) => waiting.for((key) => jobs.add({ key, left }))
    return {
      job: () => submit(1),
      workflow: () => submit(3),
      wide: (width) => Promise.all(Array.from({ length: width }, () => submit(1))),
    }
  },
}
