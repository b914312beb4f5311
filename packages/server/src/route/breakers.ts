import type { BreakerControlOptions, BreakerHandle } from 'triarch'
import { z } from 'zod'
import { Breaker, BreakerControl, BreakerOpening, BreakerPage } from '../wire/breaker.ts'
import { given, type Route, reply, route } from './route.ts'

const list = route({
  method: 'GET',
  path: '/breakers',
  id: 'listBreakers',
  summary: 'Circuit breakers by name, a page at a time; of an agent with a key, those that were ever ill.',
  query: z.strictObject({ cursor: z.string().max(300).optional(), limit: z.int().min(1).max(1_000).optional() }),
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: BreakerPage } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.breakers.list(given(query)))
  },
})

const get = route({
  method: 'GET',
  path: '/breakers/{name}',
  id: 'getBreaker',
  summary: 'A circuit breaker as it stands, with its last changes.',
  answers: { 200: { description: 'The circuit breaker', schema: Breaker } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, await triarch.breakers.get(params.name).info())
  },
})

function control<B extends typeof BreakerControl | typeof BreakerOpening>(
  name: string,
  summary: string,
  body: B,
  act: (breaker: BreakerHandle, options: BreakerControlOptions, body: z.output<B>) => Promise<void>,
): Route {
  return route({
    method: 'POST',
    path: `/breakers/{name}/${name}`,
    id: `${name}Breaker`,
    right: 'breakers',
    summary,
    body,
    answers: { 200: { description: 'The circuit breaker as it is now', schema: Breaker } },
    problems: [404],
    async run({ params, body, principal }, { triarch }) {
      const breaker = triarch.breakers.get((params as { name: string }).name)
      const { reason, actor } = body as z.output<typeof BreakerControl>
      await act(breaker, given({ reason, actor: principal?.id ?? actor }), body as z.output<B>)
      return reply(200, await breaker.info())
    },
  })
}

export const breakers: readonly Route[] = [
  list,
  get,
  control(
    'open',
    'No attempt of the agent starts, on any node: until `until`, or until it is closed.',
    BreakerOpening,
    (breaker, options, { until }) =>
      breaker.open({ ...options, ...(until !== undefined && { until: new Date(until) }) }),
  ),
  control('close', 'What waits goes out in waves.', BreakerControl, (breaker, options) => breaker.close(options)),
  control('reset', 'As if the service had always been well.', BreakerControl, (breaker, options) =>
    breaker.reset(options),
  ),
]
