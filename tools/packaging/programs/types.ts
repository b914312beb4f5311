// A program of a user's that uses every entry of the packages, for the compilers.
import { type ConnectOptions, connect } from '@triarch/client'
import { type OpenTelemetry, openTelemetry, SpanIds } from '@triarch/opentelemetry'
import { type Prometheus, prometheus } from '@triarch/opentelemetry/prometheus'
import { type PostgresTransaction, postgres } from '@triarch/postgres'
import { createServer, type Listening, type ServerOptions } from '@triarch/server'
import type { Linter } from 'eslint'
import triarchRules from 'eslint-plugin-triarch'
import { agent, type ErrorCode, isTriarchError, type StandardSchema, type TaskHandle, Triarch, workflow } from 'triarch'
import { type TriarchClient, workflowRef } from 'triarch/contract'
import { type SqliteTransaction, sqlite } from 'triarch/sqlite'
import type { StateStore, StoreFactory } from 'triarch/store'
import { crashEverywhere, testEngine } from 'triarch/testing'

declare const schema: StandardSchema<{ host: string }>

const cloud = agent('cloud', { concurrency: 2 })
const boot = cloud.action('boot', {
  input: schema,
  async run({ host }, step) {
    return { address: `${host}.${step.attempt}` }
  },
  async undo({ output }) {
    console.log(output.address satisfies string)
  },
  async verify({ host }) {
    const done = host !== ''
    return done ? { done, output: { address: host } } : { done }
  },
})
export const provision = workflow('provision', {
  async run(host: string, task) {
    const { address } = await task.run(boot, { host })
    await task.transaction('row', async (tx: SqliteTransaction) => void tx.exec('SELECT 1'))
    await task.transaction('row in PostgreSQL', async (tx: PostgresTransaction) => void (await tx.query('SELECT 1')))
    return address
  },
})

export const lint: Linter.Config[] = [triarchRules.configs.recommended]

export const stores: StoreFactory[] = [sqlite('app.db'), postgres({ url: 'postgres://db', connections: 4 })]
export type Answers = Awaited<ReturnType<StateStore['now']>>

export async function main(): Promise<ErrorCode | null> {
  await using triarch = new Triarch({ store: sqlite('app.db'), workflows: [provision], agents: [cloud] })
  await triarch.start()
  const task: TaskHandle<string> = await triarch.submit(provision, 'a')
  // @ts-expect-error a host is a string
  await triarch.submit(provision, 1).catch(() => undefined)
  try {
    const address: string = await task.result()
    return address === '' ? 'TASK_FAILED' : null
  } catch (error) {
    return isTriarchError(error) ? error.code : null
  }
}

const options: ServerOptions = { workflows: [provision], authenticate: () => ({ id: 'me' }) }
export async function serve(triarch: Triarch): Promise<Listening> {
  const server = createServer(triarch, options)
  const response: Response = await server.fetch(new Request('http://localhost/api/v1/tasks'))
  return response.ok ? await server.listen({ port: 0 }) : await server.listen()
}

export const otel: OpenTelemetry = openTelemetry({ ids: new SpanIds(), longTasks: ['provision'] })
export const prom: Prometheus = prometheus()
export const measured = (triarch: Triarch) => createServer(triarch, { metrics: prom })

const patience: ConnectOptions = { token: () => 's3cret', retry: { attempts: 3 } }
export async function remote(): Promise<string> {
  const client: TriarchClient = connect('https://tasks.example.com', patience)
  // @ts-expect-error a host is a string
  await client.submit(workflowRef<typeof provision>('provision'), 1).catch(() => undefined)
  return (await client.submit(workflowRef<typeof provision>('provision'), 'a')).result()
}

export async function test(): Promise<void> {
  await using engine = await testEngine({ workflows: [provision], agents: [cloud] })
  await engine.advance('2d')
  await crashEverywhere(provision, 'a', { agents: [cloud] })
}
