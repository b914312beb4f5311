import { describe, expect, it } from 'vitest'
import { agent, PermanentError, type TaskExport, type TaskHandle, workflow } from '../../src/index.ts'
import type { Json } from '../../src/kernel/json.ts'
import { codeOf, type Stage, stage } from './harness.ts'

const shop = agent('shop')
const charged: string[] = []
const charge = shop.action('charge', {
  run: (card: string, step) => {
    charged.push(step.idempotencyKey)
    return `paid by ${card}`
  },
})
const copy = shop.action('copy', { run: (pages: string) => pages })
const hang = shop.action('hang', { run: () => new Promise<string>(() => undefined), attemptWithin: '1h' })
const broken = shop.action('broken', {
  rescue: 'pause',
  run(): string {
    throw new PermanentError('broken')
  },
})
const order = workflow('order', {
  async run(card: string, task) {
    const first = await task.run(charge, card)
    await task.sleep('1h')
    return [first, await task.run(charge, card)]
  },
})
const album = workflow('album', {
  async run(pages: string, task) {
    const first = await task.run(copy, pages)
    await task.sleep('1h')
    return task.run(copy, first)
  },
})
const stuck = workflow('stuck', { run: (_: string, task) => task.run(hang, null) })
const repair = workflow('repair', { run: (_: string, task) => task.run(broken, null) })
const child = workflow('child', { run: (_: string, task) => task.waitForSignal('go') })
const parent = workflow('parent', { run: (id: string, task) => task.call(child, '', { id }) })
const guarded = workflow('guarded', {
  async run(_: string, task) {
    await task.lock('till')
    return task.waitForSignal('go')
  },
})
const secret = workflow('secret', {
  secrets: ['pin'],
  run: async ({ pin }: { pin: string }, task) => {
    await task.waitForSignal('go')
    return pin.length
  },
})
const endless = workflow('endless', {
  async run(round: number, task) {
    await task.waitForSignal('go')
    return task.continueAsNew(round + 1)
  },
})
const workflows = [order, album, stuck, repair, child, parent, guarded, secret, endless]
const made = () => stage({ workflows, agents: [shop] })
/** As a file has it. */
const exported = async (task: TaskHandle) =>
  JSON.parse(JSON.stringify(await task.export({ secrets: true }))) as TaskExport
const told = async (task: TaskHandle) => JSON.stringify(await task.history())

async function at(s: Stage, of: Parameters<Stage['submit']>[0], input: unknown, id: string): Promise<TaskHandle> {
  const task = await s.submit(of as typeof order, input as string, { id })
  await s.settle()
  return task as TaskHandle
}

describe('a task that is imported', () => {
  it('goes on where it was, once somebody says so, and under the idempotency keys that it had', async () => {
    await using there = await made()
    const file = await exported(await at(there, order, 'visa', 'o-1'))
    const before = [...charged]
    await there.advance('1h')
    const keys = charged.splice(0).slice(before.length)

    await using here = await made()
    const task = await here.engine.triarch.tasks.import(file, { reason: 'the shop moves', actor: 'ada' })
    expect(task.isNew).toBe(true)
    await here.advance('3h')
    const { status, pause } = await task.status()
    expect([status, pause]).toEqual(['paused', { cause: 'operator', reason: 'the shop moves', actor: 'ada' }])
    expect(charged).toEqual([])
    expect((await here.engine.triarch.audit.list()).entries).toMatchObject([
      { action: 'task.import', subject: 'task:o-1', actor: 'ada', reason: 'the shop moves' },
    ])
    await task.resume()
    expect(await task.result()).toEqual(['paid by visa', 'paid by visa'])
    expect(charged.splice(0)).toEqual(keys)
  })

  it('goes on at once where that is asked for', async () => {
    await using there = await made()
    const file = await exported(await at(there, order, 'visa', 'o-1'))
    await using here = await made()
    const task = await here.engine.triarch.tasks.import(file, { paused: false })
    await here.advance('1h')
    expect(await task.result()).toEqual(['paid by visa', 'paid by visa'])
  })

  it('is the same task when the same history comes again, whatever became of it since', async () => {
    await using there = await made()
    const file = await exported(await at(there, order, 'visa', 'o-1'))
    await using here = await made()
    const { triarch } = here.engine
    await triarch.tasks.import(file)
    expect((await triarch.tasks.import(file)).isNew).toBe(false)
    await triarch.tasks.get('o-1').resume()
    await here.advance('2h')
    expect((await triarch.tasks.import(file)).isNew).toBe(false)
    expect((await triarch.audit.list({ subject: 'task:o-1' })).entries.map(({ action }) => action)).toEqual([
      'task.resume',
      'task.import',
    ])
    const other = await exported(await at(there, order, 'master', 'o-2'))
    expect(await codeOf(triarch.tasks.import({ ...other, task: 'o-1' }))).toBe('TASK_EXISTS')
  })

  it('is the same where it came from, also with values that are kept once', async () => {
    await using there = await made()
    const task = await at(there, album, 'page '.repeat(500), 'o-1')
    await there.advance('1h')
    const stored = await there.store.records('o-1', 0, 100)
    expect(stored.some(({ events }) => events.endsWith(']]]'))).toBe(true)
    const file = await exported(task)
    expect((await there.engine.triarch.tasks.import(file)).isNew).toBe(false)
    await using here = await made()
    const copy = await here.engine.triarch.tasks.import(file)
    expect(await told(copy)).toEqual(await told(task))
  })

  it('shows the same history as there, once it has stopped', async () => {
    await using there = await made()
    const task = await at(there, order, 'visa', 'o-1')
    await there.advance('1h')
    await using here = await made()
    const copy = await here.engine.triarch.tasks.import(await exported(task))
    expect(await told(copy)).toEqual(await told(task))
    const { updatedAt, lockedBy, ...status } = await task.status()
    expect(await copy.status()).toMatchObject(status)
    expect(await copy.result()).toEqual(await task.result())
  })

  it('does not know what became of what it had under way', async () => {
    await using there = await made()
    const file = await exported(await at(there, stuck, '', 'o-1'))
    await using here = await made()
    const task = await here.engine.triarch.tasks.import(file, { paused: false })
    await here.settle()
    expect(await task.steps()).toMatchObject([{ status: 'running', error: { code: 'STEP_LOST' } }])
  })

  it('that waits for an operator there does so here', async () => {
    await using there = await made()
    const task = await at(there, repair, '', 'o-1')
    await using here = await made()
    const copy = await here.engine.triarch.tasks.import(await exported(task), { paused: false })
    await here.settle()
    expect(await told(copy)).toEqual(await told(task))
    await copy.skip({ step: 1, output: 'by hand' })
    expect(await copy.result()).toBe('by hand')
  })
})

describe('what a task needs of others', () => {
  it('must be here: its children come first, and it hears of them, also of one that had stopped', async () => {
    await using there = await made()
    const task = await at(there, parent, 'kid', 'p')
    const kid = there.engine.tasks.get('kid')
    const [file, open] = [await exported(task), await exported(kid)]
    await kid.signal('go' as never, ...(['done'] as never))
    await there.settle()
    const done = await exported(kid)
    for (const younger of [open, done]) {
      await using here = await made()
      const { triarch } = here.engine
      await expect(triarch.tasks.import(file)).rejects.toMatchObject({
        code: 'IMPORT_REFUSED',
        details: { cause: 'children' },
      })
      const child = await triarch.tasks.import(younger, { paused: false })
      const older = await triarch.tasks.import(file, { paused: false })
      expect((await older.children()).tasks.map(({ id }) => id)).toEqual(['kid'])
      if (younger === open) await child.signal('go' as never, ...(['done'] as never))
      await here.settle()
      expect(await older.result()).toBe('done')
    }
  })

  it('or it is refused: locks, and tasks that it comes after', async () => {
    await using there = await made()
    const locked = await exported(await at(there, guarded, '', 'g'))
    await there.submit(child, '', { id: 'first' })
    await there.submit(order, 'visa', { id: 'second', after: ['first'] })
    const after = await exported(there.engine.tasks.get('second'))
    await using here = await made()
    for (const [file, cause] of [
      [locked, 'locks'],
      [after, 'predecessors'],
    ] as const) {
      const importing = here.engine.triarch.tasks.import(file)
      await expect(importing).rejects.toMatchObject({ code: 'IMPORT_REFUSED', details: { cause } })
      expect(await codeOf(here.engine.tasks.get(file.task).status())).toBe('UNKNOWN_TASK')
    }
  })

  it('has its secrets, which an export has where they are asked for', async () => {
    await using there = await made()
    const task = await at(there, secret, { pin: '4711-secret' }, 's')
    const veiled = await task.export()
    expect(veiled.veiled).toBe(true)
    expect(JSON.stringify(veiled)).not.toContain('4711')
    await using here = await made()
    const { triarch } = here.engine
    await expect(triarch.tasks.import(veiled)).rejects.toMatchObject({ details: { cause: 'secrets' } })
    expect(await codeOf(triarch.tasks.import({ ...veiled, veiled: undefined } as unknown as TaskExport))).toBe(
      'INVALID_OPTION',
    )
    const copy = await triarch.tasks.import(await exported(task), { paused: false })
    expect(JSON.stringify(await copy.history())).not.toContain('4711')
    await copy.signal('go' as never, ...([] as never))
    await here.settle()
    expect(await copy.result()).toBe(11)
  })
})

describe('a history that is not sound', () => {
  it.each<[string, (file: TaskExport) => unknown]>([
    ['with a gap', (file) => ({ ...file, records: file.records.filter((_, index) => index !== 1) })],
    ['that does not begin with a submission', (file) => ({ ...file, records: file.records.slice(1) })],
    ['of nothing', (file) => ({ ...file, records: [] })],
    ['in another order', (file) => ({ ...file, records: file.records.toReversed() })],
    ['of a format to come', (file) => ({ ...file, format: 2 })],
    ['of a format that there never was', (file) => ({ ...file, format: 0 })],
    [
      'that refers to its values, as stores do',
      ({ records, ...file }) => ({ ...file, records: records.map(referring) }),
    ],
    ['with an event that nobody knows', (file) => changed(file, { type: 'teleported' })],
    ['with a move that there is not', (file) => changed(file, { type: 'planned', plan: {} })],
    ['that ends without a result', (file) => changed(file, { type: 'stopped', result: 'pending' })],
    ['whose event is no object', (file) => changed(file, 'stopped')],
    ['of which a record could not be read', (file) => ({ ...file, records: [{ ...file.records[0], error: {} }] })],
  ])('is refused before anything is written: one %s', async (_, change) => {
    await using there = await made()
    const task = await at(there, order, 'visa', 'o-1')
    await there.advance('1h')
    await using here = await made()
    const file = change(await exported(task)) as TaskExport
    await expect(here.engine.triarch.tasks.import(file)).rejects.toMatchObject({
      code: 'IMPORT_REFUSED',
      details: { cause: 'history' },
    })
    expect(await here.store.task('o-1')).toBeNull()
  })

  it.each([
    null,
    'x',
    {},
    { format: 1, task: 'a', veiled: false, records: [null] },
    { format: 1, task: 'a', veiled: false, records: [{ seq: 1 }] },
  ])('is no history at all: %j', async (file) => {
    await using here = await made()
    expect(await codeOf(here.engine.triarch.tasks.import(file as unknown as TaskExport))).toBe('INVALID_OPTION')
  })

  it('is refused by its size', async () => {
    await using here = await made()
    const input = 'x'.repeat(8 * 1024 * 1024)
    const events = [{ type: 'submitted', workflow: 'order', version: '1', input }]
    const more = Array.from({ length: 8 }, (_, index) => ({
      ...{ seq: index + 2, at: 1 },
      events: [{ type: 'progressed', progress: input }],
    }))
    const file: TaskExport = { format: 1, task: 'o-1', veiled: false, records: [{ seq: 1, at: 1, events }, ...more] }
    expect(await codeOf(here.engine.triarch.tasks.import(file))).toBe('IMPORT_TOO_LARGE')
  })
})

function changed(file: TaskExport, event: Json): TaskExport {
  const last = file.records.at(-1)
  const record = { seq: (last?.seq ?? 0) + 1, at: (last?.at ?? 0) + 1, events: [event] }
  return { ...file, records: [...file.records, record] }
}

/** As a store may have it. */
function referring(record: TaskExport['records'][number]): TaskExport['records'][number] {
  return { ...record, events: [...record.events, []] }
}
