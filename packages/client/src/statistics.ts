import type { Figures, FiguresQuery } from 'triarch'
import { TriarchError } from 'triarch/contract'
import { known } from './options.ts'
import { array, date, object } from './shape.ts'
import { instant, query } from './value.ts'

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
  const { rows, asOf, ...rest } = object(value)
  const told = array(rows, (row) => {
    const { hour, ...figures } = object(row)
    return { ...(hour !== undefined && { hour: date(hour).getTime() }), ...figures }
  })
  return { ...rest, rows: told, asOf: asOf === null ? null : date(asOf).getTime() } as unknown as Figures
}

function at(name: string, ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : instant(`statistics: ${name}`, new Date(ms))
}
