// Who has no right forges none: tokens, tickets, and what is said with them, over real HTTP.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AgentMessage,
  type AgentResponse,
  agent,
  connectAgents,
  type Right,
  type StoreFactory,
  Triarch,
  workflow,
} from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { expect, it } from 'vitest'
import { createServer } from '../src/index.ts'

const bank = agent('bank')
const mail = agent('mail')
const other = agent('other')
const slow = bank.action('slow', { run: async () => gate.leave.promise, attemptWithin: '5m' })
const send = mail.action('send', { run: async () => gate.leave.promise, attemptWithin: '5m' })
const noop = other.action('noop', { run: async () => null })
let gate = { leave: Promise.withResolvers<unknown>() }
let tokens: string[] = []
const ask = bank.action('ask', {
  run: async (_: null, step, received): Promise<unknown> => {
    if (received?.name === 'resume') return received.payload
    if (!received) tokens.push(step.token)
    return step.suspend()
  },
})
const approval = workflow('approval', { run: (_: null, task) => task.run(ask, null) })
const hosted = workflow('hosted', { run: (_: null, task) => task.run(slow, null) })
const mailed = workflow('mailed', { run: (_: null, task) => task.run(send, null) })
const workflows = [approval, hosted, mailed]
const old = (content: unknown[]) => Buffer.from(JSON.stringify(content)).toString('base64url')
const changed = (text: string) => text.slice(0, -2) + (text.endsWith('AA') ? 'BB' : 'AA')

/** A server that asks for keys, on a store whose calls are written down, and that has handed out one token. */
async function scene() {
  tokens = []
  gate = { leave: Promise.withResolvers() }
  const folder = mkdtempSync(join(tmpdir(), 'triarch-forged-'))
  const calls: string[] = []
  const store = sqlite(join(folder, 'store.db'), { writer: 'inline' })
  const watched: StoreFactory = (environment) =>
    new Proxy(store(environment), {
      get(target, key) {
        const own = Reflect.get(target, key, target) as unknown
        if (typeof own !== 'function') return own
        return (...of: unknown[]) => {
          calls.push(String(key))
          return (own as (...of: unknown[]) => unknown).apply(target, of)
        }
      },
    })
  const triarch = new Triarch({ store: watched, workflows, agents: [bank], notices: false, onError: () => undefined })
  await triarch.start()
  const server = createServer(triarch, { workflows, keys: true, onError: () => undefined })
  const { url } = await server.listen({ port: 0, signals: [] })
  const post = async (path: string, body: unknown = {}, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, text, code: text === '' ? '' : (JSON.parse(text) as { code?: string }).code }
  }
  const asking = async (id: string) => {
    const known = tokens.length
    await triarch.submit(approval, null, { id })
    await expect.poll(() => tokens.length).toBeGreaterThan(known)
    await expect.poll(async () => (await triarch.tasks.get(id).steps())[0]?.status).toBe('suspended')
    return tokens.at(-1) ?? ''
  }
  return {
    ...{ triarch, url, post, calls, asking },
    async [Symbol.asyncDispose]() {
      gate.leave.resolve(null)
      await server.close()
      await triarch.stop({ grace: 0 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const made = async (here: { triarch: Triarch }, name: string, rights: Right[]) =>
  (await here.triarch.keys.get(name).create({ rights })).secret
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

/** Without what differs from request to request. */
const plain = (text: string) => text.replace(/"(?:instance|request)":"[^"]*",?/g, '')

it('a token that the store did not sign resumes nothing, and is answered alike, before anything of a task is read', async () => {
  await using here = await scene()
  await using there = await scene()
  const token = await here.asking('payout-1')
  const foreign = await there.asking('payout-1')
  const [number = '', text = '', mac = ''] = token.split('.')
  const forged = [
    old(['payout-1', 1, 'payout-1:1']),
    old(['nobody', 1, 'nobody:1']),
    changed(token),
    `${number}.${old(['payout-1', 2, 'payout-1:2'])}.${mac}`,
    `${number}.${old(['nobody', 1, 'nobody:1'])}.${mac}`,
    `99.${text}.${mac}`,
    `${number}.${text}.`,
    `${number}.${text}`,
    foreign,
    'xyz',
    '',
  ]
  here.calls.length = 0
  const answers = [
    ...(await Promise.all(forged.map((token) => here.post('/tokens', { token, value: { paid: 1 } })))),
    ...(await Promise.all(forged.map((it) => here.post('/tokens', { value: 1 }, { 'triarch-token': it })))),
    ...(await Promise.all(
      forged.slice(0, -1).map((it) => here.post(`/tokens/${encodeURIComponent(it)}`, { value: 1 })),
    )),
  ]
  expect([...new Set(answers.map(({ status, code }) => `${status} ${code}`))]).toEqual(['404 INVALID_TOKEN'])
  expect(new Set(answers.map(({ text }) => plain(text))).size).toBe(1)
  for (const call of ['task', 'records', 'replay', 'post', 'list', 'secrets']) expect(here.calls).not.toContain(call)
  expect((await here.triarch.tasks.get('payout-1').steps())[0]?.status).toBe('suspended')
})

it('a token is taken from the body, a header or the path, is in the audit, and ends with its step', async () => {
  await using here = await scene()
  const ways = [
    (token: string) => here.post('/tokens', { token, value: 'body' }),
    (token: string) => here.post('/tokens', { value: 'header' }, { 'triarch-token': token }),
    (token: string) => here.post(`/tokens/${token}`, { value: 'path' }),
  ]
  const results: unknown[] = []
  for (const [index, way] of ways.entries()) {
    const token = await here.asking(`t-${index}`)
    expect((await way(token)).status).toBe(202)
    results.push(await here.triarch.tasks.get(`t-${index}`).result())
    expect(await way(token)).toMatchObject({ status: 410, code: 'TOKEN_SPENT' })
  }
  expect(results).toEqual(['body', 'header', 'path'])
  const { entries } = await here.triarch.audit.list({ actor: 'token' })
  expect(entries.map(({ action, subject, details }) => [action, subject, details?.step])).toEqual([
    ['token.resume', 'task:t-2', 1],
    ['token.resume', 'task:t-1', 1],
    ['token.resume', 'task:t-0', 1],
  ])
})

it('what holders of a token ask for does not make a task forget what others asked for', async () => {
  await using here = await scene()
  const token = await here.asking('busy')
  const task = here.triarch.tasks.get('busy')
  await task.once('mine').signal('note', 1)
  const flood = Array.from({ length: 130 }, (_, n) => n)
  for (const n of flood)
    expect((await here.post('/tokens', { token, name: 'knock' }, { 'idempotency-key': `k-${n}` })).status).toBe(202)
  await task.once('mine').signal('note', 1)
  await here.post('/tokens', { token, value: 'done' })
  await task.result()
  const records = JSON.stringify((await task.export()).records)
  expect(records.split('signalReceived')).toHaveLength(2)
})

it('a token that was signed before the secret was rotated is taken for as long as was said, and no longer', async () => {
  await using here = await scene()
  const first = await here.asking('first')
  const { overlapsUntil } = await here.triarch.keys.rotateSecret({ reason: 'a test', overlap: '1d' })
  expect(overlapsUntil.getTime()).toBeGreaterThan(Date.now() + 80_000_000)
  expect((await here.post('/tokens', { token: first, value: 1 })).status).toBe(202)
  const second = await here.asking('second')
  const root = await made(here, 'root', ['keys', 'control'])
  const rotate = (key: string) => here.post('/secret/rotate', { reason: 'it leaked', overlap: '0s' }, bearer(key))
  expect((await rotate(await made(here, 'some', ['keys']))).status).toBe(403)
  expect((await rotate(root)).status).toBe(200)
  expect(await here.post('/tokens', { token: second, value: 1 })).toMatchObject({ status: 404, code: 'INVALID_TOKEN' })
  const third = await here.asking('third')
  expect((await here.post('/tokens', { token: third, value: 1 })).status).toBe(202)
  const { entries } = await here.triarch.audit.list({ subject: 'secret:store' })
  expect(entries.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    'key:root secret.rotate',
    'operator secret.rotate',
  ])
})

it('an agent answers no attempt that no server gave it, nor one of an agent that it does not offer', async () => {
  await using here = await scene()
  const key = await made(here, 'mailers', ['agents'])
  const exchange = async (messages: AgentMessage[], session?: string) => {
    const { text } = await here.post('/agents/exchange', { messages, ...(session && { session }) }, bearer(key))
    return (JSON.parse(text) as AgentResponse).messages
  }
  let hellos = 0
  const hello = (instance: string, name: string): AgentMessage => {
    return {
      type: 'hello',
      protocol: 1,
      instance,
      count: ++hellos,
      agents: [{ name, slots: 5, actions: [`${name}.send`] }],
      running: [],
    }
  }
  const sessionOf = async (instance: string, name: string) => {
    const [welcome] = await exchange([hello(instance, name)])
    return welcome?.type === 'welcome' ? welcome.session : ''
  }
  // An attempt that runs in the server's own process, and one that was given to a connected agent.
  await here.triarch.submit(hosted, null, { id: 'own' })
  await expect.poll(async () => (await here.triarch.tasks.get('own').steps())[0]?.status).toBe('running')
  const mails = await sessionOf('i-1', 'mail')
  await here.triarch.submit(mailed, null, { id: 'given' })
  const others = await sessionOf('i-2', 'other')
  let ticket = ''
  await expect
    .poll(async () => {
      for (const message of await exchange([], mails)) if (message.type === 'attempt') ticket = message.attempt
      return ticket
    })
    .not.toBe('')
  const [, text = '', mac = ''] = ticket.split('.')
  const [node, , , , , , , at] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
  const forged = [
    old(['', null, 'own', 1, 'run', 1, 1]),
    `1.${old([node, null, 'own', 1, 'run', 1, 'mail', at])}.${mac}`,
    `1.${old([node, null, 'own', 1, 'run', 1, 'other', at])}.${mac}`,
    `1.${old([node, null, 'own', 1, 'undo', 1, 'other', at])}.${mac}`,
    changed(ticket),
    // Signed by the store, and given to another agent.
    ticket,
  ]
  const before = (await here.triarch.statistics.get()).stale
  for (const attempt of forged) {
    const reply: AgentMessage = { type: 'reply', attempt, outcome: { kind: 'done', output: 'mallory' } }
    const acks: unknown[] = []
    const seen: AgentMessage[][] = [[reply]]
    await expect
      .poll(async () => {
        for (const message of await exchange(seen.pop() ?? [], others))
          if (message.type === 'ack' && message.attempt === attempt) acks.push([message.late, message.code])
        return acks[0]
      })
      .toEqual([true, 'ATTEMPT_NOT_GIVEN'])
  }
  expect((await here.triarch.statistics.get()).stale - before).toBe(forged.length)
  for (const id of ['own', 'given']) expect((await here.triarch.tasks.get(id).steps())[0]?.status).toBe('running')
  // Nor may it say that it runs them: what is not its own is not spoken for.
  await exchange([{ ...hello('i-3', 'other'), running: forged } as AgentMessage])
  gate.leave.resolve('honest')
  expect(await here.triarch.tasks.get('own').result()).toBe('honest')
  await exchange([{ type: 'reply', attempt: ticket, outcome: { kind: 'done', output: 'sent' } }], mails)
  expect(await here.triarch.tasks.get('given').result()).toBe('sent')
  const records = JSON.stringify((await here.triarch.tasks.get('given').export()).records)
  expect(records).toContain(String(node))
  expect(records).not.toContain('mallory')
})

it('an agent whose code asks for its token has one that resumes its step', async () => {
  await using here = await scene()
  const key = await made(here, 'mailers', ['agents'])
  const seen = Promise.withResolvers<string>()
  const elsewhere = agent('mail')
  elsewhere.action('send', {
    run: async (_: null, step, received): Promise<unknown> => {
      if (received) return received.payload
      seen.resolve(step.token)
      return step.suspend()
    },
  })
  await using connection = connectAgents(here.url, { token: key, agents: [elsewhere], onError: () => undefined })
  await connection.connected
  const task = await here.triarch.submit(mailed, null, { id: 'm' })
  expect((await here.post('/tokens', { token: await seen.promise, value: 'by token' })).status).toBe(202)
  expect(await task.result()).toBe('by token')
  expect(noop.key).toBe('other.noop')
})
