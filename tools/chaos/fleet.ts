// All the processes under test, each with a fault proxy between itself and the database, or the servers.
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseServer } from '../../examples/orders/database/server.ts'
import { type Launched, launch } from '../../examples/orders/launch.ts'
import type { LedgerRows } from '../../examples/orders/services/ledger.ts'
import { Unit } from '../../examples/orders/unit.ts'
import type { Group } from './plan.ts'
import { FaultProxy } from './proxy/proxy.ts'
import type { Warden } from './warden.ts'

export interface Member {
  name: string
  group: Group
  unit: Unit<Launched<{ port?: number }>>
  /** Between it and the database; of a remote agent: between it and each server. */
  proxies: FaultProxy[]
}

export interface Fleet {
  members: Member[]
  /** The processes of remote agents, those of before too. */
  remotes: ReadonlySet<number>
  /** Where orders are placed. */
  url: string
  services: string[]
  ledgers(): Promise<LedgerRows[]>
  /** Undoes whatever was done to connections. */
  heal(): void
  /** Stops everything in order. */
  stop(): Promise<void>
}

interface Ground {
  dir: string
  seed: number
  database: DatabaseServer
  /** Whether nodes tell each other of what they wrote; otherwise they find it by looking. */
  hints: boolean
  /** Whether schedulers give steps to nodes with agents directly. */
  direct: boolean
  /** The store's functions that write. */
  writers: ReadonlySet<string>
  /** Where the drill's services write what they saw. */
  ledger: string
  /** Where poison says whom it kills. */
  diary: string
  warden: Warden
}

const crew: [group: Group, count: number][] = [
  ['web', 1],
  ['supervisor', 2],
  ['scheduler', 2],
  ['agent', 2],
]

/** One that owns tasks besides, one that takes attempts for its connected agents from the queue alone. */
const servers: readonly string[][] = [['scheduler', 'agent'], ['agent']]
/** One that speaks by a WebSocket, and one by plain requests. */
const remotes: readonly string[][] = [[], ['--no-socket']]

/**
 * While the database is away no process gets ready: it is tried for longer than that takes. How long a stop may take is a rule; a
 * process that does not stop at all is ended.
 */
const BOUNDS = { restarts: 200, grace: 300_000 }

export async function startFleet(ground: Ground): Promise<Fleet> {
  const { dir, seed, database, ledger, diary, warden, writers, hints, direct } = ground
  const logs = join(dir, 'logs')
  mkdirSync(logs, { recursive: true })
  const run = async <Ready>(name: string, script: string, args: string[]) => {
    const log = openSync(join(logs, name), 'a')
    const launched = await launch<Ready>(new URL(script, import.meta.url), args, log).finally(() => closeSync(log))
    const { child } = launched
    warden.watch(child.pid)
    child.once('exit', () => warden.forget(child.pid))
    return launched
  }
  const services = await run<{ urls: Record<string, string> }>('services', 'process/services.ts', [
    ...['--data', join(dir, 'ledgers')],
    ...['--seed', `${seed}`],
  ])
  const { urls } = services.ready
  // The processes started from here on inherit these: see urlOf in the orders' shop.ts.
  for (const [name, url] of Object.entries(urls)) process.env[`${name.toUpperCase()}_URL`] = url

  type Ready = { port?: number }
  const enlist = async (
    group: Group,
    name: string,
    script: string,
    args: string[],
    served = false,
  ): Promise<Member> => {
    const proxy = await FaultProxy.start(database.port, writers)
    const store = group === 'web' ? '--db' : '--store'
    const start = (previous?: Launched<Ready>) => {
      const port = served ? ['--port', `${previous?.ready.port ?? 0}`] : []
      return run<Ready>(name, script, [...args, store, database.url(proxy.port), ...port])
    }
    return { name, group, proxies: [proxy], unit: await Unit.start(name, start, BOUNDS) }
  }
  const engine = [
    '--ledger',
    ledger,
    '--diary',
    diary,
    ...(hints ? [] : ['--no-hints']),
    ...(direct ? ['--direct'] : []),
  ]
  const members: Member[] = []
  // One after the other: the first supervisor is the leader.
  for (const [group, count] of crew) {
    for (let n = 1; n <= count; n++) {
      const name = `${group} ${n}`
      if (group === 'web') members.push(await enlist(group, name, '../../examples/orders/web.ts', [], true))
      else members.push(await enlist(group, name, 'process/node.ts', [group, ...engine]))
    }
  }
  for (const [n, roles] of servers.entries())
    members.push(await enlist('server', `server ${n + 1}`, 'process/server.ts', [...roles, ...engine], true))
  const ports = members.filter(({ group }) => group === 'server').map(({ unit }) => unit.current.ready.port ?? 0)
  const pids = new Set<number>()
  for (const [n, options] of remotes.entries()) {
    const name = `remote ${n + 1}`
    const proxies = await Promise.all(ports.map((port) => FaultProxy.start(port, null)))
    const urls = proxies.map(({ port }) => `http://127.0.0.1:${port}`)
    // Each begins with another server.
    const args = [...urls.slice(n % urls.length), ...urls.slice(0, n % urls.length), '--ledger', ledger, ...options]
    const start = async () => {
      const launched = await run<Ready>(name, 'process/remote.ts', args)
      pids.add(launched.child.pid ?? 0)
      return launched
    }
    const unit = await Unit.start<Launched<Ready>>(name, start, BOUNDS)
    members.push({ name, group: 'remote', proxies, unit })
  }
  const web = members[0]?.unit.current.ready.port
  return {
    members,
    remotes: pids,
    url: `http://127.0.0.1:${web}/orders`,
    services: Object.values(urls),
    ledgers: () =>
      Promise.all(Object.values(urls).map(async (url) => (await fetch(`${url}/ledger`)).json() as Promise<LedgerRows>)),
    heal() {
      for (const proxy of members.flatMap(({ proxies }) => proxies)) {
        proxy.delay(0)
        proxy.admit()
        proxy.flow()
      }
    },
    async stop() {
      const of = (wanted: (group: Group) => boolean) => members.filter(({ group }) => wanted(group))
      const end = (those: Member[]) => Promise.all(those.map(({ unit }) => unit.stop()))
      // Remote agents tell servers how their attempts ended.
      await end(of((group) => group === 'remote'))
      await end(of((group) => group !== 'web' && group !== 'remote'))
      await end(of((group) => group === 'web'))
      await services.kill()
      await Promise.all(members.flatMap(({ proxies }) => proxies.map((proxy) => proxy.close())))
    },
  }
}
