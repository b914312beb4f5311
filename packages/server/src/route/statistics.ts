import type { Figures as Counted } from 'triarch'
import { Figures, figuresQuery, RecountOrder } from '../wire/statistics.ts'
import { given, type Route, reply, route } from './route.ts'

const get = route({
  method: 'GET',
  path: '/statistics',
  id: 'getFigures',
  summary:
    'What histories say, counted by the hour: how often tasks, steps and attempts ended how, how long they took (ms), and how far behind that is. `by`, given once for each: what rows are told apart by (kind, workflow, outcome), or `none`. `from`, `to`: the last day. The others choose.',
  query: figuresQuery,
  answers: { 200: { description: 'Rows in the order of `by`; `asOf` null: nobody counts', schema: Figures } },
  async run({ query: { by, from, to, ...query } }, { triarch }) {
    const within = {
      ...(by && { by: by.filter((it) => it !== 'none') }),
      ...(from !== undefined && { from: Date.parse(from) }),
      ...(to !== undefined && { to: Date.parse(to) }),
    }
    return reply(200, sent(await triarch.statistics.figures({ ...given(query), ...within })))
  },
})

const recount = route({
  method: 'POST',
  path: '/statistics/recount',
  id: 'recount',
  right: 'statistics',
  summary:
    'All that was counted is dropped, and counted anew from the histories that there are; `recount` of the figures says how far that is.',
  body: RecountOrder,
  answers: { 202: { description: 'It will be: the supervisor does it' } },
  async run({ body: { reason, actor }, principal }, { triarch }) {
    await triarch.statistics.recount(given({ reason, actor: principal?.id ?? actor }))
    return reply(202)
  },
})

/** Instants as the API has them. */
function sent({ rows, asOf, recount, ...rest }: Counted) {
  return {
    ...rest,
    rows: rows.map(({ hour, kind, ...row }) => ({
      ...row,
      ...(kind !== undefined && { kind: kind as 'task' }),
      ...(hour !== undefined && { hour: new Date(hour) }),
    })),
    asOf: asOf === null ? null : new Date(asOf),
    ...(recount && { recount: { ...recount, since: new Date(recount.since) } }),
  }
}

export const statistics: readonly Route[] = [get, recount]
