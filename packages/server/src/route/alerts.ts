import type { AlertActOptions, AlertHandle, AlertInfo } from 'triarch'
import type { z } from 'zod'
import { Alert, AlertControl, AlertPage, AlertSilence, AlertTest, AlertTrials, alertsQuery } from '../wire/alert.ts'
import { given, type Route, reply, route } from './route.ts'

const list = route({
  method: 'GET',
  path: '/alerts',
  id: 'listAlerts',
  summary: 'What is wrong now, by name, a page at a time; with `ended=true` what was.',
  query: alertsQuery,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: AlertPage } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.alerts.list(given(query)))
  },
})

const get = route({
  method: 'GET',
  path: '/alerts/{name}',
  id: 'getAlert',
  summary: 'An alert as it stands: since when, who has it in hand, and when it ended.',
  answers: { 200: { description: 'The alert', schema: Alert } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, await triarch.alerts.get(params.name).info())
  },
})

const test = route({
  method: 'POST',
  path: '/alerts/test',
  id: 'testAlert',
  right: 'alerts',
  summary: 'Tells one sink of this process, or all of them, that somebody tries it, and says what each answered.',
  body: AlertTest,
  answers: { 200: { description: 'Each that was tried; none: this process watches for nothing', schema: AlertTrials } },
  async run({ body: { sink, reason, actor }, principal }, { triarch }) {
    return reply(200, { sinks: await triarch.alerts.test(given({ sink, reason, actor: principal?.id ?? actor })) })
  },
})

function control<B extends typeof AlertControl | typeof AlertSilence>(
  name: string,
  summary: string,
  body: B,
  act: (alert: AlertHandle, options: AlertActOptions, body: z.output<B>) => Promise<AlertInfo>,
): Route {
  return route({
    method: 'POST',
    path: `/alerts/{name}/${name}`,
    id: `${name}Alert`,
    right: 'alerts',
    summary,
    body,
    answers: { 200: { description: 'The alert as it is now', schema: Alert } },
    problems: [404],
    async run({ params, body, principal }, { triarch }) {
      const { reason, actor } = body as z.output<typeof AlertControl>
      const options = given({ reason, actor: principal?.id ?? actor })
      return reply(200, await act(triarch.alerts.get((params as { name: string }).name), options, body as z.output<B>))
    },
  })
}

export const alerts: readonly Route[] = [
  list,
  get,
  test,
  control('acknowledge', 'Somebody has it in hand: nobody is told again before it ends.', AlertControl, (it, options) =>
    it.acknowledge(options),
  ),
  control('silence', 'Nobody is told that it fires, until then.', AlertSilence, (it, options, { until }) =>
    it.silence({ ...options, until: new Date(until) }),
  ),
  control('end', 'It is over, until its condition was gone once and is back.', AlertControl, (it, options) =>
    it.end(options),
  ),
]
