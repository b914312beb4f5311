import type { Demand, DemandOptions } from 'triarch'
import { known } from './options.ts'
import { array, dated, object } from './shape.ts'
import { duration, query } from './value.ts'

/** Where it is asked for. Throws UNKNOWN_OPTION, INVALID_DURATION. */
export function demandPath(options: DemandOptions): string {
  const { within, ...rest } = options
  known('nodes.demand', rest)
  return `/demand${query({ within: within === undefined ? undefined : duration('nodes.demand: within', within) })}`
}

export function demand(value: unknown): Demand {
  const { agents, schedulers, ...rest } = object(value)
  const asked = {
    agents: array(agents, (agent) => {
      const { held, ...work } = dated(agent, 'since')
      return { ...work, ...(held !== undefined && { held: dated(held, 'until') }) }
    }),
    schedulers: array(schedulers, (scheduler) => dated(scheduler, 'since')),
  }
  return { ...rest, ...asked } as unknown as Demand
}
