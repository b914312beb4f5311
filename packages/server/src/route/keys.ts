import type { Duration, KeyCreateOptions, KeyRotateOptions, Right } from 'triarch'
import { now } from '../environment.ts'
import type { Principal } from '../options.ts'
import { Refused } from '../problem/problem.ts'
import { checkRight } from '../request/right.ts'
import { IssuedKey, Key, KeyControl, KeyCreation, KeyPage, KeyRotation, keysQuery } from '../wire/key.ts'
import { given, type Route, reply, route } from './route.ts'

/**
 * Nobody hands out what they do not have: neither a right that they lack, nor one for longer than they have it. Throws FORBIDDEN.
 */
function checkReach(principal: Principal | null, held: readonly Right[], endsAt: number | null): void {
  for (const right of held) checkRight(principal, right)
  const end = principal?.expiresAt?.getTime()
  if (end === undefined || (endsAt !== null && endsAt <= end)) return
  const message = `whoever asks may do so until ${new Date(end).toISOString()}, and hands out no key for longer: give expiresIn`
  throw new Refused('FORBIDDEN', message, [], { right: 'keys' })
}

const list = route({
  method: 'GET',
  path: '/keys',
  id: 'listKeys',
  right: 'keys',
  summary: 'API keys by name, those that have ended among them, a page at a time; never what only their holders know.',
  query: keysQuery,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: KeyPage } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.keys.list(given(query)))
  },
})

const get = route({
  method: 'GET',
  path: '/keys/{name}',
  id: 'getKey',
  right: 'keys',
  summary: 'An API key as it stands: what it may do, who made it, when it ends, when it was used last.',
  answers: { 200: { description: 'The key', schema: Key } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, await triarch.keys.get(params.name).info())
  },
})

const create = route({
  method: 'POST',
  path: '/keys/{name}/create',
  id: 'createKey',
  right: 'keys',
  summary: 'Makes an API key, with no right that whoever asks lacks, and hands it out: this once.',
  body: KeyCreation,
  answers: { 201: { description: 'The key; `secret` is what its holder sends', schema: IssuedKey } },
  problems: [409],
  async run({ params, body: { actor, expiresIn, ...body }, principal }, { triarch, span }) {
    const lasts = expiresIn === undefined ? null : span(expiresIn)
    checkReach(principal, body.rights, lasts === null ? null : now() + lasts)
    const options = given({ ...body, actor: principal?.id ?? actor, expiresIn: expiresIn as Duration })
    return reply(201, await triarch.keys.get(params.name).create(options as KeyCreateOptions))
  },
})

const rotate = route({
  method: 'POST',
  path: '/keys/{name}/rotate',
  id: 'rotateKey',
  right: 'keys',
  summary: 'Gives the key another secret, and hands that out: this once. The one so far holds for `overlap` (`"1d"`).',
  body: KeyRotation,
  answers: { 200: { description: 'The key; `secret` is what its holder sends from now on', schema: IssuedKey } },
  problems: [404],
  async run({ params, body: { reason, actor, overlap }, principal }, { triarch }) {
    const key = triarch.keys.get(params.name)
    const { rights, expiresAt } = await key.info()
    checkReach(principal, rights, expiresAt?.getTime() ?? null)
    const options = given({ reason, actor: principal?.id ?? actor, overlap: overlap as Duration | undefined })
    return reply(200, await key.rotate(options as KeyRotateOptions))
  },
})

const revoke = route({
  method: 'POST',
  path: '/keys/{name}/revoke',
  id: 'revokeKey',
  right: 'keys',
  summary: 'Takes the key away, for ever, on all servers within a second or so; what is open by it is ended.',
  body: KeyControl,
  answers: { 200: { description: 'The key as it is now', schema: Key } },
  problems: [404],
  async run({ params, body: { reason, actor }, principal }, { triarch }) {
    return reply(
      200,
      await triarch.keys.get(params.name).revoke({ reason, ...given({ actor: principal?.id ?? actor }) }),
    )
  },
})

export const keys: readonly Route[] = [list, get, create, rotate, revoke]
