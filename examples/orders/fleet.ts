// All the processes of the demonstration: four services, the shop's web process, and the Triarch nodes.
import { join } from 'node:path'
import { type Launched, type LaunchedService, launch, launchService, type ServiceName } from './launch.ts'
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

export type Fleet = Awaited<ReturnType<typeof startFleet>>

/** `dir`: for the services' ledgers. `db`: where tasks and orders live, see counter.ts. */
export async function startFleet({ dir, db, seed }: { dir: string; db: string; seed: number }) {
  const ledgers = join(dir, 'ledgers')
  const serviceUnits = await Promise.all(
    services.map((name) =>
      Unit.start<LaunchedService>(name, (previous) =>
        launchService(name, { dir: ledgers, seed, port: previous?.ready.port ?? 0 }),
      ),
    ),
  )
  // The processes started from here on inherit these: see urlOf in shop.ts.
  for (const { name, current } of serviceUnits) process.env[`${name.toUpperCase()}_URL`] = current.url
  const web = await Unit.start<Launched<{ port: number }>>('web', (previous) =>
    launch('web.ts', ['--db', db, '--port', `${previous?.ready.port ?? 0}`]),
  )
  const processes: Record<string, Process> = {}
  const launchNode = async (name: string, own: string[]) => {
    const launched = await launch<{ node?: string }>('node.ts', [...own, '--db', db])
    const { pid } = launched.child
    if (pid !== undefined) processes[launched.ready.node ?? `of process ${pid}`] = { name, pid }
    return launched
  }
  const nodes = await Promise.all(
    roles.map((own, index) => Unit.start(`node ${index + 1}`, () => launchNode(`node ${index + 1}`, own))),
  )
  return {
    /** Where each Triarch node lives, or has lived, by its id. */
    processes,
    web,
    nodes,
    services: serviceUnits,
    url: `http://127.0.0.1:${web.current.ready.port}/orders`,
    ledgers: () =>
      Promise.all(serviceUnits.map(async ({ current }): Promise<LedgerRows> => getJson(`${current.url}/ledger`))),
    /** Stops everything, and names the nodes that ended by themselves, or did not stop as they should. */
    async stop(): Promise<string[]> {
      await Promise.all(nodes.map((node) => node.stop()))
      await Promise.all([web, ...serviceUnits].map((unit) => unit.stop()))
      return nodes.filter(({ deaths }) => deaths.length > 0).map(({ name }) => name)
    },
  }
}

async function getJson<T>(url: string): Promise<T> {
  return (await fetch(url)).json() as Promise<T>
}
