import type { KeptEndpoint, ProbePage, ProbeResult, ProbesOptions } from 'triarch'
import { TriarchError } from 'triarch/contract'
import { known } from './options.ts'
import { array, dated, object, text } from './shape.ts'
import { query } from './value.ts'

/** Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function probesPath({ names, history, cursor, limit, ...rest }: ProbesOptions): string {
  known('probes', rest)
  if (names !== undefined && (!Array.isArray(names) || names.some((name) => typeof name !== 'string')))
    throw new TriarchError('INVALID_OPTION', 'probes: names must be strings')
  // Of no names there is none; without a name there would be all.
  const name = names?.length === 0 ? [''] : names
  return `/probes${query({ name, history, cursor, limit })}`
}

export function probePage(value: unknown): ProbePage {
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
