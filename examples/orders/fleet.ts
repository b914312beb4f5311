// All the processes of the demonstration: four services, the shop's web process, and the Triarch nodes.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Launched,
  type LaunchedService,
  launch,
  launchProgram,
  launchService,
  type ServiceName,
} from './launch.ts'
import type { AgentKind } from './options.ts'
import type { LedgerRows } from './services/ledger.ts'
import { Unit } from './unit.ts'
import type { Process } from './witness.ts'

const services: ServiceName[] = ['payment', 'stock', 'shipping', 'mail']

/** Two nodes play every role; two more share them, so that steps also travel through the work queue. */
const roles = [
  ['scheduler', 'agent', 'supervisor'],
  ['scheduler', 'agent', 'supervisor'],
  ['scheduler', 'supervisor'],
  ['agent'],
]

const mailAgent = fileURLToPath(new URL('agent/mail_agent.py', import.meta.url))

export type Fleet = Awaited<ReturnType<typeof startFleet>>

interface Setting {
  /** For the services' ledgers. */
  dir: string
  /** Where tasks and orders live, see counter.ts. */
  db: string
  seed: number
  /** What the mail service's agent is: part of the nodes, or a process of its own that has nothing but a URL. */
  agent: AgentKind
}

export async function startFleet({ dir, db, seed, agent }: Setting) {
  const ledgers = join(dir, 'ledgers')
  const remote = agent === 'python'
  const serviceUnits = await Promise.all(
    services.map((name) =>
      Unit.start<LaunchedService>(name, (previous) =>
        launchService(name, { dir: ledgers, seed, port: previous?.ready.port ?? 0 }),
      ),
    ),
  )
  // The processes started from here on inherit these: see urlOf in shop.ts.
  for (const { name, current } of serviceUnits) process.env[`${name.toUpperCase()}_URL`] = current.url
  const processes: Record<string, Process> = {}
  const known = <L extends Launched<{ node?: string }>>(name: string, launched: L): L => {
    const { pid } = launched.child
    if (pid !== undefined) processes[launched.ready.node ?? `of process ${pid}`] = { name, pid }
    return launched
  }
  const web = await Unit.start<Launched<{ port: number; node?: string }>>('web', async (previous) =>
    known(
      'web',
      await launch('web.ts', [
        ...['--db', db, '--port', `${previous?.ready.port ?? 0}`],
        ...(remote ? ['--agents'] : []),
      ]),
    ),
  )
  const url = `http://127.0.0.1:${web.current.ready.port}`
  const agents = remote
    ? [await Unit.start<Launched<unknown>>('mail agent', () => launchProgram('python3', ['-B', mailAgent, url]))]
    : []
  const launchNode = async (name: string, own: string[]) =>
    known(
      name,
      await launch<{ node?: string }>('node.ts', [...own, '--db', db, ...(remote ? ['--without', 'mail'] : [])]),
    )
  const nodes = await Promise.all(
    roles.map((own, index) => Unit.start(`node ${index + 1}`, () => launchNode(`node ${index + 1}`, own))),
  )
  return {
    /** Where each Triarch node lives, or has lived, by its id. */
    processes,
    web,
    nodes,
    services: serviceUnits,
    /** Agents that are no nodes. */
    agents,
    /** Of the shop. */
    url,
    ledgers: () =>
      Promise.all(serviceUnits.map(async ({ current }): Promise<LedgerRows> => getJson(`${current.url}/ledger`))),
    /** Stops everything, and names the nodes that ended by themselves, or did not stop as they should. */
    async stop(): Promise<string[]> {
      await Promise.all(nodes.map((node) => node.stop()))
      await Promise.all(agents.map((agent) => agent.stop()))
      await Promise.all([web, ...serviceUnits].map((unit) => unit.stop()))
      return nodes.filter(({ deaths }) => deaths.length > 0).map(({ name }) => name)
    },
  }
}

async function getJson<T>(url: string): Promise<T> {
  return (await fetch(url)).json() as Promise<T>
}
