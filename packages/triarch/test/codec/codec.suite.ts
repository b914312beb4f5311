import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Alert,
  agent,
  type Codec,
  compress,
  encrypt,
  isTriarchError,
  PermanentError,
  readOnly,
  type TaskHandle,
  type TaskInfo,
  Triarch,
  type TriarchOptions,
  workflow,
} from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'

/** A store of its own for a test, and a look at all that is in it. */
export interface Vault {
  store: StoreFactory
  /** Every byte that a thief of the disk (or of a dump) would have, as text. */
  dump(): Promise<string>
  /** Changes what is stored; `table(name)` is the store's own name for one of its tables. */
  change(sql: (table: (name: string) => string) => string): Promise<void>
  dispose(): Promise<void>
}

/** Recognisable wherever it is. */
const plain = (what: string) => `plain-${what} is nobody's business`
const whats = [
  ...['input', 'step-input', 'step-output', 'step-error', 'progress-of-step', 'checkpoint', 'local', 'transaction'],
  ...[
    'progress',
    'event',
    'resumed',
    'child-input',
    'child-output',
    'child-error',
    'item',
    'schedule',
    'note',
    'reason',
  ],
  ...['metadata', 'output', 'failure', 'plan-input', 'plan-output', 'undo'],
]

const child = workflow('child', { run: async (_: string) => plain('child-output') })
const failing = workflow('failing', {
  run: async (_: string): Promise<string> => {
    throw new PermanentError(plain('child-error'))
  },
})
const desk = agent('desk')
const work = desk.action('work', {
  retry: { backoff: { initial: 0 } },
  run: async (_: string, step) => {
    expect(step.metadata).toEqual({ tenant: plain('metadata') })
    if (step.attempt > 1) return plain('step-output')
    step.heartbeat({ progress: plain('progress-of-step'), checkpoint: plain('checkpoint') })
    throw new Error(plain('step-error'))
  },
  undo: async () => {
    throw new PermanentError(plain('undo'))
  },
})
let handed = Promise.withResolvers<string>()
const ask = desk.action('ask', {
  run: async (_: null, step) => {
    if (step.received) return step.received.payload
    handed.resolve(step.token)
    return step.suspend({ checkpoint: plain('checkpoint') })
  },
})
const planned = desk.action('planned', { run: async (_: string) => plain('plan-output') })
const plan = workflow('plan', { plan: (input: string, it) => it.step(planned, input).output })
const all = workflow('all', {
  run: async (_: string, task) => {
    task.progress(plain('progress'))
    const done = await task.run(work, plain('step-input'))
    await task.run('local', () => plain('local'))
    await task.transaction('mine', () => plain('transaction'))
    await task.call(child, plain('child-input'))
    await task.call(failing, plain('child-input')).catch(() => null)
    await task.batch('many', { workflow: child, items: [plain('item')] })
    await task.run(ask, null)
    expect(await task.waitForSignal('go')).toBe(plain('event'))
    expect(done).toBe(plain('step-output'))
    return plain('output')
  },
})
const breaks = workflow('breaks', {
  run: async (_: string): Promise<string> => {
    throw new PermanentError(plain('failure'))
  },
})
const waits = workflow('waits', {
  run: async (input: string, task) => {
    await task.run('first', () => input)
    const heard = await task.waitForSignal('go')
    return [input, heard]
  },
})
const undone = workflow('undone', {
  run: async (_: string, task): Promise<string> => {
    await task.run(work, plain('step-input'))
    throw new PermanentError(plain('failure'))
  },
})
const workflows = [all, child, failing, plan, breaks, waits, undone]

const key = (fill: number) => new Uint8Array(32).fill(fill)
const one = { id: 'one', key: key(1) }
const two = { id: 'two', key: key(2) }

/** What a codec promises on every store. `brief`: only that which the store has a part in. */
export function codecSuite(name: string, make: () => Promise<Vault>, { brief = false } = {}): void {
  describe(`payloads on ${name}`, () => {
    let vault: Vault
    let nodes: Triarch[]
    let errors: unknown[]
    let alerts: Alert[]
    beforeEach(async () => {
      vault = await make()
      nodes = []
      errors = []
      alerts = []
    })
    afterEach(async () => {
      await Promise.all(nodes.map((node) => node.stop({ grace: 0 })))
      await vault.dispose()
    })

    const node = async (codec: TriarchOptions['codec'], options: Partial<TriarchOptions> = {}): Promise<Triarch> => {
      const made = new Triarch({
        store: vault.store,
        workflows,
        agents: [desk],
        notices: false,
        sweep: 100,
        // What a slow machine may bring about besides is no matter here.
        onError: (error) => isTriarchError(error) && error.code.startsWith('CODEC_') && errors.push(error),
        ...(codec && { codec }),
        ...options,
      })
      nodes.push(made)
      made.on('alert', (alert) => alerts.push(alert))
      if (options.roles?.length !== 0) await made.start()
      return made
    }
    const leave = async () => {
      await Promise.all(nodes.splice(0).map((it) => it.stop()))
    }
    const codeOf = (promise: Promise<unknown>) =>
      promise.then(
        () => 'nothing',
        (error) => error.code as string,
      )
    /** Runs until its row shows what is looked for. */
    const until = async (task: Pick<TaskHandle, 'watch'>, seen: (info: TaskInfo) => boolean) => {
      for await (const info of task.watch()) if (seen(info)) return info
      throw new Error('it stopped')
    }

    /** Every way in which something of the user's gets into a store, each of which is looked at while it is there. */
    const story = async (codec?: TriarchOptions['codec']): Promise<string> => {
      const metadata = { tenant: plain('metadata') }
      const seen: string[] = []
      handed = Promise.withResolvers()
      const look = async () => seen.push(await vault.dump())
      const outside = await node(codec, { roles: [] })
      await (await outside.submit(all, plain('input'), { id: 'all', metadata })).signal('go', plain('event'))
      await outside.submit(plan, plain('plan-input'), { id: 'plan' })
      await look() // a letter nobody has taken
      await node(codec, { roles: ['scheduler'] })
      await until(outside.tasks.get('all'), ({ progress }) => progress !== undefined)
      await look() // a request nobody has taken
      await leave()
      const client = await node(codec)
      const task = client.tasks.get('all')
      const token = await handed.promise
      await look() // a transaction's answer is kept for as long as its task may ask for it
      await client.tasks.resume(token, plain('resumed'))
      expect(await task.result()).toBe(plain('output'))
      expect(await client.tasks.get('plan').result()).toBe(plain('plan-output'))
      expect(await codeOf((await client.submit(breaks, plain('input'))).result())).toBe('TASK_FAILED')
      const held = await client.submit(undone, plain('input'), { metadata })
      await until(held, ({ status }) => status === 'paused')
      const cancelled = await client.submit(waits, plain('input'))
      await cancelled.pause({ reason: plain('note') })
      await until(cancelled, ({ status }) => status === 'paused')
      await cancelled.cancel({ reason: plain('reason') })
      expect(await codeOf(cancelled.result())).toBe('TASK_CANCELLED')
      await client.schedules.get('daily').register({ workflow: child, input: plain('schedule'), every: '1d' })
      await look()
      return seen.join('\n')
    }

    it('are nowhere to be read once they are encrypted', async () => {
      const found = await story(encrypt({ keys: [one] }))
      expect(whats.filter((what) => found.includes(`plain-${what} `))).toEqual([])
      expect(found).toContain('encrypt:one')
      expect(errors).toEqual([])
    })

    it('are all there to be read without: the look finds what there is', async () => {
      const found = await story()
      expect(whats.filter((what) => !found.includes(`plain-${what} `))).toEqual([])
    })

    it.skipIf(brief)(
      'that were plain before stay readable, and so does what one node writes while another cannot read it yet',
      async () => {
        const before = await (await node(undefined)).submit(waits, plain('input'), { id: 'old' })
        await until(before, ({ status }) => status === 'running')
        await leave()
        // First all learn to decode.
        const learning = await node(readOnly(encrypt({ keys: [one] })))
        await learning.submit(waits, plain('note'), { id: 'older' })
        await leave()
        expect(await vault.dump()).not.toContain('encrypt:')
        const after = await node(encrypt({ keys: [one] }))
        await after.tasks.get('old').signal('go', plain('event'))
        expect(await after.tasks.get('old').result()).toEqual([plain('input'), plain('event')])
        // The same order, whichever way it is kept.
        await after.submit(waits, plain('note'), { id: 'older' })
        expect(await codeOf(after.submit(waits, 'another', { id: 'older' }))).toBe('TASK_EXISTS')
        await leave()
        const reader = await node(readOnly(encrypt({ keys: [one] })), { roles: [] })
        expect(await reader.tasks.get('old').result()).toEqual([plain('input'), plain('event')])
        expect(errors).toEqual([])
      },
    )

    it('are written with a new key and read with the old one, until that is needed no more', async () => {
      const first = await node(encrypt({ keys: [one] }))
      await until(await first.submit(waits, 'a', { id: 'old' }), ({ status }) => status === 'running')
      await leave()
      const second = await node([compress({ above: 0 }), encrypt({ keys: [two, one] })])
      await second.submit(waits, 'b', { id: 'new' })
      await second.tasks.get('old').signal('go', 1)
      expect(await second.tasks.get('old').result()).toEqual(['a', 1])
      await leave()
      expect(await vault.dump()).toContain('encrypt:two')
      const third = await node(encrypt({ keys: [two] }))
      await third.tasks.get('new').signal('go', 2)
      expect(await third.tasks.get('new').result()).toEqual(['b', 2])
      expect(errors).toEqual([])
    })

    const lacking: [string, TriarchOptions['codec'], string][] = [
      ['the codec', undefined, 'CODEC_MISSING'],
      ['the key', encrypt({ keys: [two] }), 'CODEC_KEY_MISSING'],
      ['the right key', encrypt({ keys: [{ ...two, id: 'one' }] }), 'CODEC_FAILED'],
    ]
    it.each(brief ? lacking.slice(1, 2) : lacking)(
      'cost only their own task on a node that lacks %s, and that goes on once it has it',
      async (_, wrong, code) => {
        const before = await node(encrypt({ keys: [one] }))
        await until(await before.submit(waits, 'a', { id: 'coded' }), ({ status }) => status === 'running')
        await leave()
        const poor = await node(wrong)
        const good = await poor.submit(waits, 'b', { id: 'good' })
        await good.signal('go', 1)
        await poor.tasks.get('coded').signal('go', 2)
        const info = await until(poor.tasks.get('coded'), ({ quarantined }) => quarantined === true)
        expect(info.pause).toMatchObject({ cause: 'quarantine', error: { code: 'TASK_QUARANTINED', cause: { code } } })
        expect(info.pause?.error?.details).toEqual({ cause: 'codec' })
        expect((await poor.tasks.get('coded').explain()).text).toMatch(
          /in quarantine since .*record 1 cannot be decoded: /,
        )
        expect(await good.result()).toEqual(['b', 1])
        if (code !== 'CODEC_FAILED')
          expect(await codeOf(poor.tasks.get('coded').resume({ after: 1 }))).toBe('ILLEGAL_MOVE')
        await leave()
        // What it wrote itself, it wrote as it does.
        const keys = code === 'CODEC_KEY_MISSING' ? [one, two] : [one]
        const rich = await node(encrypt({ keys }))
        if (code === 'CODEC_FAILED') return
        await rich.tasks.get('coded').resume()
        expect(await rich.tasks.get('coded').result()).toEqual(['a', 2])
      },
    )

    const changed = (column: string) =>
      `${column} = substr(${column}, 1, length(${column}) - 12) || 'AAAA' || substr(${column}, length(${column}) - 7)`

    it('that were changed in the store are refused: a record costs its task, an output itself', async () => {
      const before = await node(encrypt({ keys: [one] }))
      for (const id of ['record', 'output', 'good']) await before.submit(waits, id, { id })
      await before.tasks.get('output').signal('go', 1)
      expect(await before.tasks.get('output').result()).toEqual(['output', 1])
      for (const id of ['record', 'good']) await until(before.tasks.get(id), ({ status }) => status === 'running')
      await leave()
      const of = (table: (name: string) => string, id: string) =>
        `(SELECT key FROM ${table('tasks')} WHERE id = '${id}')`
      await vault.change(
        (table) =>
          `UPDATE ${table('history')} SET ${changed('events')} WHERE seq = 1 AND task = ${of(table, 'record')}`,
      )
      await vault.change((table) => `UPDATE ${table('tasks')} SET ${changed('output')} WHERE id = 'output'`)
      const after = await node(encrypt({ keys: [one] }))
      for (const id of ['record', 'good']) await after.tasks.get(id).signal('go', 1)
      expect(await after.tasks.get('good').result()).toEqual(['good', 1])
      const { pause } = await until(after.tasks.get('record'), ({ quarantined }) => quarantined === true)
      expect(pause?.error?.cause).toMatchObject({ code: 'CODEC_FAILED', details: { record: 1 } })
      expect(await codeOf(after.tasks.get('output').result())).toBe('CODEC_FAILED')
      const [shown] = (await after.tasks.list({ status: 'stopped', order: 'oldest' })).tasks
      expect(shown).toMatchObject({ output: undefined, broken: ['output'] })
      expect(await codeOf(after.submit(waits, 'record', { id: 'record' }))).toBe('CODEC_FAILED')
      await after.tasks.get('record').cancel({ force: true })
      expect(await codeOf(after.tasks.get('record').result())).toBe('TASK_CANCELLED')
    })

    it.skipIf(brief)(
      'that an agent cannot decode go back to their task, which asks anew: no attempt is used up',
      async () => {
        const client = await node(encrypt({ keys: [one] }), { roles: ['scheduler'] })
        const task = await client.submit(plan, 'x')
        await node(encrypt({ keys: [two] }), { roles: ['agent'] })
        await expect.poll(() => errors.length).toBeGreaterThan(0)
        expect(errors[0]).toMatchObject({ code: 'CODEC_KEY_MISSING', details: { key: 'one' } })
        await leave()
        const rich = await node(encrypt({ keys: [one] }))
        expect(await rich.tasks.get(task.id).result()).toBe(plain('plan-output'))
        expect(await rich.tasks.get(task.id).status()).toMatchObject({ failures: 0 })
      },
    )

    it.skipIf(brief)(
      'of a schedule that nobody can decode start nothing, and stay as they are until somebody can',
      async () => {
        const before = await node(encrypt({ keys: [one] }), { roles: [] })
        await before.schedules.get('often').register({ workflow: waits, input: 'x', every: '100ms' })
        const poor = await node(encrypt({ keys: [two] }))
        const failing = { code: 'SCHEDULE_FAILING', schedule: 'often' }
        await expect.poll(() => alerts).toContainEqual(expect.objectContaining(failing))
        expect((await poor.schedules.list()).schedules[0]?.failing?.error).toMatchObject({ code: 'CODEC_KEY_MISSING' })
        await leave()
        const rich = await node(encrypt({ keys: [one, two] }), { roles: [] })
        expect(await rich.schedules.get('often').info()).toMatchObject({ input: 'x', workflow: 'waits' })
      },
    )

    it.skipIf(brief)('that a codec cannot encode are not written at all, and cost only their own task', async () => {
      const picky: Codec = {
        name: 'picky',
        encode: (data) => {
          if (Buffer.from(data).includes('unspeakable')) throw new Error('not that')
          return { data: Buffer.from(data).reverse() }
        },
        decode: (data) => Buffer.from(data).reverse(),
      }
      const own = await node(picky)
      const failure = await own.submit(waits, 'unspeakable', { id: 'bad' }).catch((error) => error)
      expect(failure).toMatchObject({ code: 'STORE_FAILED', cause: { message: 'not that' } })
      expect(await codeOf(own.tasks.get('bad').status())).toBe('UNKNOWN_TASK')
      const good = await own.submit(waits, 'a')
      await good.signal('go', 1)
      expect(await good.result()).toEqual(['a', 1])
      expect(await vault.dump()).toMatch(/"~coded"+:"+picky"/)
    })
  })
}
