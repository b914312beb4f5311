import { mkdirSync } from 'node:fs'
import { arch, platform } from 'node:process'
import { freePort, serving } from '../server.ts'
import type { Ground, System } from '../system.ts'

interface Context {
  run(name: string, step: () => number): Promise<number>
}

interface Sdk {
  service(definition: {
    name: string
    handlers: Record<string, (context: Context, n: number) => Promise<number>>
  }): unknown
  serve(options: { services: unknown[]; port: number; logger(): void }): Promise<unknown>
}

interface Clients {
  connect(options: { url: string }): {
    serviceClient(of: { name: string }): Record<'one' | 'three' | 'wide', (n: number) => Promise<number>>
  }
}

const VERSION = '1.7.12'
const PARTITIONS = 4

export const restate: System = {
  name: 'restate',
  title: 'Restate',
  packages: {
    '@restatedev/restate-server': VERSION,
    '@restatedev/restate-sdk': '1.17.2',
    '@restatedev/restate-sdk-clients': '1.17.2',
  },
  settings: `its own server, ${PARTITIONS} partitions, its log flushed (its default); a job is a handler without a step`,
  async start({ folder, require }) {
    const { port, registered, client } = await server(folder, require)
    await serve(port, require)
    await registered()
    return { job: () => client.one(1), workflow: () => client.three(1), wide: (width) => client.wide(width) }
  },
  async across({ folder, require, worker }) {
    const { port, registered, client } = await server(folder, require)
    await worker(`${port}`)
    await registered()
    return { job: () => client.one(1) }
  },
  work: (place, require) => serve(Number(place), require),
}

/** The handlers: what Restate's server calls. */
async function serve(port: number, require: Ground['require']): Promise<void> {
  const sdk = require('@restatedev/restate-sdk') as Sdk
  const add = (context: Context, n: number) => context.run('add', () => n + 1)
  const handlers = {
    one: async (_: Context, n: number) => n + 1,
    three: async (context: Context, n: number) => add(context, await add(context, await add(context, n))),
    wide: async (context: Context, n: number) =>
      (await Promise.all(Array.from({ length: n }, (_, index) => add(context, index)))).length,
  }
  await sdk.serve({ services: [sdk.service({ name: 'peers', handlers })], port, logger: () => undefined })
}

/** A server of its own, which ends with this process, and a client of it. */
async function server(folder: string, require: Ground['require']) {
  const { connect } = require('@restatedev/restate-sdk-clients') as Clients
  const [port, admin, ingress, node] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const data = `${folder}/restate`
  mkdirSync(data)
  const url = `http://127.0.0.1:${ingress}`
  const env = {
    RESTATE_BASE_DIR: data,
    RESTATE_BIND_PORT: `${node}`,
    RESTATE_ADMIN__BIND_PORT: `${admin}`,
    RESTATE_INGRESS__BIND_PORT: `${ingress}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: `${PARTITIONS}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'error',
  }
  const program = require.resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`)
  await serving(program, [], env, () => asked(`http://127.0.0.1:${admin}/health`))
  const registered = async () => {
    await told(`http://127.0.0.1:${admin}/deployments`, { uri: `http://127.0.0.1:${port}` })
    await told(`${url}/peers/one`, 1)
  }
  return { port, registered, client: connect({ url }).serviceClient({ name: 'peers' }) }
}

async function asked(url: string): Promise<void> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
}

async function told(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
}
