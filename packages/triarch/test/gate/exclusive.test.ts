import { describe, expect, it } from 'vitest'
import { type Duration, type ExclusiveOptions, type TaskContext, type Workflow, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { checkFold, codeOf, eventsOf, type Stage, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

/** Works for an hour, or another span, and notes who began and ended when. */
function working(name: string, exclusive: ExclusiveOptions<{ host?: string }>, span: Duration = '1h') {
  const diary: string[] = []
  const definition = workflow(name, {
    exclusive,
    async run(_: { host?: string }, task: TaskContext) {
      await task.run('begin', () => void diary.push(`+${task.id}`), {
        undo: () => void diary.push(`undo ${task.id}`),
      })
      await task.sleep(span)
      await task.run('end', () => void diary.push(`-${task.id}`))
    },
  })
  return { definition: definition as Workflow<{ host?: string }, unknown>, diary }
}

async function several(s: Stage, of: Workflow<{ host?: string }, unknown>, ids: readonly string[], input = {}) {
  for (const id of ids) await s.submit(of, input, { id })
  await s.settle()
}

describe('a workflow that is exclusive', () => {
  it('runs one task at a time, in the order of submission', async () => {
    const { definition, diary } = working('sync', {})
    await using s = await stage({ workflows: [definition] })
    await several(s, definition, ['a', 'b', 'c'])
    expect(diary).toEqual(['+a'])
    expect((await s.engine.tasks.get('b').status()).status).toBe('pending')
    await s.advance('1h')
    expect(diary).toEqual(['+a', '-a', '+b'])
    await s.advance('2h')
    expect(diary).toEqual(['+a', '-a', '+b', '-b', '+c', '-c'])
    expect(await s.store.locks({ name: 'sync' })).toEqual([])
  })

  it('lets a higher priority go first, but interrupts nobody', async () => {
    const { definition, diary } = working('sync', {})
    await using s = await stage({ workflows: [definition] })
    await several(s, definition, ['a', 'b'])
    await s.submit(definition, {}, { id: 'urgent', priority: 5 })
    await s.advance('3h')
    expect(diary.filter((it) => it.startsWith('+'))).toEqual(['+a', '+urgent', '+b'])
  })

  it('excludes by key alone, also tasks of other workflows', async () => {
    const key = ({ host }: { host?: string }) => `host:${host}`
    const [make, drop] = [working('make', { key }), working('drop', { key })]
    await using s = await stage({ workflows: [make.definition, drop.definition] })
    await several(s, make.definition, ['a1'], { host: 'a' })
    await several(s, make.definition, ['b1'], { host: 'b' })
    await several(s, drop.definition, ['a2'], { host: 'a' })
    expect([make.diary, drop.diary]).toEqual([['+a1', '+b1'], []])
    await s.advance('1h')
    expect(drop.diary).toEqual(['+a2'])
  })

  it('refuses a submission that is not to wait, and forgets it', async () => {
    const { definition } = working('sync', { ifHeld: 'reject' })
    await using s = await stage({ workflows: [definition] })
    await several(s, definition, ['a'])
    expect(await codeOf(s.submit(definition, {}, { id: 'b' }))).toBe('LOCK_HELD')
    expect(await s.store.task('b')).toBeNull()
    // The same task once more is no other one.
    expect(await codeOf(s.submit(definition, {}, { id: 'a' }))).toBe('nothing')
    await s.advance('1h')
    expect(await codeOf(s.submit(definition, {}, { id: 'b' }))).toBe('nothing')
  })

  it('replaces the holder, which is undone first', async () => {
    const { definition, diary } = working('sync', { ifHeld: 'replace' })
    await using s = await stage({ workflows: [definition] })
    await several(s, definition, ['a'])
    await several(s, definition, ['b', 'c'])
    await s.settle()
    // b never began: c replaced it while it waited.
    expect(diary).toEqual(['+a', 'undo a', '+c'])
    expect((await s.engine.tasks.get('b').status()).outcome).toBe('cancelled')
    expect((await s.engine.tasks.get('a').status()).outcome).toBe('cancelled')
    await s.advance('1h')
    expect((await s.engine.tasks.get('c').status()).outcome).toBe('success')
  })

  it('takes what the submission says over what it says itself', async () => {
    const { definition, diary } = working('sync', {})
    await using s = await stage({ workflows: [definition] })
    await several(s, definition, ['a'])
    await s.submit(definition, {}, { id: 'b', exclusive: { key: 'other' } })
    expect(await codeOf(s.submit(definition, {}, { id: 'c', exclusive: { ifHeld: 'reject' } }))).toBe('LOCK_HELD')
    await s.settle()
    expect(diary).toEqual(['+a', '+b'])
  })

  it('asks when it is due, not before', async () => {
    const { definition, diary } = working('sync', {})
    await using s = await stage({ workflows: [definition] })
    await s.submit(definition, {}, { id: 'later', startAt: '30m' })
    await several(s, definition, ['now'])
    await s.advance('31m')
    expect(diary).toEqual(['+now'])
    await s.submit(definition, {}, { id: 'third' })
    await s.advance('30m')
    expect(diary).toEqual(['+now', '-now', '+later'])
  })

  it('that was not to wait and is due ends with LOCK_HELD', async () => {
    const { definition } = working('sync', { ifHeld: 'reject' })
    await using s = await stage({ workflows: [definition] })
    await several(s, definition, ['now'])
    const later = await s.submit(definition, {}, { id: 'later', startAt: '30m' })
    await s.advance('31m')
    expect(await later.status()).toMatchObject({ status: 'stopped', outcome: 'error', error: { code: 'LOCK_HELD' } })
  })

  it.each(['cancel', 'force', 'expire', 'fail'] as const)('is free again when its task ends by %s', async (how) => {
    const held = workflow('held', {
      exclusive: {},
      rescue: 'fail',
      async run(fails: boolean, task: TaskContext) {
        await task.sleep('1h')
        if (fails) throw new Error('no')
      },
    })
    await using s = await stage({ workflows: [held] })
    const first = await s.submit(held, how === 'fail', { id: 'a', ...(how === 'expire' && { completeBy: '20m' }) })
    const second = await s.submit(held, false, { id: 'b' })
    await s.settle()
    if (how === 'cancel') await first.cancel()
    if (how === 'force') await first.cancel({ force: true })
    await s.advance(how === 'cancel' || how === 'force' ? '1m' : '61m')
    expect((await first.status()).status).toBe('stopped')
    expect(await s.store.locks({ name: 'held' })).toMatchObject([{ task: 'b', held: true }])
    await s.advance('1h')
    expect((await second.status()).outcome).toBe('success')
  })

  it('can be cancelled while it waits, and expires while it waits', async () => {
    const { definition, diary } = working('sync', {})
    await using s = await stage({ workflows: [definition] })
    await several(s, definition, ['a', 'b', 'd'])
    const late = await s.submit(definition, {}, { id: 'c', startBefore: '10m' })
    await s.engine.tasks.get('b').cancel()
    await s.advance('2h')
    expect(diary).toEqual(['+a', '-a', '+d', '-d'])
    expect((await late.status()).error?.code).toBe('TASK_EXPIRED')
  })

  it('has its key again before it is tried again, or taken back', async () => {
    let fails = true
    const diary: string[] = []
    const once = workflow('once', {
      exclusive: {},
      rescue: 'fail',
      async run(name: string, task: TaskContext) {
        await task.run('work', () => void diary.push(name), { undo: () => void diary.push(`undo ${name}`) })
        await task.sleep('1h')
        if (name === 'a' && fails) throw new Error('not yet')
      },
    })
    await using s = await stage({ workflows: [once] })
    const [a, b] = [await s.submit(once, 'a', { id: 'a' }), await s.submit(once, 'b', { id: 'b' })]
    await s.advance('61m')
    expect((await a.status()).outcome).toBe('error')
    fails = false
    await a.retry()
    await s.settle()
    expect(await a.status()).toMatchObject({ status: 'paused', pause: { cause: 'lock' } })
    await s.advance('1h')
    expect((await b.status()).outcome).toBe('success')
    await s.advance('1h')
    expect(await a.status()).toMatchObject({ status: 'stopped', outcome: 'success' })
    const c = await s.submit(once, 'c', { id: 'c' })
    await s.settle()
    await b.compensate()
    await s.settle()
    expect(await b.status()).toMatchObject({ status: 'paused', pause: { cause: 'lock' } })
    expect(diary).toEqual(['a', 'b', 'c'])
    await s.advance('1h')
    expect((await c.status()).outcome).toBe('success')
    expect(await b.status()).toMatchObject({ status: 'stopped', outcome: 'compensated' })
    expect(diary).toEqual(['a', 'b', 'c', 'undo b'])
  })

  it('keeps its key when it continues as new', async () => {
    const twice = workflow('twice', {
      exclusive: {},
      async run(round: number, task: TaskContext) {
        await task.sleep('1h')
        if (round === 1) await task.continueAsNew(2)
      },
    })
    await using s = await stage({ workflows: [twice] })
    await s.submit(twice, 1, { id: 'a' })
    await s.submit(twice, 2, { id: 'b' })
    await s.advance('90m')
    expect(await s.store.locks({ name: 'twice' })).toMatchObject([
      { task: 'a', held: true },
      { task: 'b', held: false, ahead: 1 },
    ])
    await checkFold(s.store, 'a')
    await s.advance('2h')
    expect((await s.engine.tasks.get('b').status()).outcome).toBe('success')
  })

  it('holds for children, too', async () => {
    const { definition, diary } = working('sync', {})
    const parent = workflow('parent', {
      run: (_: null, task: TaskContext) =>
        Promise.all([task.call(definition, {}, { id: 'x' }), task.call(definition, {}, { id: 'y' })]),
    })
    await using s = await stage({ workflows: [definition, parent] })
    const task = await s.submit(parent, null)
    await s.advance('2h')
    expect((await task.status()).outcome).toBe('success')
    expect(diary).toEqual(['+x', '-x', '+y', '-y'])
  })

  it('tells the parent when a child was not to wait', async () => {
    const { definition } = working('sync', { ifHeld: 'reject' })
    const parent = workflow('parent', {
      rescue: 'fail',
      run: (_: null, task: TaskContext) => task.call(definition, {}, { id: 'x' }),
    })
    await using s = await stage({ workflows: [definition, parent] })
    await several(s, definition, ['a'])
    const task = await s.submit(parent, null)
    await s.settle()
    expect((await task.status()).error).toMatchObject({ code: 'CHILD_FAILED', cause: { code: 'LOCK_HELD' } })
  })

  it('survives the death of the holder’s node', async () => {
    const { definition, diary } = working('sync', {}, '20s')
    using dir = scratch()
    const environment = new VirtualEnvironment()
    const options = {
      workflows: [definition],
      lease: '10s',
      sweep: '1s',
      poll: '1s',
      environment,
      store: dir.store,
    } as const
    const first = await stage(options)
    await several(first, definition, ['a', 'b'])
    await first.kill()
    await using s = await stage(options)
    await s.advance('90s')
    expect(diary).toEqual(['+a', '-a', '+b', '-b'])
    expect(await eventsOf(s.engine.tasks.get('b'), 'lockGranted')).toMatchObject([{ type: 'lockGranted', id: 0 }])
  })
})
