// Agents over HTTP: a server on an engine, and agents that have nothing but its URL.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  type AgentMessage,
  type AgentResponse,
  agent,
  type ConnectAgentsOptions,
  type ConnectedAgents,
  connectAgents,
  PermanentError,
  type ServerMessage,
  Triarch,
  TriarchError,
  type TriarchOptions,
  type Workflow,
  workflow,
} from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { describe, expect, it } from 'vitest'
import { createServer, type ServerOptions } from '../src/index.ts'

/** What the actions were asked to do, in order. */
const heard: string[] = []
/** Lets an action that waits go on. */
const gates = new Map<string, { entered: PromiseWithResolvers<void>; leave: PromiseWithResolvers<unknown> }>()

function gate(name: string) {
  const made = gates.get(name) ?? { entered: Promise.withResolvers<void>(), leave: Promise.withResolvers<unknown>() }
  gates.set(name, made)
  return made
}

const mail = agent('mail', { concurrency: 10 })
const send = mail.action('send', {
  run: async ({ to }: { to: string }, step) => {
    heard.push(`send ${to} ${step.attempt} ${step.idempotencyKey}`)
    step.log.info(`to ${to}`, { attempt: step.attempt })
    return { id: `m-${to}` }
  },
  undo: async ({ output }) => void heard.push(`undo ${output.id}`),
})
const wait = mail.action('wait', {
  run: async (name: string, step) => {
    heard.push(`wait ${name} ${step.attempt}`)
    const { entered, leave } = gate(name)
    entered.resolve()
    step.signal.addEventListener('abort', () => {
      heard.push(`aborted ${name} ${step.signal.reason.code}`)
      leave.resolve('aborted')
    })
    return leave.promise
  },
  verify: async (name: string) => {
    heard.push(`verify ${name}`)
    return { done: true, output: 'verified' }
  },
  attemptWithin: '10m',
})
const resume = mail.action('resume', {
  run: async (name: string, step) => {
    heard.push(`resume ${name} ${step.attempt} ${JSON.stringify(step.checkpoint ?? null)}`)
    if (step.checkpoint !== undefined) return step.checkpoint
    step.heartbeat({ checkpoint: { at: 7 }, progress: 0.5 })
    const { entered, leave } = gate(name)
    entered.resolve()
    await leave.promise
    throw new Error('cut off')
  },
  retry: { attempts: 2, backoff: { initial: '1ms' } },
  heartbeatWithin: '1m',
})
const ask = mail.action('ask', {
  run: async (_: null, step, event): Promise<unknown> => {
    if (event) return { [event.name]: event.payload }
    gate('token').leave.resolve(step.token)
    return step.suspend({ timeout: '1h' })
  },
})
const refuse = mail.action('refuse', {
  run: async () => {
    throw new PermanentError('no such address')
  },
})

const large = mail.action('large', { run: async (size: number) => 'x'.repeat(size), rescue: 'fail' })

const workflows = [
  workflow('send', { run: (to: string, task) => task.run(send, { to }) }),
  workflow('wait', { run: (name: string, task) => task.run(wait, name) }),
  workflow('resume', { run: (name: string, task) => task.run(resume, name) }),
  workflow('large', { run: (size: number, task) => task.run(large, size), rescue: 'fail' }),
  workflow('ask', { run: (_: null, task) => task.run(ask, null) }),
  workflow('undone', {
    run: async (to: string, task) => {
      await task.run(send, { to })
      await task.run(refuse, undefined, { rescue: 'compensate' })
    },
  }),
]
const named = (name: string) => workflows.find((it) => it.name === name) as unknown as Workflow<unknown, unknown>

async function serving(options: Partial<TriarchOptions> = {}, more: ServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-wire-'))
  const store = options.store ?? sqlite(join(folder, 'store.db'), { writer: 'inline' })
  const errors: unknown[] = []
  const triarch = new Triarch({ workflows, notices: false, onError: (it) => errors.push(it), ...options, store })
  await triarch.start()
  const server = createServer(triarch, { workflows, open: true, onError: (it) => errors.push(it), ...more })
  const { url } = await server.listen({ port: 0, signals: [] })
  return {
    ...{ triarch, server, url, errors, folder },
    async [Symbol.asyncDispose]() {
      await server.close()
      await triarch.stop({ grace: 0 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function connected(
  url: string | string[],
  options: Partial<ConnectAgentsOptions> = {},
): Promise<ConnectedAgents> {
  const connection = connectAgents(url, { agents: [mail], onError: () => undefined, ...options })
  await connection.connected
  return connection
}

/** A fetch that tells of what passes, and may lose it. */
function spied(meddle: (request: AgentMessage[], answer: () => Promise<Response>) => Promise<Response>) {
  const acknowledged = Promise.withResolvers<void>()
  const spy: typeof fetch = async (url, init) => {
    const { messages } = JSON.parse(String(init?.body)) as { messages: AgentMessage[] }
    const response = await meddle(messages, () => fetch(url, init))
    const { messages: heard } = (await response.clone().json()) as AgentResponse
    if (heard.some(({ type }) => type === 'ack')) acknowledged.resolve()
    return response
  }
  return { fetch: spy, acknowledged: acknowledged.promise }
}

describe('an agent over HTTP', () => {
  it('does a step, its undo, and a permanent error', async () => {
    await using here = await serving()
    await using _ = await connected(here.url)
    const done = await here.triarch.submit(named('send'), 'ann', { id: 'send-1' })
    expect(await done.result()).toEqual({ id: 'm-ann' })
    expect(heard).toContainEqual(expect.stringMatching(/^send ann 1 send-1~\w+:1$/))
    expect((await done.logs()).lines).toMatchObject([
      { message: 'to ann', fields: { attempt: 1 }, step: 1, attempt: 1 },
    ])
    const undone = await here.triarch.submit(named('undone'), 'bob', { id: 'undone-1' })
    await expect(undone.result()).rejects.toMatchObject({ code: 'TASK_COMPENSATED' })
    expect(heard).toContain('undo m-bob')
    expect(here.errors).toEqual([])
  })

  it('saves checkpoints, which the next attempt has', async () => {
    await using here = await serving()
    await using _ = await connected(here.url)
    const task = await here.triarch.submit(named('resume'), 'r-1', { id: 'r-1' })
    await gate('r-1').entered.promise
    gate('r-1').leave.resolve(null)
    expect(await task.result()).toEqual({ at: 7 })
    expect(heard.filter((it) => it.startsWith('resume r-1'))).toEqual(['resume r-1 1 null', 'resume r-1 2 {"at":7}'])
  })

  it('lets a step wait, which its token resumes', async () => {
    await using here = await serving()
    await using _ = await connected(here.url)
    const task = await here.triarch.submit(named('ask'), null)
    const token = await gate('token').leave.promise
    const response = await fetch(`${here.url}/api/v1/tokens/${token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ value: { paid: true } }),
    })
    expect(response.status).toBe(202)
    expect(await task.result()).toEqual({ resume: { paid: true } })
  })

  it('is told when its task is cancelled', async () => {
    await using here = await serving()
    await using _ = await connected(here.url)
    const task = await here.triarch.submit(named('wait'), 'c-1')
    await gate('c-1').entered.promise
    await task.cancel({ reason: 'no longer' })
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
    await gate('c-1').leave.promise
    expect(heard).toContain('aborted c-1 STEP_CANCELLED')
  })

  it('is the fallback of one beside the store while the breaker of that is open, and undoes what it did', async () => {
    const post = agent('post', { circuitBreaker: {} })
    const carry = post.action('carry', {
      whenOpen: { fallback: send },
      run: async ({ to }: { to: string }) => ({ id: `p-${to}` }),
      undo: async ({ output }) => void heard.push(`undo ${output.id}`),
    })
    const letter = workflow('letter', { run: (to: string, task) => task.run(carry, { to }) })
    const regretted = workflow('regretted', {
      async run(to: string, task) {
        await task.run(carry, { to })
        await task.run(refuse, undefined, { rescue: 'compensate' })
      },
    })
    await using here = await serving({ workflows: [letter, regretted], agents: [post] })
    await using _ = await connected(here.url)
    const by = async (to: string) => (await here.triarch.submit(letter, to)).result()
    expect(await by('ada')).toEqual({ id: 'p-ada' })
    await here.triarch.breakers.get('post').open({ reason: 'a strike' })
    await expect.poll(() => by('bob')).toEqual({ id: 'm-bob' })
    const task = await here.triarch.submit(letter, 'cid', { id: 'to-cid' })
    expect(await task.result()).toEqual({ id: 'm-cid' })
    expect(heard).toContainEqual(expect.stringMatching(/^send cid 2 to-cid~\w+:1~1$/))
    expect(await task.steps()).toMatchObject([{ action: 'mail.send', fallbackOf: 'post.carry', status: 'success' }])
    const back = await here.triarch.submit(regretted, 'dan')
    await expect(back.result()).rejects.toMatchObject({ code: 'TASK_COMPENSATED' })
    expect(heard.filter((line) => line.startsWith('undo'))).toContain('undo m-dan')
    expect(heard).not.toContain('undo p-dan')
    expect(here.errors).toEqual([])
  })

  it('that closes lets what runs finish, and takes no more', async () => {
    await using here = await serving()
    const connection = await connected(here.url)
    const task = await here.triarch.submit(named('wait'), 'd-1')
    await gate('d-1').entered.promise
    const closed = connection.close({ grace: '1m' })
    gate('d-1').leave.resolve('finished')
    expect(await task.result()).toBe('finished')
    await closed
    const later = await here.triarch.submit(named('send'), 'late', { id: 'late' })
    await using _ = await connected(here.url)
    expect(await later.result()).toEqual({ id: 'm-late' })
  })

  it('says a reply again whose acknowledgement got lost, and it counts once', async () => {
    await using here = await serving()
    let lost = 0
    const { fetch, acknowledged } = spied(async (messages, answer) => {
      const response = await answer()
      if (messages.some(({ type }) => type === 'reply') && lost++ === 0) throw new TypeError('cut')
      return response
    })
    await using _ = await connected(here.url, { fetch })
    const task = await here.triarch.submit(named('send'), 'once', { id: 'once' })
    expect(await task.result()).toEqual({ id: 'm-once' })
    await acknowledged
    expect(lost).toBeGreaterThan(1)
    expect(heard.filter((it) => it.startsWith('send once'))).toHaveLength(1)
    const completed = (await task.history()).flatMap(({ events }) => events).filter((it) => it.type === 'stepCompleted')
    expect(completed).toHaveLength(1)
    expect((await task.logs()).lines).toMatchObject([{ message: 'to once' }])
  })

  it('never got what was lost on the way to it, and gets it again', async () => {
    await using here = await serving()
    let lost = 0
    const { fetch } = spied(async (_, answer) => {
      const response = await answer()
      const { messages } = (await response.clone().json()) as AgentResponse
      if (messages.some(({ type }) => type === 'attempt') && lost++ === 0) throw new TypeError('cut')
      return response
    })
    await using _ = await connected(here.url, { fetch })
    const task = await here.triarch.submit(named('send'), 'lost', { id: 'lost' })
    expect(await task.result()).toEqual({ id: 'm-lost' })
    expect(heard.filter((it) => it.startsWith('send lost'))).toEqual([
      expect.stringMatching(/^send lost 1 lost~[0-9a-z]+:1$/),
    ])
  })

  it('says a failure where the server takes no answer so large', async () => {
    await using here = await serving({}, { limits: { bytes: 3_000 } })
    await using _ = await connected(here.url)
    // The work is done, and nobody can say what came of it: an operator is asked, as in process.
    const task = await here.triarch.submit(named('large'), 5_000)
    for await (const { status } of task.watch()) if (status === 'paused') break
    expect((await task.status()).steps[0]?.error).toMatchObject({ message: expect.stringContaining('413') })
    const small = await here.triarch.submit(named('large'), 1_000)
    expect(await small.result()).toBe('x'.repeat(1_000))
  })
})

describe('processes that die', () => {
  function spawned(file: string, ...args: string[]): { child: ChildProcess; line: Promise<string> } {
    const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const line = new Promise<string>((resolve, reject) => {
      child.stdout?.once('data', (data) => resolve(String(data).trim()))
      child.once('exit', () => reject(new Error(`${file} ended`)))
    })
    return { child, line }
  }
  const killed = async (child: ChildProcess) => {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  it('a server: its agent goes to another, where its reply counts for the task of the dead', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-wire-'))
    const path = join(folder, 'store.db')
    const { child, line } = spawned('agents.process.ts', path)
    const first = await line
    const { fetch: asked, acknowledged } = spied(async (_, answer) => answer())
    await using survivor = await serving({ store: sqlite(path), lease: '1m' })
    await using _ = await connected([first, survivor.url], { fetch: asked })
    // The dying server owns the task, and gave the attempt away without a row in any queue.
    const response = await fetch(`${first}/api/v1/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ workflow: 'wait', input: 's-1', id: 's-1' }),
    })
    expect(response.status).toBe(201)
    await gate('s-1').entered.promise
    await killed(child)
    // Whoever starts buries what is known to be dead; until then the lease of the dead would have to end.
    await using undertaker = new Triarch({ store: sqlite(path), workflows, notices: false, lease: '1m' })
    await undertaker.start()
    // Another owns the task, and awaits what still runs.
    const awaited = async () => {
      const events = (await survivor.triarch.tasks.get('s-1').history()).flatMap((it) => it.events)
      return events.filter(({ type }) => type === 'heartbeat').length
    }
    await expect.poll(awaited, { timeout: 60_000 }).toBeGreaterThan(1)
    gate('s-1').leave.resolve('survived')
    await acknowledged
    expect(await survivor.triarch.tasks.get('s-1').result()).toBe('survived')
    expect(heard.filter((it) => it.includes('s-1'))).toEqual(['wait s-1 1'])
    rmSync(folder, { recursive: true, force: true })
  })

  it('a server that stops: what runs goes on for the next one, though its agent is paused by now', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-wire-'))
    const path = join(folder, 'store.db')
    await using next = await serving({ store: sqlite(path) })
    await using first = await serving({ store: sqlite(path), roles: ['agent'] })
    const moved = Promise.withResolvers<void>()
    const { fetch: asked } = spied(async (messages, answer) => {
      const response = await answer()
      if (messages.some((it) => it.type === 'hello' && it.running.length > 0)) moved.resolve()
      return response
    })
    await using _ = await connected([first.url, next.url], { fetch: asked })
    const task = await next.triarch.submit(named('wait'), 'p-1', { id: 'p-1' })
    await gate('p-1').entered.promise
    await next.triarch.settings.get('triarch.agent.mail').change({ paused: 'the mail is down' }, { reason: 'a test' })
    await first.server.close()
    await moved.promise
    gate('p-1').leave.resolve('gone on')
    expect(await task.result()).toBe('gone on')
    expect(heard.filter((it) => it.includes('p-1'))).toEqual(['wait p-1 1'])
    rmSync(folder, { recursive: true, force: true })
  })

  it('an agent: what it ran is given up after the lease, and asked for elsewhere', async () => {
    await using here = await serving({ lease: '2s' })
    const { child, line } = spawned('agent.process.ts', here.url)
    expect(await line).toBe('connected')
    const began = new Promise((resolve) => child.stdout?.once('data', resolve))
    const task = await here.triarch.submit(named('wait'), 'k-1')
    await began
    await killed(child)
    await using _ = await connected(here.url)
    expect(await task.result()).toBe('verified')
    expect(heard).toContain('verify k-1')
  })
})

describe('trouble with the connection', () => {
  it.each([
    ['SERVER_UNREACHABLE', 503, '{}'],
    ['SERVER_UNREACHABLE', 429, '{}'],
    ['REQUEST_REFUSED', 401, '{}'],
    ['SERVER_FAILED', 500, '{}'],
    ['SERVER_ANSWER_INVALID', 200, '<p>Welcome to nginx</p>'],
    ['SERVER_ANSWER_INVALID', 200, 'null'],
  ])('is told as %s where the server answers %i %s', async (code, status, body) => {
    const told = Promise.withResolvers<unknown>()
    const fetch = async () => new Response(body, { status })
    const connection = connectAgents('http://localhost', { agents: [mail], fetch, onError: told.resolve })
    expect(await told.promise).toMatchObject({ code, details: { status }, message: expect.stringContaining(body) })
    await connection.close()
  })

  it('is told as SERVER_UNREACHABLE with the reason, where nobody is there', async () => {
    const told = Promise.withResolvers<unknown>()
    const connection = connectAgents('http://127.0.0.1:1', { agents: [mail], webSocket: false, onError: told.resolve })
    expect(await told.promise).toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringMatching(/bad port|ECONN/),
    })
    await connection.close()
  })
})

describe('a hostile agent', () => {
  it('crashes nothing, whatever it says in a session', async () => {
    await using here = await serving()
    const post = async (body: unknown): Promise<{ status: number; messages: ServerMessage[] }> => {
      const response = await here.server.fetch(
        new Request('http://localhost/api/v1/agents/exchange', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
      const { messages = [] } = (await response.json()) as AgentResponse
      return { status: response.status, messages }
    }
    await here.triarch.submit(named('wait'), 'h-1', { id: 'h-1' })
    const agents = [{ name: 'mail', slots: 5, actions: ['mail.wait', 'mail.send'] }]
    const tickets = ['', 'x', 'W10', Buffer.from('["n",1,"h-1",1,"run",1,1]').toString('base64url')]
    const ticket = fc.constantFrom(...tickets, Buffer.from('["n",null,"h-1",1,"run",1,1]').toString('base64url'))
    const value = fc.oneof(fc.jsonValue(), fc.constant('x'.repeat(300_000)))
    const error = fc.record({ name: fc.string(), message: fc.string(), cause: fc.jsonValue() })
    const outcome = fc.oneof(
      fc.record({ kind: fc.constant('done'), output: value }),
      fc.record({ kind: fc.constantFrom('not-done', 'unknown', 'withdrawn', 'suspended') }),
      fc.record({ kind: fc.constant('failed'), error, retryable: fc.boolean(), retryAfter: fc.double() }),
    )
    const item = fc.record({ input: value }, { requiredKeys: [] })
    const page = fc.record({ offset: fc.nat(), items: fc.array(item, { maxLength: 3 }), last: fc.boolean() })
    const message = fc.oneof(
      fc.record({ type: fc.constant('reply'), attempt: ticket, outcome }),
      fc.record({ type: fc.constant('heartbeat'), attempt: ticket, beat: fc.integer(), progress: value }),
      fc.record(
        { type: fc.constant('suspend'), attempt: ticket, timeout: fc.double(), page },
        { requiredKeys: ['type', 'attempt'] },
      ),
      fc.record({ type: fc.constant('credit'), agent: fc.constantFrom('mail', 'other'), slots: fc.integer() }),
      fc.record({ type: fc.constantFrom('drain', 'leave') }),
      fc.record({
        type: fc.constant('hello'),
        protocol: fc.constantFrom(1, 2),
        instance: fc.string(),
        count: fc.nat(3),
        agents: fc.constant(agents),
        running: fc.array(ticket),
      }),
      fc.jsonValue(),
    )
    let hellos = 0
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 6 }), fc.nat(3), async (messages, seen) => {
        const hello = { type: 'hello', protocol: 1, instance: 'hostile', count: ++hellos, agents, running: [] }
        const { messages: heard } = await post({ messages: [hello] })
        const [welcome] = heard
        const session = welcome?.type === 'welcome' ? welcome.session : 'none'
        // Also of attempts that it was really given.
        const own = heard.find((it) => it.type === 'attempt')
        const meant = JSON.parse(JSON.stringify(messages).replaceAll('"W10"', JSON.stringify(own?.attempt ?? 'W10')))
        expect([200, 400, 413]).toContain((await post({ session, seen, messages: meant })).status)
        expect((await post({ session, messages: [] })).status).toBe(200)
      }),
      { numRuns: Number(process.env.FUZZ ?? 150) },
    )
    await here.triarch.tasks.get('h-1').cancel({ force: true })
    expect(await here.triarch.statistics.get()).toBeDefined()
    const errors = here.errors.filter((it) => !(it instanceof TriarchError))
    expect(errors).toEqual([])
  })
})
