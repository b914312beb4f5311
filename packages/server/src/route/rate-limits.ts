import type { Duration, RateLimitControlOptions, RateLimitHandle } from 'triarch'
import { z } from 'zod'
import { RateLimit, RateLimitControl, RateLimitForce, RateLimitLift, RateLimitPage } from '../wire/rate-limit.ts'
import { given, type Route, reply, route } from './route.ts'

const list = route({
  method: 'GET',
  path: '/rate-limits',
  id: 'listRateLimits',
  summary: 'Rate limits by name, a page at a time; of keys, those that are in use.',
  query: z.strictObject({ cursor: z.string().max(300).optional(), limit: z.int().min(1).max(1_000).optional() }),
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: RateLimitPage } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.rateLimits.list(given(query)))
  },
})

const get = route({
  method: 'GET',
  path: '/rate-limits/{name}',
  id: 'getRateLimit',
  summary: 'A rate limit as it stands, with what operators did.',
  answers: { 200: { description: 'The rate limit', schema: RateLimit } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, await triarch.rateLimits.get(params.name).info())
  },
})

function control<B extends typeof RateLimitControl | typeof RateLimitLift | typeof RateLimitForce>(
  name: string,
  summary: string,
  body: B,
  act: (limit: RateLimitHandle, options: RateLimitControlOptions, body: z.output<B>) => Promise<void>,
): Route {
  return route({
    method: 'POST',
    path: `/rate-limits/{name}/${name}`,
    id: `${name}RateLimit`,
    right: 'rates',
    summary,
    body,
    answers: { 200: { description: 'The rate limit as it is now', schema: RateLimit } },
    problems: [404],
    async run({ params, body, principal }, { triarch }) {
      const limit = triarch.rateLimits.get((params as { name: string }).name)
      const { reason, actor } = body as z.output<typeof RateLimitControl>
      await act(limit, given({ reason, actor: principal?.id ?? actor }), body as z.output<B>)
      return reply(200, await limit.info())
    },
  })
}

const ends = (until: string | undefined) => (until === undefined ? {} : { until: new Date(until) })

export const rateLimits: readonly Route[] = [
  list,
  get,
  control(
    'change',
    'Other numbers, on all nodes: until `until`, or until it is restored.',
    RateLimitForce,
    (limit, options, { limit: most, per, burst, until }) =>
      limit.change({
        ...options,
        ...{ limit: most, per: per as Duration },
        ...(burst !== undefined && { burst }),
        ...ends(until),
      }),
  ),
  control(
    'lift',
    'No limit, and no rest: until `until`, or until it is restored.',
    RateLimitLift,
    (limit, options, { until }) => limit.lift({ ...options, ...ends(until) }),
  ),
  control('restore', 'What the code or a setting says counts again.', RateLimitControl, (limit, options) =>
    limit.restore(options),
  ),
]
