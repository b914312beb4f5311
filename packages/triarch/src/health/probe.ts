import type { KeptEndpoint } from './endpoint.ts'
import { type Finding, finding, shortenedNames } from './finding.ts'
import type { HealthReads } from './look.ts'

/** Largest number of endpoints that a message names. */
const NAMED = 5

/** Check: the endpoints stored by a prober are up and still probed; the state of one that is not probed any more is unknown. */
export async function probes(look: HealthReads): Promise<Finding> {
  const [endpoints, now] = await Promise.all([look.probes(), look.engine.store().then((store) => store.now())])
  const down = endpoints.filter(({ state }) => state === 'down')
  const late = endpoints.filter((one) => isLate(one, now))
  const observed = { endpoints: endpoints.length, down: down.length, late: late.length }
  if (endpoints.length === 0) return { status: 'ok' }
  if (down.length > 0) {
    const said = down.slice(0, NAMED).map(({ name, last }) => `${name}: ${last?.problem?.message ?? 'it is down'}`)
    const details = { down: down.length, all: endpoints.length, said: said.join('; ') }
    return finding('critical', 'endpoints-down', details, observed)
  }
  if (late.length === 0) return { status: 'ok', observed }
  const details = { late: late.length, all: endpoints.length, ...shortenedNames(late.map(({ name }) => name)) }
  return finding('warning', 'endpoints-unseen', details, observed)
}

/** Time that a change of the leader may take, including differences between clocks (ms). */
const GRACE = 60_000

export function isLate({ lateAt }: KeptEndpoint, now: number): boolean {
  return now - lateAt.getTime() > GRACE
}
