import { z } from 'zod'
import { json, named } from '../wire/schema.ts'
import { given, type Route, reply, route } from './route.ts'

const text = z.string().min(1).max(500)
const reason = z.string().min(1).max(1_000).optional()

const Invalidation = named(
  'Invalidation',
  z.union([z.strictObject({ action: text, key: json.optional(), reason }), z.strictObject({ tag: text, reason })]),
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
    await triarch.caches.invalidate(given(body))
    return reply(204)
  },
})

export const cache: readonly Route[] = [invalidate]
