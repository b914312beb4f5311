import type { Figures, FiguresQuery, RecountOptions } from 'triarch'
import { TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { array, date, object } from './shape.ts'
import { encode, instant, query } from './value.ts'

/** Where it is asked for. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function figuresPath(options: FiguresQuery): string {
  const { by, from, to, kind, workflow, agent, action, outcome, error, tag, ...rest } = options
  known('statistics', rest)
  if (by !== undefined && !Array.isArray(by)) throw new TriarchError('INVALID_OPTION', 'statistics: by must be a list')
  const told = by?.length === 0 ? ['none'] : by
  const parameters = { by: told, kind, workflow, agent, action, outcome, error, tag }
  return `/statistics${query({ ...parameters, from: at('from', from), to: at('to', to) })}`
}

export function figures(value: unknown): Figures {
  const { rows, asOf, recount, ...rest } = object(value)
  const told = array(rows, (row) => {
    const { hour, ...figures } = object(row)
    return { ...(hour !== undefined && { hour: date(hour).getTime() }), ...figures }
  })
  const standing = {
    asOf: asOf === null ? null : date(asOf).getTime(),
    ...(recount !== undefined && { recount: { ...object(recount), since: date(object(recount).since).getTime() } }),
  }
  return { ...rest, ...standing, rows: told } as unknown as Figures
}

/** Asked for twice, it begins anew twice, which counts the same. */
export function recount(exchange: Exchange, { reason, actor, ...rest }: RecountOptions): Promise<void> {
  known('recount', rest)
  const read = () => undefined
  const body = encode('recount', { reason, actor })
  return exchange.ask({ method: 'POST', path: '/statistics/recount', body, read })
}

function at(name: string, ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : instant(`statistics: ${name}`, new Date(ms))
}
