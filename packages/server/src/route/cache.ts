import { z } from 'zod'
import { json, named } from '../wire/schema.ts'
import { type Route, reply, route } from './route.ts'

const text = z.string().min(1).max(500)

const Invalidation = named(
  'Invalidation',
  z.union([z.strictObject({ action: text, key: json.optional() }), z.strictObject({ tag: text })]),
)

const invalidate = route({
  method: 'POST',
  path: '/cache/invalidate',
  id: 'invalidateAnswers',
  right: 'caches',
  summary: 'Kept answers are not valid any more: of an action, of an action for a key, or with a tag.',
  body: Invalidation,
  answers: { 204: { description: 'No node gives an answer that was asked for before' } },
  async run({ body }, { triarch }) {
    if ('tag' in body) await triarch.invalidate({ tag: body.tag })
    else if (body.key === undefined) await triarch.invalidate(body.action)
    else await triarch.invalidate(body.action, body.key)
    return reply(204)
  },
})

export const cache: readonly Route[] = [invalidate]
