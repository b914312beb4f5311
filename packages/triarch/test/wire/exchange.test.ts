import { describe, expect, it } from 'vitest'
import { type AgentRequest, agent, connectAgents, type ServerMessage } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'

const welcome = { type: 'welcome', protocol: 1, session: 's', lease: 1_000, payload: 1_000 } as const
const attempt = (n: number, name: string): ServerMessage => ({
  ...{ n, type: 'attempt', attempt: name, agent: 'own', action: 'own.act', operation: 'run', number: 1, name: 'act' },
  ...{ task: 't', step: n, workflow: 'w', version: '1', idempotencyKey: `t:${n}`, input: null, token: 'x' },
  attemptWithin: 60_000,
})

/** Agents whose requests wait until the test answers them. */
function scene() {
  const environment = new VirtualEnvironment()
  const own = agent('own', { concurrency: 10 })
  const ran: number[] = []
  const held = Promise.withResolvers<void>()
  own.action('act', {
    async run(_: unknown, step) {
      ran.push(step.stepId)
      if (step.stepId === 2) await held.promise
    },
  })
  const asked: { request: AgentRequest; answer(...messages: ServerMessage[]): void }[] = []
  const fetch = (_: string, { body }: { body: string }) =>
    new Promise((resolve) => {
      const request = JSON.parse(body) as AgentRequest
      const answer = (...messages: ServerMessage[]) =>
        resolve({ ok: true, status: 200, json: async () => ({ messages }) })
      asked.push({ request, answer })
    })
  const connection = connectAgents('http://here', {
    ...{ environment, agents: [own], onError: () => undefined },
    fetch: fetch as unknown as typeof globalThis.fetch,
  })
  connection.connected.catch(() => undefined)
  const next = async () => {
    await environment.advance(1)
    const one = asked.shift()
    if (!one) throw new Error('nothing was asked')
    return one
  }
  return { environment, ran, free: held.resolve, next }
}

const said = (request: AgentRequest) =>
  request.messages.map((it) => (it.type === 'reply' ? `${it.attempt} ${it.outcome.kind}` : it.type))

describe('a connected process', () => {
  it('does not begin an attempt that comes later than a lease after it asked: it may have been given up', async () => {
    const { environment, ran, next } = scene()
    ;(await next()).answer(welcome)
    const first = await next()
    await environment.advance(999)
    first.answer(attempt(1, 'quick'))
    const second = await next()
    expect(said(second.request)).toEqual(['quick done'])
    await environment.advance(1_001)
    second.answer(attempt(2, 'late'))
    expect(said((await next()).request)).toContain('late withdrawn')
    expect(ran).toEqual([1])
  })

  it('does not hear what comes late of requests from before a reset', async () => {
    const { ran, free, next } = scene()
    ;(await next()).answer(welcome)
    ;(await next()).answer(attempt(1, 'quick'), attempt(2, 'held'))
    const first = await next()
    expect(said(first.request)).toEqual(['quick done'])
    free()
    const second = await next()
    expect(said(second.request)).toEqual(['held done'])
    second.answer({ type: 'reset' })
    first.answer({ n: 3, type: 'ack', attempt: 'quick' }, attempt(4, 'other'))
    const hello = await next()
    expect(hello.request.messages[0]).toMatchObject({ type: 'hello', count: 2, running: ['quick', 'held'] })
    expect(ran).toEqual([1, 2])
  })
})
