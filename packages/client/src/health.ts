import type { HealthReport, HealthRequest, KeptEndpoint, ProbePage, ProbeResult, ProbesOptions } from 'triarch'
import { type HealthCollection, TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { array, dated, object, text } from './shape.ts'
import { query } from './value.ts'
import { healthReport } from './view.ts'

export function healthOf(exchange: Exchange): HealthCollection {
  return {
    check: async (request = {}) => check(exchange, request),
    probes: async (options = {}) => exchange.get(probesPath(options), probePage),
  }
}

function check(exchange: Exchange, { checks, ...rest }: HealthRequest): Promise<HealthReport> {
  known('health.check', rest)
  if (checks !== undefined && !Array.isArray(checks))
    throw new TriarchError('INVALID_OPTION', 'health.check: checks must be names')
  // What is not well is answered with 503, and that is the answer.
  return exchange.ask({
    ...{ method: 'GET', path: `/health${query({ check: checks })}`, answers: [503] },
    read: healthReport,
  })
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
function probesPath({ names, history, cursor, limit, ...rest }: ProbesOptions): string {
  known('health.probes', rest)
  if (names !== undefined && (!Array.isArray(names) || names.some((name) => typeof name !== 'string')))
    throw new TriarchError('INVALID_OPTION', 'health.probes: names must be strings')
  // Of no names there is none; without a name there would be all.
  const name = names?.length === 0 ? [''] : names
  return `/probes${query({ name, history, cursor, limit })}`
}

function probePage(value: unknown): ProbePage {
  const page = object(value)
  return { ...page, endpoints: array(page.endpoints, endpoint) }
}

function endpoint(value: unknown): KeptEndpoint {
  const { last, history, ...rest } = dated(value, 'since', 'lateAt')
  text(rest.name)
  text(rest.state)
  const looks = history !== undefined && { history: array(history, result) }
  return { ...rest, ...(last !== undefined && { last: result(last) }), ...looks } as unknown as KeptEndpoint
}

function result(value: unknown): ProbeResult {
  const look = dated(value, 'at', 'certificateUntil')
  array(look.redirects, text)
  return look as unknown as ProbeResult
}
