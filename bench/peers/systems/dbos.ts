import type { System } from '../system.ts'

interface Sdk {
  DBOS: {
    setConfig(config: Record<string, unknown>): void
    launch(): Promise<void>
    registerWorkflow(run: (n: number) => Promise<number>, config: { name: string }): (n: number) => Promise<number>
    startWorkflow(of: (n: number) => Promise<number>): (n: number) => Promise<{ getResult(): Promise<number> }>
    runStep(run: () => Promise<number>, config: { name: string }): Promise<number>
  }
}

export const dbos: System = {
  name: 'dbos',
  title: 'DBOS',
  packages: { '@dbos-inc/dbos-sdk': '5.3.0' },
  settings:
    'workflows started directly, without a queue, and their results from memory; 20 connections; a job is a workflow without a step',
  async start({ database, require }) {
    const { DBOS } = require('@dbos-inc/dbos-sdk') as Sdk
    const systemDatabaseUrl = await database()
    DBOS.setConfig({ name: 'peers', systemDatabaseUrl, systemDatabasePoolSize: 20, logLevel: 'error' })
    const step = (n: number) => DBOS.runStep(async () => n + 1, { name: 'add' })
    const one = DBOS.registerWorkflow(async (n) => n + 1, { name: 'one' })
    const three = DBOS.registerWorkflow(async (n) => step(await step(await step(n))), { name: 'three' })
    await DBOS.launch()
    const run = async (of: typeof one) => (await DBOS.startWorkflow(of)(1)).getResult()
    return { job: () => run(one), workflow: () => run(three) }
  },
}
