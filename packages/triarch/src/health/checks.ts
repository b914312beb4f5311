import * as cluster from './cluster.ts'
import type { Finding } from './finding.ts'
import { type Check, Health } from './health.ts'
import { keys } from './key.ts'
import { type Engine, HealthReads } from './look.ts'
import { probes } from './probe.ts'
import { settings } from './setting.ts'
import * as store from './store.ts'

interface Builtin {
  failing: 'warning' | 'critical'
  run(look: HealthReads): Promise<Finding>
}

/** The engine's own checks, each with the status it counts as if it fails. */
const builtin: Readonly<Record<string, Builtin>> = {
  'store.read': { failing: 'critical', run: store.checkReads },
  'store.write': { failing: 'critical', run: store.writable },
  clock: { failing: 'warning', run: store.clocks },
  disk: { failing: 'warning', run: store.disk },
  pool: { failing: 'warning', run: store.pool },
  replica: { failing: 'warning', run: store.replica },
  node: { failing: 'critical', run: cluster.self },
  loop: { failing: 'warning', run: cluster.loop },
  nodes: { failing: 'warning', run: cluster.nodes },
  leader: { failing: 'critical', run: cluster.leader },
  timers: { failing: 'warning', run: cluster.timers },
  backlog: { failing: 'warning', run: cluster.backlog },
  queues: { failing: 'warning', run: cluster.queues },
  agents: { failing: 'warning', run: cluster.agents },
  breakers: { failing: 'warning', run: cluster.breakers },
  schedules: { failing: 'warning', run: cluster.schedules },
  settings: { failing: 'warning', run: settings },
  keys: { failing: 'warning', run: keys },
  probes: { failing: 'warning', run: probes },
}

export const checkNames: readonly string[] = Object.keys(builtin)

/** The engine's health: its own checks, then those of the user. */
export function healthOf(engine: Engine): Health<HealthReads> {
  const { settings, environment } = engine
  const engineOwn = Object.entries(builtin).map(
    ([name, check]): Check<HealthReads> => ({ name, timeout: settings.timeout, isOwn: true, ...check }),
  )
  const own = settings.own.map(
    ({ severity: failing, run, ...rest }): Check<HealthReads> => ({
      ...rest,
      failing,
      run: (_, signal) => run(signal),
    }),
  )
  return new Health({
    environment,
    checks: [...engineOwn, ...own],
    severity: settings.severity,
    cache: settings.cache,
    node: () => engine.node(),
    look: () => new HealthReads(engine),
  })
}
