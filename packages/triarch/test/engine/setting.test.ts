import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { KnownSetting } from '../../src/definition/setting.ts'
import { agent, type FairTask, type StandardSchema, setting, Triarch, TriarchError, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { memory, VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, eventsOf, type Stage, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

interface Limits {
  perNode: number
  note: string
}

/** Numbers from 1 to 100. */
const schema: StandardSchema<Limits, Limits> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const { perNode, note } = value as Limits
      const fine = Number.isInteger(perNode) && perNode >= 1 && perNode <= 100 && typeof note === 'string'
      return fine ? { value: value as Limits } : { issues: [{ message: 'must be from 1 to 100', path: ['perNode'] }] }
    },
  },
}
const anything = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const
const defaults: Limits = { perNode: 10, note: 'as in the code' }
const why = { reason: 'a test', actor: 'ada' }

describe('a setting', () => {
  it('is what the code says, over it the environment, over that the store, and says which for each property', async () => {
    const variables = { TRIARCH_SETTING_SHOP_LIMITS__PER_NODE: '20', TRIARCH_SETTING_SHOP_LIMITS: '{"note":"here"}' }
    const known = new KnownSetting<Limits>('shop.limits', schema, defaults, variables)
    expect(known.value).toEqual({ perNode: 20, note: 'here' })
    expect(known.origins).toEqual({ perNode: 'environment', note: 'environment' })
    expect(() => (known.value as { perNode: number }).perNode++).toThrow()
    await using s = await stage({ settings: [known] })
    const { here } = await s.engine.triarch.settings.get(known).set({ perNode: 30 }, why)
    expect(known.value).toEqual({ perNode: 30, note: 'here' })
    expect(here).toMatchObject({ origin: 'store', version: 1, origins: { perNode: 'store', note: 'environment' } })
    expect(here?.layers).toEqual([
      { origin: 'default', value: defaults },
      { origin: 'environment', value: { perNode: 20, note: 'here' } },
      { origin: 'store', value: { perNode: 30 } },
    ])
    await s.engine.triarch.settings.get(known).clear(why)
    expect([known.value.perNode, known.version, known.origin]).toEqual([20, 0, 'environment'])
  })

  it('is refused where it is defined, if the environment makes no sense', () => {
    const bad = (variables: Record<string, string>) =>
      codeOf(Promise.resolve().then(() => new KnownSetting('shop.limits', schema, defaults, variables)))
    expect.assertions(2)
    return Promise.all([
      expect(bad({ TRIARCH_SETTING_SHOP_LIMITS: '{' })).resolves.toBe('INVALID_SETTING'),
      expect(bad({ TRIARCH_SETTING_SHOP_LIMITS__PER_NODE: '1000' })).resolves.toBe('INVALID_SETTING'),
    ])
  })

  it('is refused where it is defined, if an environment variable names a property that it does not have', async () => {
    const made = (of: unknown, variables: Record<string, string>) =>
      codeOf(Promise.resolve().then(() => new KnownSetting('shop.limits', anything, of, variables)))
    const misspelt = { TRIARCH_SETTING_SHOP_LIMITS__PER_NDOE: '20' }
    expect(await made(defaults, misspelt)).toBe('INVALID_SETTING')
    expect(await made(7, misspelt)).toBe('INVALID_SETTING')
    expect(await made(defaults, { TRIARCH_SETTING_SHOP_LIMITS__NOTE: 'x', TRIARCH_SETTING_SHOP: '1' })).toBe('nothing')
    const why = /TRIARCH_SETTING_SHOP_LIMITS__PER_NDOE names no property .* TRIARCH_SETTING_SHOP_LIMITS__PER_NODE/
    expect(() => new KnownSetting('shop.limits', anything, defaults, misspelt)).toThrow(why)
  })

  it('is checked before it is stored, and a write that knows an old revision is refused', async () => {
    const limits = setting('shop.limits', schema, defaults)
    await using s = await stage({ settings: [limits] })
    const handle = s.engine.triarch.settings.get(limits)
    expect(await codeOf(handle.set({ perNode: 0 }, why))).toBe('INVALID_SETTING')
    expect(await codeOf(s.engine.triarch.settings.get('shop.unknown').set(1, why))).toBe('UNKNOWN_SETTING')
    expect(await codeOf(s.engine.triarch.settings.get('shop.unknown').info())).toBe('UNKNOWN_SETTING')
    expect(await codeOf(handle.set({ perNode: 5 }, { reason: '' }))).toBe('INVALID_OPTION')
    const { revision } = await handle.set({ perNode: 5 }, { ...why, expected: 0 })
    expect(revision).toBe(1)
    expect(await codeOf(handle.set({ perNode: 6 }, { ...why, expected: 0 }))).toBe('SETTING_CHANGED')
    expect(limits.value.perNode).toBe(5)
    expect((await handle.history()).changes).toHaveLength(1)
  })

  it('keeps every version with who, when and why, and goes back to each of them', async () => {
    const limits = setting('shop.limits', schema, defaults)
    await using s = await stage({ settings: [limits] })
    const handle = s.engine.triarch.settings.get(limits)
    await handle.set({ perNode: 5 }, why)
    await handle.change({ note: 'n' }, { reason: 'more' })
    await handle.change({ perNode: null }, why)
    expect(limits.value).toEqual({ perNode: 10, note: 'n' })
    await handle.rollback(why)
    expect(limits.value).toEqual({ perNode: 5, note: 'n' })
    await handle.rollback({ ...why, to: 1 })
    expect(limits.value).toEqual({ perNode: 5, note: defaults.note })
    expect(await codeOf(handle.rollback({ ...why, to: 77 }))).toBe('UNKNOWN_SETTING')
    const { changes, next } = await handle.history({ limit: 4 })
    expect(changes.map(({ revision, move, actor, reason }) => [revision, move, actor, reason])).toEqual([
      [5, 'rolled-back', 'ada', 'a test'],
      [4, 'rolled-back', 'ada', 'a test'],
      [3, 'set', 'ada', 'a test'],
      [2, 'set', 'operator', 'more'],
    ])
    const rest = await handle.history({ cursor: next as number })
    expect(rest).toMatchObject({ changes: [{ revision: 1, value: { perNode: 5 } }] })
    const { settings } = await s.engine.triarch.settings.list()
    expect(settings.map(({ name, revision }) => [name, revision])).toEqual([
      ['shop.limits', 5],
      ['triarch.engine', 0],
      ['triarch.schedules', 0],
    ])
  })

  it('tells telemetry of each change, and nodes say which version they run', async () => {
    const heard: unknown[] = []
    const limits = setting('shop.limits', schema, defaults)
    const telemetry = { setting: (event: unknown) => void heard.push(event) }
    await using s = await stage({ settings: [limits], telemetry, labels: { zone: 'eu' } })
    await s.engine.triarch.settings.get(limits).set({ perNode: 5 }, why)
    await s.settle()
    expect(heard).toMatchObject([{ setting: 'shop.limits', version: 1, origin: 'store' }])
    const [node] = await s.engine.triarch.nodes.list()
    expect(node).toMatchObject({ labels: { zone: 'eu' }, settings: { 'shop.limits': 1 } })
    const { drift, nodes } = await s.engine.triarch.settings.get(limits).info()
    expect([drift, nodes]).toEqual([false, [{ id: node?.id, version: 1, expected: 1 }]])
  })

  it('reaches every node within a second, with the options as they are where stores tell nobody', async () => {
    const file = scratch()
    const environment = new VirtualEnvironment()
    const nodes: Stage[] = []
    for (let n = 0; n < 3; n++) {
      const limits = setting('shop.limits', schema, defaults)
      nodes.push(await stage({ store: file.store, environment, settings: [limits], poll: '25ms' }))
    }
    const [one] = nodes as [Stage]
    await one.engine.triarch.settings.get('shop.limits').set({ perNode: 5 }, why)
    await one.advance('1s')
    const { nodes: all, drift } = await one.engine.triarch.settings.get('shop.limits').info()
    expect([all.map(({ version }) => version), drift]).toEqual([[1, 1, 1], false])
    for (const node of nodes) await node.leave()
    file[Symbol.dispose]()
  })

  it('that a node cannot run leaves the value that was good, raises an alert and shows as drift', async () => {
    const limits = setting('shop.limits', schema, defaults)
    await using s = await stage({ settings: [limits] })
    const handle = s.engine.triarch.settings.get(limits)
    await handle.set({ perNode: 5 }, why)
    const live = { version: 2, value: { perNode: 'many' }, at: 1, by: 'old', reason: 'older code' }
    const state = JSON.stringify({ format: 1, state: { live, trial: null }, by: 'x' })
    await s.store.writeSetting({ name: 'shop.limits', expected: 1, at: 1, state, change: '{}' })
    await s.advance('2h')
    expect(limits.value.perNode).toBe(5)
    expect(s.alerts).toMatchObject([{ code: 'SETTING_REFUSED' }])
    expect((await handle.info()).drift).toBe(true)
  })

  it('that cannot be read here, for a newer version wrote it, leaves the value that was good, also a pause', async () => {
    const { calls, pay, order } = bank()
    await using s = await stage({ workflows: [order], agents: [pay] })
    const handle = s.engine.triarch.settings.get('triarch.agent.bank')
    await handle.set({ paused: 'the bank is down' }, why)
    await s.store.writeSetting({ name: handle.name, expected: 1, at: 1, state: '{"format":9}', change: '{}' })
    await s.submit(order, null)
    await s.advance('2h')
    expect(calls).toHaveLength(0)
    expect(s.alerts).toMatchObject([{ code: 'SETTING_REFUSED', message: expect.stringContaining('cannot be read') }])
    // What is not known cannot be gone on from.
    expect(await codeOf(handle.change({ concurrency: 3 }, why))).toBe('INVALID_SETTING')
    await handle.set({}, why)
    await s.settle()
    expect(calls).toHaveLength(1)
    calls[0]?.()
  })
})

describe('a process that cannot reach the store', () => {
  it('has the last good values from its file, says so, and takes the store’s as soon as it answers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-setting-'))
    try {
      const settingsFile = join(folder, 'settings.json')
      const first = setting('shop.limits', schema, defaults)
      await using s = await stage({ settings: [first], settingsFile })
      await s.engine.triarch.settings.get(first).set({ perNode: 5 }, why)
      const out = () => {
        throw new TriarchError('STORE_UNAVAILABLE', 'cut')
      }
      const limits = setting('shop.limits', schema, defaults)
      const store = { open: async () => out(), close: async () => undefined } as never
      const alone = new Triarch({ store: () => store, settings: [limits], settingsFile, onError: () => undefined })
      const alerts: string[] = []
      alone.on('alert', ({ code }) => void alerts.push(code))
      expect([limits.value.perNode, limits.version, limits.origins]).toEqual([
        5,
        1,
        { perNode: 'file', note: 'default' },
      ])
      expect(await codeOf(alone.start())).toBe('STORE_UNAVAILABLE')
      expect(limits.value.perNode).toBe(5)
      expect(alerts).toEqual(['SETTINGS_RECALLED'])
      await using again = await stage({ store: memory(), settings: [limits], settingsFile })
      expect([limits.value.perNode, limits.origin]).toEqual([10, 'default'])
      expect(again.errors).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('does not believe a file that was changed, or is too large', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-setting-'))
    try {
      const settingsFile = join(folder, 'settings.json')
      const limits = setting('shop.limits', schema, defaults)
      await using s = await stage({ settings: [limits], settingsFile })
      await s.engine.triarch.settings.get(limits).set({ perNode: 5 }, why)
      const text = readFileSync(settingsFile, 'utf8')
      const codes: unknown[] = []
      for (const bad of [text.replace('5', '6'), text.slice(1), 'x'.repeat(4 * 1024 * 1024 + 1)]) {
        writeFileSync(settingsFile, bad)
        const other = setting('shop.limits', schema, defaults)
        const onError = (error: unknown) => void codes.push((error as TriarchError).code)
        new Triarch({ store: memory(), settings: [other], settingsFile, onError })
        expect(other.value.perNode).toBe(10)
      }
      await new Promise((resolve) => setImmediate(resolve))
      expect(codes).toEqual(['INVALID_SETTING', 'INVALID_SETTING', 'INVALID_SETTING'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('goes on where nothing can be kept in the folder, and says so', async () => {
    const limits = setting('shop.limits', schema, defaults)
    const said: unknown[] = []
    const onError = ({ code, message }: TriarchError) => void said.push([code, message.split(' ').at(-1)])
    await using s = await stage({
      settings: [limits],
      settingsFile: '/dev/null/settings.json',
      onError: onError as never,
    })
    await s.engine.triarch.settings.get(limits).set({ perNode: 5 }, why)
    expect(limits.value.perNode).toBe(5)
    await new Promise((resolve) => setImmediate(resolve))
    expect(said).toEqual([
      ['INVALID_SETTING', 'read'],
      ['INVALID_SETTING', 'machine'],
    ])
  })
})

/** A service that does what it does when it is told to. */
function bank(policy?: Parameters<typeof agent>[1]) {
  const calls: (() => void)[] = []
  const pay = agent('bank', { concurrency: 10, ...policy })
  const charge = pay.action('charge', { run: () => new Promise<void>((resolve) => void calls.push(resolve)) })
  const order = workflow('order', { run: (_: null, task) => task.run(charge) })
  return { calls, pay, charge, order }
}

function raises(text: string): never {
  throw new Error(text)
}

describe('the engine’s own settings', () => {
  it('change the concurrency of an agent: what runs goes on, and no more begins than it says', async () => {
    const { calls, pay, order } = bank()
    await using s = await stage({ workflows: [order], agents: [pay] })
    const tasks = await Promise.all(Array.from({ length: 12 }, () => s.submit(order, null)))
    await s.settle()
    expect(calls).toHaveLength(10)
    const handle = s.engine.triarch.settings.get('triarch.agent.bank')
    await handle.set({ concurrency: 2 }, why)
    for (const done of calls.splice(0, 9)) done()
    await s.advance('1s')
    expect(calls).toHaveLength(2)
    await handle.clear(why)
    await s.advance('1s')
    expect(calls).toHaveLength(3)
    for (const done of calls) done()
    await s.advance('1s')
    for (const task of tasks) expect((await task.status()).outcome).toBe('success')
  })

  it('are the bound that agents() shows of a node, while they hold', async () => {
    const { pay, order } = bank()
    await using s = await stage({ workflows: [order], agents: [pay], lease: '6s' })
    const slots = async () => (await s.engine.triarch.agents.list()).agents[0]?.nodes.map((node) => node.slots)
    expect(await slots()).toEqual([10])
    const handle = s.engine.triarch.settings.get('triarch.agent.bank')
    await handle.set({ concurrency: 2 }, why)
    await s.advance('1m')
    expect(await slots()).toEqual([2])
    await handle.clear(why)
    await s.advance('1m')
    expect(await slots()).toEqual([10])
  })

  it('pause an agent: nothing begins, explain says why, no attempt is spent, and all goes on after it', async () => {
    const { calls, pay, order } = bank()
    await using s = await stage({ workflows: [order], agents: [pay] })
    const runs = await s.submit(order, null)
    await s.settle()
    const handle = s.engine.triarch.settings.get('triarch.agent.bank')
    await handle.change({ paused: 'the bank is down' }, why)
    const waits = await s.submit(order, null)
    await s.advance('20s')
    expect(calls).toHaveLength(1)
    calls[0]?.()
    await s.settle()
    expect((await runs.status()).outcome).toBe('success')
    const { text, reasons } = await waits.explain()
    expect(reasons).toMatchObject([{ code: 'agent-paused', agent: 'bank', reason: 'the bank is down', actor: 'ada' }])
    expect(text).toContain('by ada: the bank is down')
    await handle.change({ paused: null }, why)
    await s.settle()
    calls[1]?.()
    await s.settle()
    expect((await waits.status()).outcome).toBe('success')
  })

  it('pause an agent also on a node that hears of it while it stops: what it had let begin does not', async () => {
    const { calls, pay, order } = bank()
    const [committed, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let holds = false
    const held = seen(memory(), (store) => ({
      async commit(batch) {
        const outcomes = await store.commit(batch)
        if (holds) await committed.promise
        return outcomes
      },
      async settings(query) {
        const rows = await store.settings(query)
        if (holds && 'after' in query) await read.promise
        return rows
      },
    }))
    const s = await stage({ workflows: [order], agents: [pay], store: held })
    holds = true
    const submitted = s.submit(order, null)
    void s.engine.triarch.settings.get('triarch.agent.bank').change({ paused: 'the bank is down' }, why)
    await s.settle()
    const stopped = s.engine.stop({ grace: '10s' })
    await s.settle()
    read.resolve()
    await s.settle()
    committed.resolve()
    await Promise.all([submitted, stopped])
    expect(calls).toEqual([])
    expect(s.errors).toEqual([])
  })

  it('pause a workflow: its tasks wait, and can be cancelled', async () => {
    const { calls, pay, order } = bank()
    await using s = await stage({ workflows: [order], agents: [pay] })
    const handle = s.engine.triarch.settings.get('triarch.workflow.order')
    await handle.set({ paused: 'stocktaking' }, why)
    const [waits, gone] = [await s.submit(order, null), await s.submit(order, null)]
    await s.advance('1h')
    expect(calls).toHaveLength(0)
    expect((await waits.explain()).reasons).toMatchObject([{ code: 'workflow-paused', reason: 'stocktaking' }])
    await gone.cancel()
    await s.advance('2h')
    expect((await gone.status()).outcome).toBe('cancelled')
    await handle.clear(why)
    await s.settle()
    calls[0]?.()
    await s.settle()
    expect((await waits.status()).outcome).toBe('success')
  })

  it('refuse submissions with a reason, of one workflow or of all', async () => {
    const { pay, order } = bank()
    const other = workflow('other', { run: async () => null })
    await using s = await stage({ workflows: [order, other], agents: [pay] })
    await s.engine.triarch.settings.get('triarch.workflow.order').set({ closed: 'no stock' }, why)
    const refused = await s.submit(order, null).catch((error) => error)
    expect(refused).toMatchObject({ code: 'SUBMISSIONS_PAUSED', details: { reason: 'no stock' } })
    await s.submit(other, null)
    await s.engine.triarch.settings.get('triarch.engine').set({ closed: 'maintenance' }, why)
    expect(await codeOf(s.submit(other, null))).toBe('SUBMISSIONS_PAUSED')
    await s.engine.triarch.settings.get('triarch.engine').clear(why)
    await s.submit(other, null)
  })

  it('pause a group of schedules, and no other', async () => {
    const started: string[] = []
    const run = workflow('run', { run: async (name: string) => void started.push(name) })
    await using s = await stage({ workflows: [run], sweep: '1s', poll: '1s' })
    const { triarch } = s.engine
    for (const name of ['billing-a', 'billing-b', 'report'])
      await triarch.schedules.get(name).register({ workflow: run, input: name, every: '1m' })
    await triarch.settings.get('triarch.schedules').set({ paused: { 'billing-*': 'the books are closed' } }, why)
    await s.advance('5m')
    expect(new Set(started)).toEqual(new Set(['report']))
    await triarch.settings.get('triarch.schedules').clear(why)
    await s.advance('2m')
    expect(new Set(started)).toEqual(new Set(['report', 'billing-a', 'billing-b']))
  })

  it('change timeouts and retries of steps that are asked for from then on', async () => {
    let attempts = 0
    const pay = agent('bank')
    const charge = pay.action('charge', {
      retry: { attempts: 9, backoff: { initial: '1s', max: '1s' } },
      run: () => {
        attempts++
        throw new Error('ill')
      },
    })
    const order = workflow('order', { run: (_: null, task) => task.run(charge, undefined, { rescue: 'fail' }) })
    await using s = await stage({ workflows: [order], agents: [pay] })
    const before = await s.submit(order, null)
    await s.settle()
    await s.engine.triarch.settings
      .get('triarch.agent.bank')
      .set({ actions: { charge: { retry: { attempts: 2 } } } }, why)
    const after = await s.submit(order, null)
    await s.advance('1m')
    expect(attempts).toBe(11)
    for (const task of [before, after]) expect((await task.status()).status).toBe('stopped')
    await s.engine.triarch.settings.get('triarch.agent.bank').clear(why)
  })

  it('follow what the code makes of a setting, and an operator’s word comes over it', async () => {
    const limits = setting('shop.limits', schema, defaults)
    const { calls, pay, order } = bank({ policy: limits.as(({ perNode }) => ({ concurrency: perNode })) })
    await using s = await stage({ workflows: [order], agents: [pay] })
    await s.engine.triarch.settings.get(limits).set({ perNode: 3 }, why)
    for (let n = 0; n < 8; n++) await s.submit(order, null)
    await s.settle()
    expect(calls).toHaveLength(3)
    await s.engine.triarch.settings.get('triarch.agent.bank').set({ concurrency: 5 }, why)
    await s.settle()
    expect(calls).toHaveLength(5)
    expect(await codeOf(s.engine.triarch.settings.get('triarch.agent.bank').set({ concurrency: 0 }, why))).toBe(
      'INVALID_SETTING',
    )
    await s.engine.triarch.settings.get('triarch.agent.bank').clear(why)
    for (let round = 0; round < 9; round++) {
      for (const done of calls.splice(0)) done()
      await s.settle()
    }
  })

  it.each<[string, (value: Limits) => object]>([
    ['throws', () => raises('no idea')],
    ['answers later, and then rejects', () => Promise.reject(new Error('no idea'))],
    ['gives what makes no sense', () => ({ paused: 17 })],
  ])(
    'leave what the code made of a setting as it was, where it %s now: what was paused is so still',
    async (_, senseless) => {
      const limits = setting('shop.limits', schema, defaults)
      const follow = limits.as((value) => (value.perNode > 50 ? (senseless(value) as object) : { paused: value.note }))
      const { calls, pay } = bank({ policy: follow })
      const charge = pay.actions.get('charge') as never
      const order = workflow('order', { run: (_: null, task) => task.run(charge) })
      const closed = workflow('closed', { policy: follow, run: async () => null })
      await using s = await stage({ workflows: [order, closed], agents: [pay] })
      await s.engine.triarch.settings.get(limits).set({ note: 'the bank is down' }, why)
      await s.engine.triarch.settings.get(limits).set({ perNode: 60, note: 'odd' }, why)
      const [step, line] = [await s.submit(order, null), await s.submit(closed, undefined)]
      await s.advance('5s')
      expect(calls).toHaveLength(0)
      expect((await step.explain()).reasons).toMatchObject([{ code: 'agent-paused', reason: 'the bank is down' }])
      expect((await line.explain()).reasons).toMatchObject([{ code: 'workflow-paused', reason: 'the bank is down' }])
      const refused = s.alerts.filter(({ code }) => code === 'SETTING_REFUSED').map(({ message }) => message)
      expect(refused).toEqual([
        expect.stringMatching(/^the policy of agent "bank" makes no sense, and stays as it was: /),
        expect.stringMatching(/^the policy of workflow "closed" makes no sense, and stays as it was: /),
      ])
      await line.cancel()
      await s.kill()
    },
  )

  it('follow what the code of a workflow alone makes of a setting: its submissions are refused, its tasks wait', async () => {
    const limits = setting('shop.limits', schema, defaults)
    const follow = limits.as(({ note }) => (note === 'shut' ? { closed: note, paused: note } : {}))
    const shop = workflow('shop', { policy: follow, run: async () => 'done' })
    const other = workflow('other', { run: async () => 'done' })
    await using s = await stage({ workflows: [shop, other], settings: [limits] })
    const before = await s.submit(shop, undefined, { startAt: '10s' })
    await s.engine.triarch.settings.get(limits).set({ note: 'shut' }, why)
    const refused: TriarchError = await s.submit(shop, undefined).catch((error) => error)
    const since = new Date(await s.store.now()).toISOString()
    expect(refused).toMatchObject({
      code: 'SUBMISSIONS_PAUSED',
      message: expect.stringContaining('by ada: shut'),
      details: { reason: 'shut', actor: 'ada', since, setting: 'shop.limits' },
    })
    const free = await s.submit(other, undefined)
    await s.advance('1m')
    expect(await free.status()).toMatchObject({ outcome: 'success' })
    expect((await before.explain()).reasons).toMatchObject([
      { code: 'workflow-paused', workflow: 'shop', actor: 'ada' },
    ])
    // An operator’s word comes over what the code makes of it.
    await s.engine.triarch.settings
      .get('triarch.workflow.shop')
      .set({ paused: 'stocktaking' }, { ...why, actor: 'bob' })
    await s.advance('1s')
    expect((await before.explain()).reasons).toMatchObject([
      { code: 'workflow-paused', reason: 'stocktaking', actor: 'bob' },
    ])
    await s.engine.triarch.settings.get('triarch.workflow.shop').clear(why)
    await s.engine.triarch.settings.get(limits).set({ note: 'open' }, why)
    await s.advance('1s')
    expect(await before.status()).toMatchObject({ outcome: 'success' })
    expect(await codeOf(s.submit(shop, undefined))).toBe('nothing')
  })

  it('say who closed a workflow also while that is on trial, and that nobody did where the code alone makes it so', async () => {
    const limits = setting('shop.limits', schema, { ...defaults, note: 'not open yet' })
    const shop = workflow('shop', { policy: limits.as(({ note }) => ({ closed: note })), run: async () => 'done' })
    await using s = await stage({ workflows: [shop], settings: [limits] })
    const refused = () => s.submit(shop, undefined).catch((error) => error)
    expect(await refused()).toMatchObject({
      message: 'submissions of workflow "shop" are paused by code: not open yet',
      details: { reason: 'not open yet', actor: 'code', setting: 'shop.limits' },
    })
    const rollout = { stages: [{ share: 1 }], ...why }
    await s.engine.triarch.settings.get('triarch.workflow.shop').set({ closed: 'stocktaking' }, rollout)
    await s.advance('1s')
    expect(await refused()).toMatchObject({ details: { reason: 'stocktaking', actor: 'ada' } })
  })

  it('change the weights of tenants in an agent’s queue and in the line of tasks, from what is queued then on', async () => {
    const fairness = { key: ({ tags }: FairTask) => tags.of ?? '' }
    const ran: string[] = []
    const pay = agent('bank', { concurrency: 1, fairness })
    const gates: (() => void)[] = []
    const charge = pay.action('charge', {
      run: (of: string) => {
        ran.push(of)
        return new Promise<void>((resolve) => void gates.push(resolve))
      },
    })
    const order = workflow('order', { run: (of: string, task) => task.run(charge, of) })
    await using s = await stage({ workflows: [order], agents: [pay], fairness })
    const handle = s.engine.triarch.settings.get('triarch.agent.bank')
    expect(await codeOf(handle.set({ weights: { gold: 1_000 } }, why))).toBe('INVALID_SETTING')
    await handle.set({ weights: { gold: 4 } }, why)
    for (let n = 0; n < 9; n++) for (const of of ['rest', 'gold']) await s.submit(order, of, { tags: { of } })
    for (let n = 0; n < 20; n++) {
      await s.advance('100ms')
      gates.shift()?.()
    }
    // The first found a free slot; of those that waited, four of five are of who weighs four times as much.
    expect(ran.slice(1, 11).filter((of) => of === 'gold')).toHaveLength(8)
    await s.engine.triarch.settings.get('triarch.engine').set({ weights: { gold: 9 } }, why)
    const share = async (of: string) => {
      const [first] = await eventsOf(await s.submit(order, of, { tags: { of } }), 'submitted')
      return first?.share
    }
    expect([await share('gold'), await share('rest')]).toEqual([
      { key: 'gold', weight: 9 },
      { key: 'rest', weight: 1 },
    ])
    for (let n = 0; n < 3; n++) {
      await s.advance('100ms')
      gates.shift()?.()
    }
    await handle.clear(why)
  })

  it('that make no sense with the code of one agent leave that as it was, and touch no other', async () => {
    const [first, second] = [bank({ circuitBreaker: { open: '10s', openMax: '20s' } }), agent('courier')]
    second.action('send', { run: async () => null })
    const store = memory()
    const workload = { workflows: [first.order], agents: [first.pay, second], store }
    await using s = await stage(workload)
    const { triarch } = s.engine
    // By itself it is sound: whoever writes it may not know the code.
    await triarch.settings.get('triarch.agent.bank').set({ circuitBreaker: { open: '1m' }, paused: 'odd' }, why)
    await triarch.settings.get('triarch.agent.courier').set({ paused: 'a strike' }, why)
    const task = await s.submit(first.order, null)
    await s.advance('1s')
    expect((await task.explain()).reasons).toMatchObject([{ code: 'agent-paused', reason: 'odd' }])
    expect(s.alerts).toMatchObject([{ code: 'SETTING_REFUSED', message: expect.stringContaining('openMax') }])
    const { nodes } = await triarch.settings.get('triarch.agent.courier').info()
    expect(nodes).toMatchObject([{ version: 1, expected: 1 }])
    await triarch.settings.get('triarch.agent.bank').change({ circuitBreaker: { open: '15s' }, paused: null }, why)
    await s.settle()
    first.calls[0]?.()
    await s.settle()
    expect((await task.status()).outcome).toBe('success')
  })

  it('that make no sense with its code keep no node from starting', async () => {
    const { pay } = bank({ circuitBreaker: { open: '10s', openMax: '20s' } })
    const folder = mkdtempSync(join(tmpdir(), 'triarch-setting-'))
    try {
      const store = sqlite(join(folder, 'shop.db'))
      await using writer = new Triarch({ store })
      await writer.settings.get('triarch.agent.bank').set({ circuitBreaker: { open: '1m' } }, why)
      await using node = new Triarch({ store, agents: [pay], notices: false })
      await node.start()
      expect(await node.nodes.list()).toHaveLength(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('that is paused is seen wherever one looks: who said so first, why and since when', async () => {
    const { calls, pay, order } = bank()
    const other = workflow('other', { run: async () => null })
    await using s = await stage({ workflows: [order, other], agents: [pay] })
    const { triarch } = s.engine
    const agentHandle = triarch.settings.get('triarch.agent.bank')
    const since = new Date(await s.store.now())
    await agentHandle.set({ paused: 'the bank is down' }, { reason: 'incident 12', actor: 'ada' })
    await triarch.settings
      .get('triarch.workflow.other')
      .set({ paused: 'stocktaking' }, { reason: 'incident 12', actor: 'ada' })
    await triarch.schedules.get('billing-a').register({ workflow: other, input: undefined, every: '1h' })
    const schedules = triarch.settings.get('triarch.schedules')
    await schedules.set({ paused: { 'billing-*': 'the books are closed' } }, { reason: 'year’s end', actor: 'ada' })
    const engine = triarch.settings.get('triarch.engine')
    await engine.set({ sweep: '1s' }, why)
    const [step, ready] = [
      await s.submit(order, null, { id: 'step' }),
      await s.submit(other, undefined, { id: 'ready' }),
    ]
    await s.advance('1m')
    // Others change other things meanwhile, for all nodes or for some: they did not pause it.
    const bob = { reason: 'more', actor: 'bob' }
    await agentHandle.change({ concurrency: 3 }, bob)
    await agentHandle.change({ concurrency: 4 }, { ...bob, stages: [{ share: 1 }] })
    await agentHandle.advance({ reason: 'fine', actor: 'cy' })
    await schedules.change({ paused: { 'billing-*': 'the books are closed', other: 'x' } }, bob)
    const bankPause = { setting: 'triarch.agent.bank', name: 'bank', reason: 'the bank is down', actor: 'ada', since }
    const otherPause = { setting: 'triarch.workflow.other', name: 'other', reason: 'stocktaking', actor: 'ada', since }
    expect((await step.status()).pausedBy).toEqual([bankPause])
    expect((await ready.status()).pausedBy).toEqual([otherPause])
    expect((await step.explain()).reasons).toMatchObject([{ code: 'agent-paused', actor: 'ada', since }])
    const { tasks } = await triarch.tasks.list({ order: 'oldest' })
    expect(tasks.map(({ id, pausedBy }) => [id, pausedBy])).toEqual([
      ['step', [bankPause]],
      ['ready', [otherPause]],
    ])
    expect((await triarch.agents.list()).agents).toMatchObject([{ name: 'bank', pausedBy: bankPause }])
    expect((await triarch.workflows.list()).workflows.map(({ pausedBy }) => pausedBy)).toEqual([undefined, otherPause])
    const closedBooks = { setting: 'triarch.schedules', name: 'billing-a', reason: 'the books are closed' }
    expect((await triarch.schedules.get('billing-a').info()).pausedBy).toEqual({ ...closedBooks, actor: 'ada', since })
    expect((await triarch.schedules.list()).schedules).toMatchObject([{ pausedBy: closedBooks }])
    await engine.change({ closed: 'maintenance' }, { reason: 'incident 13', actor: 'cy' })
    const refused = await s.submit(order, null).catch((error) => error)
    expect(refused.message).toMatch(/^submissions are paused since .* by cy: maintenance$/)
    expect(refused.details).toMatchObject({ reason: 'maintenance', actor: 'cy', setting: 'triarch.engine' })
    for (const handle of [agentHandle, triarch.settings.get('triarch.workflow.other'), schedules, engine])
      await handle.clear(why)
    await s.settle()
    calls[0]?.()
    await s.settle()
    expect((await step.status()).pausedBy).toBeUndefined()
  })
})
