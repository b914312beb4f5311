import type { KeptEndpoint } from './endpoint.ts'
import { type Finding, finding, named } from './finding.ts'
import type { Look } from './look.ts'

/** How many endpoints a message names. */
const NAMED = 5

/** What a prober has kept in the store. One that nobody probes may be as it was, or not. */
export async function probes(look: Look): Promise<Finding> {
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
  const details = { late: late.length, all: endpoints.length, ...named(late.map(({ name }) => name)) }
  return finding('warning', 'endpoints-unseen', details, observed)
}

/** For so long the next leader may take to come (ms), and clocks of machines may differ. */
const GRACE = 60_000

export function isLate({ lateAt }: KeptEndpoint, now: number): boolean {
  return now - lateAt.getTime() > GRACE
}
