import type { Ground, System } from '../system.ts'

interface Sdk {
  DBOS: {
    setConfig(config: Record<string, unknown>): void
    launch(): Promise<void>
    registerWorkflow(run: (n: number) => Promise<number>, config: { name: string }): (n: number) => Promise<number>
    registerQueue(name: string, options: { minPollingIntervalMs: number }): Promise<unknown>
    startWorkflow(of: (n: number) => Promise<number>): (n: number) => Promise<{ getResult(): Promise<number> }>
    runStep(run: () => Promise<number>, config: { name: string }): Promise<number>
  }
  DBOSClient: {
    create(options: { systemDatabaseUrl: string }): Promise<{
      enqueue(options: { workflowName: string; queueName: string }, n: number): Promise<Handle>
    }>
  }
}

interface Handle {
  getResult(options: { pollingIntervalMs: number }): Promise<number>
}

const QUEUE = 'peers'
/** How often its worker and its client look, where one waits for the other: as often as it lets them (ms). */
const POLL = 1

export const dbos: System = {
  name: 'dbos',
  title: 'DBOS',
  packages: { '@dbos-inc/dbos-sdk': '5.3.0' },
  settings:
    'workflows started directly, without a queue, and their results from memory; 20 connections; a job is a workflow without a step. Across: by a queue, both sides look each millisecond',
  async start({ database, require }) {
    const { one, three, wide, DBOS } = await launched(await database(), require)
    const run = async (of: typeof one, n = 1) => (await DBOS.startWorkflow(of)(n)).getResult()
    return { job: () => run(one), workflow: () => run(three), wide: (width) => run(wide, width) }
  },
  async across({ database, require, worker }) {
    const { DBOSClient } = require('@dbos-inc/dbos-sdk') as Sdk
    const systemDatabaseUrl = await database()
    await worker(systemDatabaseUrl)
    const client = await DBOSClient.create({ systemDatabaseUrl })
    const job = async () => {
      const handle = await client.enqueue({ workflowName: 'one', queueName: QUEUE }, 1)
      return await handle.getResult({ pollingIntervalMs: POLL })
    }
    await job() // its worker looks for new queues once a second
    return { job }
  },
  work: (place, require) => launched(place, require),
}

async function launched(systemDatabaseUrl: string, require: Ground['require']) {
  const { DBOS } = require('@dbos-inc/dbos-sdk') as Sdk
  DBOS.setConfig({ name: 'peers', systemDatabaseUrl, systemDatabasePoolSize: 20, logLevel: 'error' })
  const step = (n: number) => DBOS.runStep(async () => n + 1, { name: 'add' })
  const one = DBOS.registerWorkflow(async (n) => n + 1, { name: 'one' })
  const three = DBOS.registerWorkflow(async (n) => step(await step(await step(n))), { name: 'three' })
  const wide = DBOS.registerWorkflow(
    async (n) => (await Promise.all(Array.from({ length: n }, (_, index) => step(index)))).length,
    { name: 'wide' },
  )
  await DBOS.launch()
  await DBOS.registerQueue(QUEUE, { minPollingIntervalMs: POLL })
  return { DBOS, one, three, wide }
}
