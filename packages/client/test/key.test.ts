// What every TriarchClient promises of keys: asked of a Triarch on its store, and of a client over HTTP.
import { createServer } from '@triarch/server'
import { Triarch, type TriarchClient } from 'triarch'
import { memory } from 'triarch/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { judged } from '../../server/test/document.ts'
import { connect } from '../src/index.ts'

const triarch = new Triarch({ store: memory(), roles: [], notices: false, onError: () => undefined })
const server = createServer(triarch, { open: true, onError: () => undefined })
let lost = 0
const http = connect('http://localhost', {
  retry: { first: 1 },
  async fetch(url, init) {
    const answer = await server.fetch(new Request(url, init))
    const { method = 'GET' } = init
    await judged(method, new URL(url).pathname, answer.clone())
    if (lost === 0 || method !== 'POST') return answer
    lost--
    throw new TypeError('fetch failed')
  },
})
const codeOf = (doing: Promise<unknown>) =>
  doing.then(
    () => '',
    ({ code }) => code,
  )
const why = { reason: 'a test', actor: 'ada' }
const word = { ...why, at: expect.any(Date) }
afterAll(() => triarch.stop())

const clients: [string, string, TriarchClient][] = [
  ['of a Triarch', 'a', triarch],
  ['over HTTP', 'b', http],
]
describe.each(clients)('keys %s', (_, of, client) => {
  const name = `billing.${of}`

  it('are made and handed out once, listed without their secret, rotated, revoked: with why and by whom', async () => {
    const key = client.keys.get(name)
    expect(await codeOf(key.info())).toBe('UNKNOWN_KEY')
    const made = await key.create({ rights: ['start', 'read'], expiresIn: '90d', note: 'the billing service', ...why })
    expect(made.secret).toMatch(new RegExp(`^triarch_${name}_[\\w-]{43}$`))
    expect(made.key).toEqual({
      ...{ name, id: expect.any(String), status: 'active', rights: ['read', 'start'], note: 'the billing service' },
      ...{ made: word, expiresAt: expect.any(Date), usedAt: undefined, rotated: undefined, overlapsUntil: undefined },
      revoked: undefined,
    })
    expect(await key.info()).toEqual(made.key)
    expect((await client.keys.list({ limit: 1_000 })).keys).toContainEqual(made.key)
    expect(await codeOf(key.create({ rights: ['read'] }))).toBe('KEY_EXISTS')
    const again = await key.rotate({ ...why, overlap: '1h' })
    expect(again.secret).not.toBe(made.secret)
    expect(again.key).toMatchObject({ id: made.key.id, rotated: word, overlapsUntil: expect.any(Date) })
    expect((await key.rotate({ ...why, overlap: 0 })).key.overlapsUntil).toBe(undefined)
    expect(await key.revoke(why)).toMatchObject({ status: 'revoked', revoked: word })
    // Said again by who did not hear of it; by another, it is over.
    expect(await key.revoke(why)).toMatchObject({ status: 'revoked' })
    expect(await codeOf(key.revoke({ reason: 'another' }))).toBe('UNKNOWN_KEY')
    expect(await codeOf(key.rotate(why))).toBe('UNKNOWN_KEY')
    expect(await codeOf(key.create({ rights: ['read'] }))).toBe('KEY_EXISTS')
    const { entries } = await client.audit.list({ subject: `key:${name}` })
    expect(entries.map(({ action, actor, reason }) => [action, actor, reason])).toEqual([
      ['key.revoke', 'ada', 'a test'],
      ['key.rotate', 'ada', 'a test'],
      ['key.rotate', 'ada', 'a test'],
      ['key.create', 'ada', 'a test'],
    ])
    const told = JSON.stringify([entries, await client.keys.list(), await key.info()])
    for (const { secret } of [made, again]) expect(told).not.toContain(secret.slice(-43))
  })

  it('are listed a page at a time', async () => {
    for (const n of [1, 2, 3]) await client.keys.get(`page.${of}.${n}`).create({ rights: ['read'] })
    const first = await client.keys.list({ limit: 2, cursor: `page.${of}` })
    expect(first.keys.map((key) => key.name)).toEqual([`page.${of}.1`, `page.${of}.2`])
    expect((await client.keys.list({ limit: 1, cursor: first.next as string })).keys[0]?.name).toBe(`page.${of}.3`)
  })

  it('that make no sense are refused', async () => {
    const key = client.keys.get(`odd.${of}`)
    const invalid = [
      key.create({ rights: [] }),
      key.create({ rights: ['everything' as never] }),
      key.create({ rights: 'read' as never }),
      key.create({ rights: ['read'], note: 'x'.repeat(1_001) }),
      client.keys.get(`page.${of}.1`).rotate({ reason: 'x', overlap: '91d' }),
      client.keys.get(`page.${of}.1`).revoke({ reason: 'x'.repeat(1_001) }),
      client.keys.list({ limit: 0 }),
    ]
    for (const code of await Promise.all(invalid.map(codeOf))) expect(code).toBe('INVALID_OPTION')
    expect(await codeOf(key.create({ rights: ['read'], expiresIn: 'soon' as never }))).toBe('INVALID_DURATION')
    expect(await codeOf(key.create({ rights: ['read'], expiresIn: 0 }))).toBe('INVALID_DURATION')
    expect(await codeOf(key.create({ rights: ['read'], until: 1 } as never))).toBe('UNKNOWN_OPTION')
    expect(await codeOf(key.revoke({ ...why, by: 'me' } as never))).toBe('UNKNOWN_OPTION')
    for (const wrong of ['', 'a_b', '-a', 'a/b', '..', 'x'.repeat(64)])
      expect(() => client.keys.get(wrong)).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }))
    expect(await codeOf(key.info())).toBe('UNKNOWN_KEY')
  })
})

it('a key whose answer was lost is not made, and not rotated, a second time', async () => {
  const key = http.keys.get('lost')
  lost = 1
  expect(await codeOf(key.create({ rights: ['read'] }))).toBe('SERVER_UNREACHABLE')
  lost = 1
  expect(await codeOf(key.rotate({ reason: 'the first answer was lost', overlap: 0 }))).toBe('SERVER_UNREACHABLE')
  const { entries } = await triarch.audit.list({ subject: 'key:lost' })
  expect(entries.map(({ action }) => action)).toEqual(['key.rotate', 'key.create'])
  lost = 1
  expect(await key.revoke({ reason: 'nobody has it' })).toMatchObject({ status: 'revoked' })
})
