// What every TriarchClient promises: asked of a Triarch on its store, and of a client over HTTP.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '@triarch/server'
import {
  agent,
  isTriarchError,
  type KeptEndpoint,
  PermanentError,
  type SettingHandle,
  type StoreFactory,
  TaskCancelledError,
  TaskCompensatedError,
  TaskExpiredError,
  TaskFailedError,
  type TaskHandle,
  Triarch,
  type TriarchClient,
  workflow,
  workflowRef,
} from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { z } from 'zod'
import { judged } from '../../server/test/document.ts'
import { connect } from '../src/index.ts'

const bank = agent('bank')
const charge = bank.action('charge', {
  retry: { attempts: 1 },
  rescue: 'pause',
  async run({ amount }: { amount: number }, step) {
    step.log.info('charging', { amount })
    if (amount > 1_000) throw new PermanentError('card declined')
    return { receipt: `r-${amount}` }
  },
  undo: async () => undefined,
})
const clinic = agent('clinic', {
  circuitBreaker: { failureRate: 0.5, window: '30s', open: '10s', probes: 1 },
  rateLimit: { limit: 1_000, per: '1s' },
})
clinic.action('heal', { run: async (_: null) => null })
const tokens = new Map<string, string>()
const callback = bank.action('callback', {
  async run(task: string, step, event): Promise<unknown> {
    if (event) return event.payload
    tokens.set(task, step.token)
    return step.suspend({ timeout: '1h' })
  },
})
const order = workflow('order', {
  input: z.object({ amount: z.number() }),
  output: z.object({ receipt: z.string() }),
  run: ({ amount }, task) => task.run(charge, { amount }),
})
const approval = workflow('approval', {
  signals: { decided: z.object({ by: z.string() }) },
  run: async (_: null, task) => (await task.waitForSignal('decided')).by,
})
const failing = workflow('failing', {
  rescue: 'fail',
  run: async (_: null): Promise<null> => {
    throw new PermanentError('nothing works')
  },
})
const undone = workflow('undone', {
  rescue: 'compensate',
  async run(_: null, task): Promise<null> {
    await task.run(charge, { amount: 1 })
    throw new PermanentError('too late')
  },
})
const planned = workflow('planned', {
  plan: (input: { amount: number }, plan) => plan.step(charge, input).output.receipt,
})
const parent = workflow('parent', { run: (_: null, task) => task.call(order, { amount: 1 }) })
const called = workflow('called', { run: (_: null, task) => task.run(callback, task.id) })
const locking = workflow('locking', {
  run: async (_: null, task): Promise<null> => {
    await task.lock('till')
    await task.sleep('1h')
    return null
  },
})
const workflows = [order, approval, failing, undone, planned, parent, called, locking]

export interface Place extends AsyncDisposable {
  client: TriarchClient
}

const looked = { at: new Date(5), ms: 7.5, redirects: ['https://shop.example.com/in'] }
const ill = { ...looked, status: 503, problem: { code: 'status', message: 'the status is 503' } } as const
/** What a prober has kept. */
const probed: KeptEndpoint[] = [
  {
    ...{ name: 'shop', url: 'https://shop.example.com/', state: 'down', since: new Date(6), streak: 3 },
    ...{ lateAt: new Date(8), last: ill, history: [{ ...looked, certificateUntil: new Date(9), address: '::1' }, ill] },
  },
  { name: 'shop.new', url: 'http://127.0.0.1/', state: 'unknown', since: new Date(1), streak: 0, lateAt: new Date(2) },
]

/** An engine on this store, without HTTP between. */
export async function direct(store: StoreFactory): Promise<Place> {
  const quiet = { notices: false, onError: () => undefined, statistics: { tag: 'customer' }, sweep: '500ms' } as const
  const triarch = new Triarch({ store, workflows, agents: [bank, clinic], operations: true, ...quiet })
  await triarch.start()
  await triarch.leaders.lead('idle', () => null)
  const told = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))
  await new Promise<void>((resolve) => {
    void triarch.leaders.lead('busy', async ({ signal, keepProbes }) => {
      await keepProbes(probed)
      resolve()
      return told(signal)
    })
  })
  return { client: triarch, [Symbol.asyncDispose]: () => triarch.stop({ grace: 0 }) }
}

/** The same, and a server of it that a client asks over real HTTP. */
export async function served(store: StoreFactory): Promise<Place> {
  const { client: triarch, ...place } = await direct(store)
  const server = createServer(triarch as Triarch, {
    workflows,
    onError: () => undefined,
    authenticate: ({ headers }) => (headers.get('authorization') === 'Bearer s3cret' ? { id: 'suite' } : null),
  })
  const { url } = await server.listen({ port: 0, signals: [] })
  return {
    // Whatever it answers is in the document.
    client: connect(url, {
      token: 's3cret',
      fetch: async (url, init) => judged(init.method ?? 'GET', new URL(url).pathname, await fetch(url, init)),
    }),
    async [Symbol.asyncDispose]() {
      await server.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** A SQLite file of its own. */
export async function onSqlite(open: (store: StoreFactory) => Promise<Place>): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-client-'))
  const place = await open(sqlite(join(folder, 'store.db'), { writer: 'inline' }))
  return {
    client: place.client,
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `brief`: what differs between stores, if anything does. */
export function clientSuite(name: string, open: () => Promise<Place>, { brief = false } = {}): void {
  const also: typeof it | (() => void) = brief ? () => undefined : it
  describe(`a client: ${name}`, () => {
    let place: Place
    let client: TriarchClient
    beforeAll(async () => {
      place = await open()
      client = place.client
    })
    afterAll(() => place[Symbol.asyncDispose]())

    const codeOf = (asked: Promise<unknown>) =>
      asked.then(
        () => 'none',
        (error: unknown) => (isTriarchError(error) ? error.code : error),
      )
    const becomes = (task: TaskHandle<unknown, never>, state: object) =>
      expect.poll(() => task.status()).toMatchObject(state)

    it('submits by definition and by name, with their types, and gives the output', async () => {
      const task = await client.submit(order, { amount: 7 }, { id: 'o/1 ü', tags: { customer: 'ada' }, priority: 3 })
      expect(task.id).toBe('o/1 ü')
      const output = await task.result({ timeout: '60s' })
      expectTypeOf(output).toEqualTypeOf<{ receipt: string }>()
      expect(output).toEqual({ receipt: 'r-7' })
      const named = await client.submit(workflowRef<typeof order>('order'), { amount: 8 })
      expect(await named.result()).toEqual({ receipt: 'r-8' })
      expect(await client.tasks.get('o/1 ü', order).result()).toEqual({ receipt: 'r-7' })
    })

    it('submits a list, and tells what became of each of it', async () => {
      await client.submit(order, { amount: 1 }, { id: 'of-before' })
      const large = 'x'.repeat(200_000)
      const results = await client.submitMany(order, [
        { input: { amount: 1 }, id: 'of-1', tags: { of: 'list' } },
        { input: { amount: 2 }, id: 'of-before' },
        { input: { amount: 1 }, id: 'of-before' },
        { input: { amount: 'many' as unknown as number } },
        { input: { amount: 3 }, id: 'a~b' },
        { input: { amount: 1, n: 1n } as { amount: number } },
        null as never,
        // More than fits into one request of those that one server takes.
        ...Array.from({ length: 8 }, (_, n) => ({ input: { amount: 4, large }, id: `of-large-${n}` })),
        { input: { amount: 5 }, startAt: new Date(Date.now() + 3_600_000) },
      ])
      const said = results.map((it) => (it.status === 'fulfilled' ? it.value.isNew : it.reason.code))
      const refused = ['INVALID_INPUT', 'INVALID_NAME', 'UNSERIALISABLE', 'INVALID_OPTION']
      expect(said).toEqual([true, 'TASK_EXISTS', false, ...refused, ...Array(8).fill(true), true])
      const [first] = results
      expect(first?.status === 'fulfilled' && (await first.value.result())).toEqual({ receipt: 'r-1' })
      expect(await client.submitMany(order, [])).toEqual([])
      expect(await codeOf(client.submitMany(order, 'abc' as never))).toBe('INVALID_OPTION')
      expect(await codeOf(client.submitMany(workflowRef('nothing'), [{ input: null }]))).toBe('UNKNOWN_WORKFLOW')
    })

    it('knows the same task again, and refuses another under its id', async () => {
      const options = { id: 'same' }
      expect((await client.submit(order, { amount: 1 }, options)).isNew).toBe(true)
      expect(await client.submit(order, { amount: 1 }, options)).toMatchObject({ id: 'same', isNew: false })
      expect(client.tasks.get('same').isNew).toBeUndefined()
      expect(await codeOf(client.submit(order, { amount: 2 }, options))).toBe('TASK_EXISTS')
      expect((await client.submit(order, { amount: 2 }, { ...options, ifExists: 'return' })).id).toBe('same')
      expect(await codeOf(client.submit(order, { amount: 1 }, { ...options, ifExists: 'reject' }))).toBe('TASK_EXISTS')
    })

    also('refuses what cannot be submitted, by the same codes', async () => {
      const input = { amount: 'many' } as unknown as { amount: number }
      const refused = await client.submit(order, input).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'INVALID_INPUT', details: { issues: [{ path: 'amount' }] } })
      expect(await codeOf(client.submit(workflowRef('nothing'), null))).toBe('UNKNOWN_WORKFLOW')
      expect(await codeOf(client.submit(workflowRef('failing'), { n: 1n }))).toBe('UNSERIALISABLE')
      expect(await codeOf(client.submit(failing, null, { id: 'a~b' }))).toBe('INVALID_NAME')
      expect(await codeOf(client.submit(failing, null, { priority: 1.5 }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.submit(failing, null, { startAt: 'soon' as '1s' }))).toBe('INVALID_DURATION')
      expect(await codeOf(client.submit(failing, null, { when: 1 } as object))).toBe('UNKNOWN_OPTION')
      expect(() => client.tasks.get('')).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }))
    })

    it('tells how else a task ended by the class of the error', async () => {
      const failed = await client.submit(failing, null, { id: 'failed' })
      const error = await failed.result().catch((error: unknown) => error)
      expect(error).toBeInstanceOf(TaskFailedError)
      expect(error).toMatchObject({ code: 'TASK_FAILED', taskId: 'failed', cause: { message: 'nothing works' } })
      const cancelled = await client.submit(approval, null)
      await cancelled.cancel({ compensate: false, reason: 'changed their mind' })
      await expect(cancelled.result()).rejects.toThrow(TaskCancelledError)
      await expect((await client.submit(undone, null)).result()).rejects.toThrow(TaskCompensatedError)
      const late = await client.submit(order, { amount: 1 }, { startBefore: '1ms', startAt: '10ms' })
      await expect(late.result()).rejects.toThrow(TaskExpiredError)
    })

    also('waits as long as it may, and until it is called off', async () => {
      const task = await client.submit(approval, null)
      expect(await codeOf(task.result({ timeout: '20ms' }))).toBe('WAIT_TIMEOUT')
      const stop = new AbortController()
      const waiting = codeOf(task.result({ signal: stop.signal }))
      stop.abort('enough')
      expect(await waiting).toBe('enough')
      expect(await codeOf(task.result({ signal: AbortSignal.abort('before') }))).toBe('before')
      expect(await codeOf(client.tasks.get('nobody').result())).toBe('UNKNOWN_TASK')
      await task.cancel({ compensate: false })
    })

    it('lists by options and by filter, a page at a time', async () => {
      for (const id of ['l-1', 'l-2', 'l-3'])
        await (await client.submit(order, { amount: 1 }, { id, tags: { list: 'a&b', 'x[y]': '1' } })).result()
      const options = {
        ...{ tags: { list: 'a&b', 'x[y]': '1' }, status: ['stopped' as const, 'running' as const], workflow: 'order' },
        ...{ order: 'oldest' as const, limit: 2, submittedAfter: new Date('2020-01-01') },
      }
      const page = await client.tasks.list(options)
      expect(page.tasks.map(({ id }) => id)).toEqual(['l-1', 'l-2'])
      expect(page.tasks[0]?.submittedAt).toBeInstanceOf(Date)
      const rest = await client.tasks.list({ ...options, cursor: page.next ?? '' })
      expect(rest.tasks.map(({ id }) => id)).toEqual(['l-3'])
      expect(rest.next).toBeUndefined()
      const filtered = await client.tasks.list({ filter: 'tag.list:"a&b" id:l-2' })
      expect(filtered.tasks.map(({ id }) => id)).toEqual(['l-2'])
      const refused = await client.tasks.list({ filter: 'nonsense:1' }).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'INVALID_FILTER', details: { position: expect.any(Number) } })
      expect(await codeOf(client.tasks.list({ limit: 0 }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.tasks.list({ sort: 'newest' } as object))).toBe('UNKNOWN_OPTION')
    })

    it('pauses, resumes and cancels', async () => {
      const task = await client.submit(approval, null)
      await task.pause({ reason: 'stock-taking' })
      await becomes(task, { status: 'paused', pause: { cause: 'operator', reason: 'stock-taking' } })
      await task.resume()
      await becomes(task, { status: 'running' })
      expect(await codeOf(task.resume())).toBe('TASK_NOT_PAUSED')
      await task.cancel({ compensate: false })
      await becomes(task, { status: 'stopped' })
      expect(await codeOf(task.pause())).toBe('TASK_STOPPED')
      expect(await codeOf(client.tasks.get('nobody').pause())).toBe('UNKNOWN_TASK')
    })

    it('retries, skips, compensates and thaws', async () => {
      const held = await client.submit(order, { amount: 2_000 })
      await becomes(held, { status: 'paused', steps: [{ held: 'step' }] })
      expect(await codeOf(held.retry({ step: 9 }))).toBe('ILLEGAL_MOVE')
      await held.retry({ step: 1, input: { amount: 5 } })
      expect(await held.result()).toEqual({ receipt: 'r-5' })
      await held.compensate()
      await expect(held.result()).rejects.toThrow(TaskCompensatedError)
      const skipped = await client.submit(order, { amount: 3_000 })
      await becomes(skipped, { status: 'paused' })
      await skipped.skip({ step: 1, output: { receipt: 'cash' } })
      expect(await skipped.result()).toEqual({ receipt: 'cash' })
      const ice = await client.submit(order, { amount: 1 }, { frozen: true })
      await ice.thaw()
      expect(await ice.result()).toEqual({ receipt: 'r-1' })
      expect(await codeOf(ice.thaw())).toBe('ILLEGAL_MOVE')
    })

    it('takes a task over that was exported, or finds that it has it', async () => {
      const task = await client.submit(order, { amount: 9 }, { id: 'moved' })
      await task.result()
      const file = await task.export()
      expect(file.veiled).toBe(false)
      const text = JSON.stringify(file).replaceAll('moved', 'moved-here')
      const copy = await client.tasks.import(JSON.parse(text), { reason: 'the shop moves' })
      expect(copy).toMatchObject({ id: 'moved-here', isNew: true })
      expect(await copy.result()).toEqual({ receipt: 'r-9' })
      expect((await client.tasks.import(JSON.parse(text))).isNew).toBe(false)
      expect((await client.audit.list({ subject: 'task:moved-here' })).entries).toMatchObject([
        { action: 'task.import', reason: 'the shop moves' },
      ])
      const other = { ...file, task: 'moved-here', records: [...file.records].slice(0, 1) }
      expect(await codeOf(client.tasks.import({ ...other, records: [] }))).toBe('IMPORT_REFUSED')
      expect(await codeOf(client.tasks.import({ ...file, task: 'failed' }))).toBe('TASK_EXISTS')
      expect(await codeOf(client.tasks.import(file, { when: 1 } as object))).toBe('UNKNOWN_OPTION')
    })

    it('says who asked and why, with every control', async () => {
      const why = { reason: 'the bank is back', actor: 'ada' }
      const task = await client.submit(approval, null)
      await task.pause(why)
      await becomes(task, { status: 'paused', pause: { cause: 'operator', reason: why.reason } })
      // A server that knows who asks says so itself.
      const actor = (await task.status()).pause?.actor ?? ''
      expect(['ada', 'suite']).toContain(actor)
      expect((await task.explain()).reasons).toMatchObject([{ code: 'paused', ...why, actor }])
      await task.resume(why)
      await becomes(task, { status: 'running' })
      await task.signal('decided', { by: 'ada' }, why)
      expect(await task.result()).toBe('ada')
      await task.compensate(why)
      await becomes(task, { outcome: 'compensated' })
      const gone = await client.submit(approval, null)
      await gone.cancel({ compensate: false, ...why })
      await becomes(gone, { outcome: 'cancelled' })
      const held = await client.submit(order, { amount: 3_000 })
      await becomes(held, { status: 'paused' })
      await held.retry({ step: 1, input: { amount: 5 }, ...why })
      const skipped = await client.submit(order, { amount: 3_000 })
      await becomes(skipped, { status: 'paused' })
      await skipped.skip({ step: 1, output: { receipt: 'cash' }, ...why })
      const ice = await client.submit(order, { amount: 1 }, { frozen: true })
      await ice.thaw(why)
      await Promise.all([held.result(), skipped.result(), ice.result()])
      const said = async (one: TaskHandle) =>
        (await one.history()).flatMap(({ events }) =>
          events.flatMap((event) =>
            'actor' in event && event.actor === actor && event.reason === why.reason ? [event.type] : [],
          ),
        )
      const all = await Promise.all([task, gone, held, skipped, ice].map((one) => said(one as TaskHandle)))
      expect(all.map((types) => types.join())).toEqual([
        'paused,resumed,signalReceived,closing',
        'closing',
        'stepRetried,resumed',
        'stepSkipped',
        'thawed',
      ])
      expect(await codeOf(task.pause({ by: 'ada' } as never))).toBe('UNKNOWN_OPTION')
    })

    it('signals what the workflow takes, once under a key', async () => {
      const task = await client.submit(approval, null)
      expect(await codeOf(task.signal('decided', { by: 1 } as never))).toBe('INVALID_INPUT')
      await task.once('hook "1" ü ☃').signal('decided', { by: 'ada' })
      await task.once('hook "1" ü ☃').signal('decided', { by: 'ada' })
      expect(await task.result()).toBe('ada')
      await task.once('hook "1" ü ☃').signal('decided', { by: 'ada' })
      expect(await codeOf(task.signal('decided', { by: 'ada' }))).toBe('TASK_STOPPED')
      expect(() => task.once('')).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }))
    })

    it('resumes a step by its token', async () => {
      const task = await client.submit(called, null)
      await expect.poll(() => tokens.get(task.id)).toBeDefined()
      const token = tokens.get(task.id) ?? ''
      await client.tasks.resume(token, { paid: true }, { once: 'h-1' })
      expect(await task.result()).toEqual({ paid: true })
      await client.tasks.resume(token, { paid: true }, { once: 'h-1' })
      expect(await codeOf(client.tasks.resume(token, 1))).toBe('TOKEN_SPENT')
      await client.tasks.resume(token, 1, { optional: true })
      expect(await codeOf(client.tasks.resume('xyz'))).toBe('INVALID_TOKEN')
    })

    also('watches a task until it stops', async () => {
      const task = await client.submit(approval, null)
      const seen: string[] = []
      for await (const { status, submittedAt } of task.watch()) {
        expect(submittedAt).toBeInstanceOf(Date)
        seen.push(status)
        if (status === 'running' && !seen.includes('paused')) await task.pause()
        if (status === 'paused') await task.cancel({ compensate: false })
      }
      expect(seen.slice(-2)).toEqual(['paused', 'stopped'])
      const other = await client.submit(approval, null)
      const stop = new AbortController()
      const watched = codeOf(
        (async () => {
          for await (const _ of other.watch({ signal: stop.signal })) stop.abort('seen')
        })(),
      )
      expect(await watched).toBe('seen')
    })

    also('shows steps, history, plan, children and what a task waits for', async () => {
      const task = await client.submit(planned, { amount: 4 })
      expect(await task.result()).toBe('r-4')
      const [step] = await task.steps()
      expect(step).toMatchObject({ action: 'bank.charge', status: 'success', output: { receipt: 'r-4' } })
      expect(step?.endedAt).toBeInstanceOf(Date)
      expect((await task.plan())?.steps.map(({ action }) => action)).toContain('bank.charge')
      const history = await task.history()
      expect(history[0]).toMatchObject({ seq: 1, at: expect.any(Date), events: expect.anything() })
      expect(history[0]?.events[0]).toMatchObject({ type: 'submitted', workflow: 'planned' })
      expect(history.at(-1)?.events.at(-1)).toMatchObject({ type: 'stopped', outcome: 'success' })
      const completed = history.flatMap(({ events }) => events).find(({ type }) => type === 'stepCompleted')
      expect(completed).toMatchObject({ id: 1, attempt: 1, startedAt: expect.any(Date), endedAt: expect.any(Date) })
      const { format, task: id, records } = await task.export()
      expect([format, id, records.length]).toEqual([1, task.id, history.length])
      expect(records[0]).toMatchObject({ seq: 1, at: expect.any(Number), events: expect.any(Array) })
      const asked = history.find(({ events }) => events.some(({ type }) => type === 'stepRequested'))
      const moment = await task.moment(asked?.seq)
      expect(moment).toMatchObject({ seq: asked?.seq, at: asked?.at, run: 1, status: 'running', outcome: 'pending' })
      expect(moment.events).toEqual(asked?.events)
      expect(moment.steps[0]).toMatchObject({ status: 'running', requestedAt: step?.requestedAt })
      expect(await task.moment()).toMatchObject({ last: history.length, status: 'stopped', steps: [step] })
      expect(await codeOf(task.moment(history.length + 1))).toBe('UNKNOWN_RECORD')
      expect(await codeOf(task.moment(0))).toBe('INVALID_OPTION')
      expect([await task.steps({ limit: 1 }), await task.steps({ after: step?.id ?? 0 })]).toEqual([[step], []])
      expect(await task.moment(undefined, { after: step?.id ?? 0, limit: 1 })).toMatchObject({ steps: [] })
      expect(await codeOf(task.steps({ limit: 0 }))).toMatch(/INVALID_OPTION|INVALID_REQUEST/)
      const mother = await client.submit(parent, null)
      await mother.result()
      const { tasks } = await mother.children({ status: 'stopped', step: 1 })
      expect(tasks).toMatchObject([{ workflow: 'order', parent: mother.id }])
      expect(await mother.plan()).toBeNull()
      const open = await client.submit(approval, null)
      await becomes(open, { status: 'running' })
      const { reasons, text, holds } = await open.explain()
      expect([text, holds]).toEqual([expect.any(String), []])
      expect(reasons).toMatchObject([{ code: 'signal', name: 'decided', since: expect.any(Date) }])
      for (const view of ['status', 'steps', 'moment', 'history', 'export', 'plan', 'children'] as const)
        expect(await codeOf(client.tasks.get('nobody')[view]()), view).toBe(
          view === 'children' ? 'none' : 'UNKNOWN_TASK',
        )
    })

    also('shows the log of a task, and follows it to its end', async () => {
      const task = await client.submit(order, { amount: 41 })
      await task.result()
      const { lines, ...page } = await task.logs({ step: 1, level: 'info', limit: 1 })
      expect(page).toEqual({ next: 1, last: 1, shed: 0 })
      const line = {
        seq: 1,
        level: 'info',
        message: 'charging',
        fields: { amount: 41 },
        step: 1,
        attempt: 1,
        dropped: 0,
      }
      expect(lines).toMatchObject([{ ...line, at: expect.any(Date), operation: 'run', node: expect.any(String) }])
      const heard: string[] = []
      for await (const { message } of task.watchLogs()) heard.push(message)
      expect(heard).toEqual(['charging'])
      expect(await codeOf(client.tasks.get('nobody').logs())).toBe('UNKNOWN_TASK')
      expect(await codeOf(task.logs({ limit: 0 }))).toBe('INVALID_OPTION')
    })

    also('registers schedules, changes, pauses and removes them', async () => {
      const when = {
        workflow: order,
        input: { amount: 1 },
        every: '1d',
        from: new Date('2026-01-01T06:00:00Z'),
      } as const
      const daily = client.schedules.get('daily')
      await daily.register(when)
      expect(await daily.info()).toMatchObject({
        name: 'daily',
        workflow: 'order',
        input: { amount: 1 },
        overlap: 'skip',
      })
      expect((await daily.info()).next).toBeInstanceOf(Date)
      expect((await daily.next(2)).map((at) => at.getUTCHours())).toEqual([6, 6])
      await daily.pause({ reason: 'holidays' })
      expect(await daily.info()).toMatchObject({ paused: { since: expect.any(Date), reason: 'holidays' } })
      await daily.resume()
      await daily.register({ ...when, workflow: workflowRef<typeof order>('order'), overlap: 'allow' })
      expect(await daily.info()).toMatchObject({ overlap: 'allow' })
      const from = new Date('2026-01-01T12:00:00Z')
      const ids = await daily.backfill({ from, to: new Date('2026-01-03T12:00:00Z'), overlap: 'allow' })
      expect(ids).toHaveLength(2)
      expect(await client.tasks.get(ids[0] ?? '').result()).toEqual({ receipt: 'r-1' })
      const beside = await daily.run({ overlap: 'allow', reason: 'the files came late' })
      expect(beside).toMatch(/^daily@/)
      expect(await client.tasks.get(beside).result()).toEqual({ receipt: 'r-1' })
      const weekly = { workflow: order, input: { amount: 1 }, cron: '0 3 * * 1', jitter: '1m' } as const
      await client.schedules.get('weekly').register(weekly)
      const page = await client.schedules.list({ limit: 1 })
      expect(page.schedules.map(({ name }) => name)).toEqual(['daily'])
      const rest = await client.schedules.list({ cursor: page.next ?? '' })
      expect(rest.schedules.map(({ name }) => name)).toEqual(['weekly'])
      await daily.remove()
      expect(await codeOf(daily.remove())).toBe('UNKNOWN_SCHEDULE')
      expect(await codeOf(client.schedules.get('daily').info())).toBe('UNKNOWN_SCHEDULE')
      expect(await codeOf(client.schedules.get('odd').register({ ...weekly, cron: 'x' }))).toBe('INVALID_OPTION') // biome-ignore format: one line
    })

    also('tells which nodes live, and how much there is', async () => {
      const [node] = await client.nodes.list()
      expect(node).toMatchObject({ roles: expect.arrayContaining(['scheduler']), startedAt: expect.any(Date) })
      expect(node?.runs?.workflows).toContain('order@1')
      const { tasks, stale, fenced } = await client.statistics.get()
      expect([tasks > 0, stale >= 0, fenced]).toEqual([true, true, 0])
    })

    also('tells what histories say, counted by the hour, and how far behind that is', async () => {
      await (await client.submit(order, { amount: 6 }, { tags: { customer: 'grace' } })).result()
      const grace = { by: ['workflow', 'action', 'hour'], tag: 'grace', outcome: 'success' } as const
      const found = async () => (await client.statistics.figures(grace)).rows
      await vi.waitFor(async () => expect(await found()).toHaveLength(2), { timeout: 15_000 })
      const hour = expect.any(Number)
      const [task, step] = await found()
      expect(Object.keys(task ?? {}).sort()).toEqual(
        ['workflow', 'action', 'hour', 'count', 'timed', 'mean', 'p50', 'p95', 'p99'].sort(),
      )
      expect(task).toMatchObject({ workflow: 'order', action: '', hour, count: 1, timed: 1, p99: expect.any(Number) })
      expect(step).toMatchObject({ workflow: 'order', action: 'bank.charge', hour, count: 1 })
      expect((task?.hour ?? 1) % 3_600_000).toBe(0)
      const all = await client.statistics.figures({ by: [], kind: 'task', tag: 'grace' })
      expect(all).toMatchObject({ rows: [{ count: 1 }], truncated: false, asOf: expect.any(Number) })
      expect(all.behind).toBeGreaterThanOrEqual(0)
      expect(new Date(all.asOf ?? 0).getFullYear()).toBeGreaterThan(2025)
      const recounted = async () => {
        const { rows, recount } = await client.statistics.figures(grace)
        expect([rows.map(({ count }) => count), recount]).toEqual([[1, 1], undefined])
      }
      await client.statistics.recount({ reason: 'a test', actor: 'suite' })
      expect(await client.audit.list({ action: 'statistics.recount' })).toMatchObject({
        entries: [{ actor: 'suite', subject: 'statistics:all', reason: 'a test' }],
      })
      await vi.waitFor(recounted, { timeout: 15_000 })
      expect(await codeOf(client.statistics.recount({ reason: 'x'.repeat(1_001) }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.statistics.recount({ why: 'so' } as never))).toBe('UNKNOWN_OPTION')
      const before = { ...grace, from: 0, to: Date.UTC(2020) }
      expect((await client.statistics.figures(before)).rows).toEqual([])
      expect(await codeOf(client.statistics.figures({ by: ['colour' as never] }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.statistics.figures({ by: 'hour' as never }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.statistics.figures({ kind: 'shop' as never }))).toBe('INVALID_OPTION')
      for (const wrong of [{ from: -1 }, { to: Number.NaN }, { error: 'x'.repeat(301) }])
        expect(await codeOf(client.statistics.figures(wrong)), JSON.stringify(wrong)).toBe('INVALID_OPTION')
      expect(await codeOf(client.statistics.figures({ flow: 'order' } as never))).toBe('UNKNOWN_OPTION')
    })

    also('makes kept answers invalid, and is told what makes no sense', async () => {
      for (const what of ['bank.charge', { key: 'bank.charge' }, { tag: 'x' }]) await client.caches.invalidate(what)
      await client.caches.invalidate('bank.charge', { id: 'o-1' })
      await client.caches.invalidate({ action: 'bank.charge', key: null, reason: 'it was wrong' })
      expect(await codeOf(client.caches.invalidate({ action: 'bank.charge', why: 'x' } as never))).toBe(
        'UNKNOWN_OPTION',
      )
      expect(await codeOf(client.caches.invalidate({ action: 'bank' }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.caches.invalidate('bank'))).toBe('INVALID_OPTION')
      expect(await codeOf(client.caches.invalidate(null as never))).toBe('UNKNOWN_ACTION')
    })

    also('tells what there is by name, a page at a time: workflows, agents, locks, leaders', async () => {
      const first = await client.workflows.list({ limit: 1 })
      expect(first.workflows).toMatchObject([{ name: 'approval', versions: [{ version: '1', kind: 'function' }] }])
      const { workflows, next } = await client.workflows.list({ cursor: first.next ?? '' })
      expect([workflows[0]?.name, next]).toEqual(['called', undefined])
      const [node] = await client.nodes.list()
      expect(workflows.find(({ name }) => name === 'order')?.versions[0]?.nodes).toEqual([node?.id])
      const { agents } = await client.agents.list({ limit: 100 })
      const mine = { name: 'bank', actions: ['callback', 'charge'], queue: { depth: 0 } }
      expect(agents).toContainEqual(expect.objectContaining(mine))
      const [holder, waiter] = [await client.submit(locking, null), await client.submit(locking, null)]
      const held = async () => (await client.locks.list()).locks
      await expect.poll(async () => (await held())[0]?.waiting).toBe(1)
      const [lock] = await held()
      expect(lock).toMatchObject({ name: 'till', since: expect.any(Date), next: [{ since: expect.any(Date) }] })
      expect([holder.id, waiter.id]).toContain(lock?.holder)
      expect((await client.locks.list({ cursor: 'till' })).locks).toEqual([])
      for (const task of [holder, waiter]) await task.cancel({ compensate: false })
      expect(await client.leaders.list()).toEqual({
        leaders: [
          { name: 'busy', node: node?.id, token: 1 },
          { name: 'idle', node: undefined, token: 1 },
        ],
      })
      const { agents: asked, schedulers } = await client.nodes.demand({ within: '10s' })
      expect(asked.map(({ agent }) => agent)).toEqual((await client.agents.list()).agents.map(({ name }) => name))
      expect(schedulers.every(({ has }) => has.processes === 1)).toBe(true)
      expect(await codeOf(client.nodes.demand({ within: '1ms' }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.nodes.demand({ per: '1s' } as object))).toBe('UNKNOWN_OPTION')
      for (const ask of ['workflows', 'agents', 'locks', 'leaders'] as const) {
        expect(await codeOf(client[ask].list({ limit: 101 })), ask).toBe('INVALID_OPTION')
        expect(await codeOf(client[ask].list({ after: 'x' } as object)), ask).toBe('UNKNOWN_OPTION')
      }
    })

    also('tells how the engine is, each check by itself', async () => {
      const report = await client.health.check({ checks: ['store.read', 'node'] })
      expect(report).toMatchObject({ status: 'ok', node: expect.any(String) })
      expect(report.checks.map(({ name, status }) => [name, status])).toEqual([
        ['store.read', 'ok'],
        ['node', 'ok'],
      ])
      expect([report.at, report.checks[0]?.since]).toEqual([expect.any(Date), expect.any(Date)])
      expect(await codeOf(client.health.check({ checks: ['nothing'] }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.health.check({ only: 1 } as never))).toBe('UNKNOWN_OPTION')
    })

    also(
      'tells what a prober has kept of endpoints, a page at a time, or those of some names with their history',
      async () => {
        const bare = probed.map(({ history: _, ...rest }) => rest)
        expect(await client.health.probes()).toEqual({ endpoints: bare })
        expect(await client.health.probes({ limit: 1 })).toEqual({ endpoints: [bare[0]], next: 'shop' })
        expect(await client.health.probes({ cursor: 'shop' })).toEqual({ endpoints: [bare[1]] })
        const whole = { endpoints: [probed[0]] }
        expect(await client.health.probes({ names: ['shop', 'none'], history: true })).toEqual(whole)
        expect(await client.health.probes({ names: [] })).toEqual({ endpoints: [] })
        expect(await codeOf(client.health.probes({ limit: 101, history: true }))).toBe('INVALID_OPTION')
        expect(await codeOf(client.health.probes({ names: 'shop' as never }))).toBe('INVALID_OPTION')
        expect(await codeOf(client.health.probes({ name: 'shop' } as object))).toBe('UNKNOWN_OPTION')
      },
    )

    also('shows settings, and changes them: with why and by whom, on some nodes first, and back', async () => {
      const handle = client.settings.get<{ priority: number; paused: string }>('triarch.agent.clinic')
      const why = { reason: 'a test', actor: 'suite' }
      expect(await codeOf(client.settings.get('nobody.knows').info())).toBe('UNKNOWN_SETTING')
      const first = await handle.set({ priority: 3 }, { ...why, expected: 0 })
      expect(first).toMatchObject({ revision: 1, trial: undefined, here: { value: { priority: 3 }, origin: 'store' } })
      expect(first.here?.layers).toEqual([
        { origin: 'default', value: {} },
        { origin: 'store', value: { priority: 3 } },
      ])
      expect(first.live).toEqual({ version: 1, value: { priority: 3 }, at: expect.any(Date), ...why })
      expect(await codeOf(handle.set({ priority: 4 }, { ...why, expected: 0 }))).toBe('SETTING_CHANGED')
      expect(await codeOf(handle.set({ priority: 'high' as never }, why))).toBe('INVALID_SETTING')
      expect(await codeOf(handle.set({ priority: 4 }, {} as never))).toBe('INVALID_OPTION')
      expect(await codeOf(handle.set({ priority: 4 }, { ...why, by: 'me' } as never))).toBe('UNKNOWN_OPTION')
      const guards = [{ metric: 'queue-age', agent: 'clinic', above: 60_000 } as const]
      const stages = [{ labels: { zone: 'none' }, lasts: '1h' } as const]
      const { live, trial } = await handle.change({ priority: 5 }, { ...why, stages, guards })
      expect([live?.value, trial?.value]).toEqual([{ priority: 3 }, { priority: 5 }])
      expect(trial).toMatchObject({ stage: 1, stages: 1, since: expect.any(Date), until: expect.any(Date), guards })
      expect((await handle.advance({ ...why, all: true })).live).toMatchObject({ version: 2, value: { priority: 5 } })
      expect((await handle.rollback({ ...why, to: 1 })).live?.value).toEqual({ priority: 3 })
      expect((await client.settings.list({ limit: 1_000 })).settings).toContainEqual(
        expect.objectContaining({ name: 'triarch.agent.clinic', drift: expect.any(Boolean) }),
      )
      expect((await handle.clear(why)).live).toBeUndefined()
      const { changes, next } = await handle.history({ limit: 2 })
      expect(changes.map(({ move }) => move)).toEqual(['cleared', 'rolled-back'])
      const { changes: rest } = await handle.history({ cursor: next ?? 0 })
      expect(rest.map(({ move }) => move)).toEqual(['completed', 'staged', 'set'])
      expect(rest.at(-1)).toEqual({
        revision: 1,
        move: 'set',
        version: 1,
        value: { priority: 3 },
        at: expect.any(Date),
        ...why,
      })
    })

    also('shows who has paused by settings, why and since when', async () => {
      const why = { reason: 'a test', actor: 'suite' }
      const clinics = client.settings.get<{ paused: string }>('triarch.agent.clinic')
      const orders = client.settings.get<{ paused: string; closed: string }>('triarch.workflow.locking')
      const schedules = client.settings.get('triarch.schedules')
      const said = (setting: string, name: string, reason: string) => {
        return { setting, name, reason, actor: 'suite', since: expect.any(Date) }
      }
      await clinics.set({ paused: 'no doctor' }, why)
      await orders.set({ paused: 'stocktaking', closed: 'no room' }, why)
      await schedules.set({ paused: { 'suite-*': 'closed' } }, why)
      const paused = said('triarch.workflow.locking', 'locking', 'stocktaking')
      const { agents } = await client.agents.list()
      expect(agents.find(({ name }) => name === 'clinic')?.pausedBy).toEqual(
        said('triarch.agent.clinic', 'clinic', 'no doctor'),
      )
      const { workflows } = await client.workflows.list()
      expect(workflows.find(({ name }) => name === 'locking')).toMatchObject({
        pausedBy: paused,
        closedBy: said('triarch.workflow.locking', 'locking', 'no room'),
      })
      const refused = await client.submit(workflowRef('locking'), null).catch((error) => error)
      expect(refused).toMatchObject({ code: 'SUBMISSIONS_PAUSED', details: { reason: 'no room', actor: 'suite' } })
      await orders.change({ closed: null }, why)
      const task = await client.submit(workflowRef('locking'), null, { tags: { of: 'pause' } })
      expect((await task.status()).pausedBy).toEqual([paused])
      expect((await client.tasks.list({ tags: { of: 'pause' } })).tasks).toMatchObject([
        { id: task.id, pausedBy: [paused] },
      ])
      const waits = [{ code: 'workflow-paused', of: 'locking', text: expect.stringContaining('stocktaking') }]
      expect((await task.status()).waits).toEqual(waits)
      expect((await client.tasks.list({ tags: { of: 'pause' } })).tasks).toMatchObject([{ waits }])
      expect((await task.explain()).reasons).toMatchObject([{ code: 'workflow-paused', actor: 'suite' }])
      await client.schedules
        .get('suite-nightly')
        .register({ workflow: workflowRef('locking'), input: null, every: '1d' })
      expect((await client.schedules.get('suite-nightly').info()).pausedBy).toEqual(
        said('triarch.schedules', 'suite-nightly', 'closed'),
      )
      await task.cancel()
      await client.schedules.get('suite-nightly').remove()
      for (const handle of [clinics, orders, schedules]) await (handle as SettingHandle).clear(why)
      expect((await client.agents.list()).agents.find(({ name }) => name === 'clinic')?.pausedBy).toBeUndefined()
    })

    also('lists rate limits, and changes them by hand: with why and by whom', async () => {
      await vi.waitFor(async () => expect((await client.rateLimits.list()).rateLimits).toHaveLength(1), {
        timeout: 15_000,
      })
      const { rateLimits, next } = await client.rateLimits.list({ limit: 10 })
      const limit = client.rateLimits.get('clinic')
      const own = await limit.info()
      expect([rateLimits, next]).toEqual([[own], undefined])
      const nothing = { action: undefined, key: undefined, forced: undefined, rests: undefined }
      const numbers = { limit: 1_000, per: 1_000, burst: 100 }
      expect(own).toEqual({ name: 'clinic', agent: 'clinic', ...numbers, ...nothing, waiting: 0, changes: [] })
      const until = new Date('2999-01-01T00:00:00Z')
      await limit.change({ limit: 20, per: '2s', burst: 3, until, reason: 'few doctors', actor: 'suite' })
      const forced = { lifted: false, limit: 20, per: 2_000, burst: 3, until }
      expect(await limit.info()).toMatchObject({ ...numbers, forced })
      await limit.lift({ reason: 'all are well', actor: 'suite' })
      expect((await limit.info()).forced).toEqual({ lifted: true, limit: 0, per: 0, burst: 0, until: undefined })
      await limit.restore({ reason: 'as ever', actor: 'suite' })
      const { forced: none, changes } = await limit.info()
      expect([none, changes.map(({ did }) => did)]).toEqual([undefined, ['changed', 'lifted', 'restored']])
      expect(changes[0]).toEqual({ did: 'changed', actor: 'suite', reason: 'few doctors', at: expect.any(Date) })
      expect((await client.rateLimits.list({ cursor: 'clinic' })).rateLimits).toEqual([])
      expect(await codeOf(client.rateLimits.get('nobody').info())).toBe('UNKNOWN_RATE_LIMIT')
      expect(await codeOf(client.rateLimits.get('a#/? ü').restore({ reason: 'x' }))).toBe('UNKNOWN_RATE_LIMIT')
      expect(await codeOf(limit.restore({} as never))).toBe('INVALID_OPTION')
      expect(await codeOf(limit.lift({ reason: 'x', until: 'soon' as never }))).toBe('INVALID_OPTION')
      expect(await codeOf(limit.lift({ reason: 'x', by: 'me' } as never))).toBe('UNKNOWN_OPTION')
      expect(await codeOf(client.rateLimits.list({ limit: 0 }))).toBe('INVALID_OPTION')
      expect(() => client.rateLimits.get('x'.repeat(301))).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    })

    also('lists circuit breakers, and changes them by hand: with why and by whom', async () => {
      const { breakers, next } = await client.breakers.list({ limit: 10 })
      expect([breakers.map(({ name }) => name), next]).toEqual([['clinic'], undefined])
      const breaker = client.breakers.get('clinic')
      const closed = await breaker.info()
      expect(closed).toEqual(breakers[0])
      expect(closed).toMatchObject({ agent: 'clinic', state: 'closed', key: undefined, since: expect.any(Date) })
      const until = new Date('2999-01-01T00:00:00Z')
      await breaker.open({ reason: 'closed for lunch', actor: 'suite', until })
      const open = await breaker.info()
      expect(open).toMatchObject({ state: 'open', nextProbe: until })
      const said = { from: 'closed', to: 'open', actor: 'suite', reason: 'closed for lunch', at: expect.any(Date) }
      expect(open.changes.at(-1)).toEqual(said)
      await breaker.close({ reason: 'back', actor: 'suite' })
      expect((await breaker.info()).state).not.toBe('open')
      await breaker.reset({ reason: 'new staff', actor: 'suite' })
      // What waits goes out in waves first, and a node finds that nothing does.
      const well = async () => expect(await breaker.info()).toMatchObject({ state: 'closed', nextProbe: undefined })
      await vi.waitFor(well, { timeout: 15_000 })
      expect((await client.breakers.list({ cursor: 'clinic' })).breakers).toEqual([])
      expect(await codeOf(client.breakers.get('nobody').info())).toBe('UNKNOWN_BREAKER')
      expect(await codeOf(client.breakers.get('a#/? ü').open({ reason: 'x' }))).toBe('UNKNOWN_BREAKER')
      expect(await codeOf(breaker.close({} as never))).toBe('INVALID_OPTION')
      expect(await codeOf(breaker.open({ reason: 'x', until: 'soon' as never }))).toBe('INVALID_OPTION')
      expect(await codeOf(breaker.open({ reason: 'x', by: 'me' } as never))).toBe('UNKNOWN_OPTION')
      expect(await codeOf(client.breakers.list({ limit: 0 }))).toBe('INVALID_OPTION')
      expect(() => client.breakers.get('x'.repeat(301))).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    })

    also('counts what fits, and asks one thing of no more than was confirmed', async () => {
      const desk = async (n: number) => client.submit(approval, null, { id: `desk-${n}`, tags: { desk: '9' } })
      for (const n of [1, 2, 3]) await desk(n)
      const filter = 'tag.desk:9 -status:stopped'
      expect(await client.tasks.count({ filter })).toEqual({ count: 3 })
      expect(await client.tasks.count({ filter, most: 2 })).toEqual({ count: 2, truncated: true })
      const all = { filter, action: 'cancel', options: { compensate: false } } as const
      expect(await codeOf(client.tasks.operate({ ...all, confirm: 2 }))).toBe('MORE_THAN_CONFIRMED')
      const ordered = { ...all, confirm: 3, reason: 'closed', actor: 'suite' }
      const operation = await client.tasks.operate(ordered, { id: 'desk-op' })
      expect([operation.id, operation.isNew]).toEqual(['desk-op', true])
      expect(await operation.result()).toEqual({ ...ordered, matched: 3, done: 3, failed: 0 })
      expect(await client.tasks.operate(ordered, { id: 'desk-op' })).toMatchObject({ isNew: false })
      expect(await codeOf(client.tasks.operate({ ...ordered, reason: 'other' }, { id: 'desk-op' }))).toBe('TASK_EXISTS')
      expect((await operation.children()).tasks).toHaveLength(3)
      expect(await client.tasks.count({ filter })).toEqual({ count: 0 })
      expect(await codeOf(client.tasks.count({ filter: 'x:1' }))).toBe('INVALID_FILTER')
      expect(await codeOf(client.tasks.count({ most: 0 }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.tasks.count({ filters: '' } as object))).toBe('UNKNOWN_OPTION')
      expect(await codeOf(client.tasks.operate({ ...all, confirm: 0 }))).toBe('INVALID_OPTION')
      expect(await codeOf(client.tasks.operate({ ...all, confirm: 1, dry: true } as never))).toBe('UNKNOWN_OPTION')
    })

    also('watches a list, what comes into it, changes in it and leaves it, until it is called off', async () => {
      const tags = { watched: 'yes' }
      const first = await client.submit(approval, null, { id: 'w-1', tags })
      await becomes(first, { status: 'running' })
      const stop = new AbortController()
      const options = { filter: 'tag.watched:yes -status:stopped', limit: 10, signal: stop.signal }
      const seen: string[] = []
      const watched = codeOf(
        (async () => {
          for await (const change of client.tasks.watch(options)) {
            const { type } = change
            const id = type === 'task' ? change.task.id : type === 'gone' ? change.id : ''
            if (type === 'task') expect(change.task.submittedAt).toBeInstanceOf(Date)
            if (type === 'page') expect(change.tasks).toMatchObject([{ id: 'w-1', submittedAt: expect.any(Date) }])
            if (type === 'page') await client.submit(approval, null, { id: 'w-2', tags })
            if (type === 'task' && id === 'w-2' && !seen.includes('task w-2')) await first.cancel({ compensate: false })
            seen.push(`${type} ${id}`.trim())
            if (type === 'gone') stop.abort('seen')
          }
        })(),
      )
      expect(await watched).toBe('seen')
      expect([seen[0], seen.at(-1)]).toEqual(['page', 'gone w-1'])
      expect(seen).toContain('task w-2')
      for await (const { type } of client.tasks.watch({ filter: 'id:w-2', quiet: '30ms' })) if (type === 'quiet') break
      await client.tasks.get('w-2').cancel({ compensate: false })
      const begun = (given: object) => codeOf(client.tasks.watch(given).next())
      expect(await begun({ filter: 'nonsense:1' })).toBe('INVALID_FILTER')
      expect(await begun({ limit: 201 })).toBe('INVALID_OPTION')
      expect(await begun({ quiet: 'soon' })).toBe('INVALID_DURATION')
      expect(await begun({ quiet: 0 })).toBe('INVALID_DURATION')
      expect(await begun({ every: '1s' })).toBe('UNKNOWN_OPTION')
      expect(await begun({ signal: 'now' })).toBe('INVALID_OPTION')
      expect(await begun({ signal: AbortSignal.abort('before') })).toBe('before')
    })

    also('watches how much there is', async () => {
      let tasks = -1
      for await (const change of client.statistics.watch({ quiet: '30ms' })) {
        if (change.type !== 'counts') continue
        if (tasks >= 0) expect(change.counts.tasks).toBeGreaterThan(tasks)
        if (tasks >= 0) break
        tasks = change.counts.tasks
        await client.submit(failing, null)
      }
    })
  })
}
