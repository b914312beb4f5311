import { type Finding, finding } from './finding.ts'
import type { HealthReads } from './look.ts'

/** The lease that is taken to check that the store can write, and its duration (ms). */
const PROBE = { name: 'health', ttl: 1 }

/** Check: a read is answered in time. */
export async function checkReads(look: HealthReads): Promise<Finding> {
  const { environment, store } = look.engine
  const from = environment.monotonic()
  await (await store()).nextWake()
  return timed(look, 'read-slow', environment.monotonic() - from)
}

/** Check: a row is written and committed in time, as every commit must be. */
export async function writable(look: HealthReads): Promise<Finding> {
  const { environment, store, node } = look.engine
  const opened = await store()
  const from = environment.monotonic()
  await opened.lead({ ...PROBE, node: node() ?? 'health' })
  return timed(look, 'commit-slow', environment.monotonic() - from)
}

function timed({ engine }: HealthReads, code: 'read-slow' | 'commit-slow', ms: number): Finding {
  const { slow } = engine.settings
  const observed = { latency: Math.round(ms * 10) / 10 }
  if (ms <= slow) return { status: 'ok', observed }
  return finding('warning', code, { ms: Math.round(ms), most: slow }, observed)
}

/** Check: the clocks of this machine and of the store agree. Deadlines follow the store's clock; logs and certificates the machine's. */
export async function clocks({ engine }: HealthReads): Promise<Finding> {
  const { environment, machine, settings } = engine
  const store = await engine.store()
  const from = environment.monotonic()
  const told = await store.now()
  const took = environment.monotonic() - from
  // The store's clock was read at some time in between, so only what exceeds this span is certainly a difference.
  const apart = machine.now() - told
  const skew = Math.max(0, Math.abs(apart - took / 2) - took / 2)
  const observed = { skew: Math.round(skew) }
  if (skew <= settings.skew) return { status: 'ok', observed }
  return finding('warning', apart > 0 ? 'clock-ahead' : 'clock-behind', { ms: Math.round(skew) }, observed)
}

/** Check: free space of the file system that holds the store, if this process can see it. */
export async function disk({ engine }: HealthReads): Promise<Finding> {
  const { diskFree, diskLeast } = engine.settings
  const { disk: found } = (await (await engine.store()).vitals?.()) ?? {}
  if (!found) return finding('ok', 'disk-unseen', null)
  const { path, free, total } = found
  const observed = { free, total }
  if (free >= diskFree) return { status: 'ok', observed }
  const details = { mebibytes: Math.floor(free / 1024 / 1024), path }
  return finding(free < diskLeast ? 'critical' : 'warning', 'disk-low', details, observed)
}

/** Check: calls that wait because all connections are in use. */
export async function pool({ engine }: HealthReads): Promise<Finding> {
  const { pools } = (await (await engine.store()).vitals?.()) ?? {}
  if (!pools) return finding('ok', 'none', null)
  const observed = Object.fromEntries(
    pools.flatMap(({ name, most, busy, waiting }) => [
      ...[[`${name}.most`, most], [`${name}.busy`, busy], [`${name}.waiting`, waiting]] as [string, number][], // biome-ignore format: rows
    ]),
  )
  // A few calls may wait for a moment; more than the connections can serve soon are a queue.
  const full = pools.filter(({ most, waiting }) => waiting > most * CALLS_EACH)
  const [worst] = full.toSorted((a, b) => b.waiting - a.waiting)
  if (!worst) return { status: 'ok', observed }
  return finding('warning', 'calls-wait', { waiting: worst.waiting, pool: worst.name }, observed)
}

/** Check: the replica that serves queries. If it cannot, the primary does, and becomes slower. */
export async function replica({ engine }: HealthReads): Promise<Finding> {
  const { replica: found } = (await (await engine.store()).vitals?.()) ?? {}
  if (!found) return finding('ok', 'none', null)
  if (found.lag === null) return finding('warning', 'replica-silent', null)
  const lag = Math.round(found.lag)
  if (lag === 0) return { status: 'ok', observed: { lag } }
  return finding(lag > engine.settings.slow ? 'warning' : 'ok', 'replica-behind', { ms: lag }, { lag })
}

/** Number of waiting calls per connection that is acceptable. */
const CALLS_EACH = 10
