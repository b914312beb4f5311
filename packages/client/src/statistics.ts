import type { CountsChange, Figures, FiguresQuery, RecountOptions, Statistics, WatchOptions } from 'triarch'
import { type StatisticsCollection, TriarchError } from 'triarch/contract'
import { countsChange } from './change.ts'
import type { Exchange } from './exchange.ts'
import { checkSignal, known } from './options.ts'
import { array, date, object } from './shape.ts'
import { followed } from './stream.ts'
import { encode, instant, query } from './value.ts'

export function statisticsOf(exchange: Exchange): StatisticsCollection {
  return {
    get: () => exchange.get('/stats', (body) => object(body) as unknown as Statistics),
    figures: async (options) => exchange.get(figuresPath(options), figures),
    watch: (options = {}) => watch(exchange, options),
    recount: async (options = {}) => recount(exchange, options),
  }
}

async function* watch(
  exchange: Exchange,
  { quiet, signal, ...rest }: Pick<WatchOptions, 'quiet' | 'signal'>,
): AsyncIterableIterator<CountsChange> {
  known('statistics.watch', rest)
  checkSignal('statistics.watch', signal)
  for await (const told of followed(exchange, '/stats/events', { quiet, signal })) {
    const change = countsChange(told)
    if (change) yield change
  }
}

/** Where it is asked for. Throws UNKNOWN_OPTION, INVALID_OPTION. */
function figuresPath(options: FiguresQuery): string {
  const { by, from, to, kind, workflow, agent, action, outcome, error, tag, ...rest } = options
  known('statistics.figures', rest)
  if (by !== undefined && !Array.isArray(by))
    throw new TriarchError('INVALID_OPTION', 'statistics.figures: by must be a list')
  const told = by?.length === 0 ? ['none'] : by
  const parameters = { by: told, kind, workflow, agent, action, outcome, error, tag }
  return `/statistics${query({ ...parameters, from: at('from', from), to: at('to', to) })}`
}

function figures(value: unknown): Figures {
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
function recount(exchange: Exchange, { reason, actor, ...rest }: RecountOptions): Promise<void> {
  known('statistics.recount', rest)
  const read = () => undefined
  const body = encode('statistics.recount', { reason, actor })
  return exchange.ask({ method: 'POST', path: '/statistics/recount', body, read })
}

function at(name: string, ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : instant(`statistics.figures: ${name}`, new Date(ms))
}
