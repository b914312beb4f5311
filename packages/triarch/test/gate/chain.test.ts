import { describe, expect, it } from 'vitest'
import { agent, type TaskContext, workflow } from '../../src/index.ts'
import { codeOf, eventsOf, stage } from '../engine/harness.ts'

const work = workflow('work', {
  rescue: 'fail',
  async run(fails: boolean, task: TaskContext) {
    await task.sleep('1h')
    if (fails) throw new Error('no')
    return task.now().toISOString()
  },
})

describe('a task that comes after others', () => {
  it('begins when all of them have succeeded', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, false, { id: 'a' })
    await s.submit(work, false, { id: 'b', startAt: '30m' })
    const c = await s.submit(work, false, { id: 'c', after: ['a', 'b'] })
    await s.advance('61m')
    expect((await c.status()).status).toBe('scheduled')
    await s.advance('30m')
    expect((await c.status()).status).toBe('running')
    await s.advance('1h')
    expect((await c.status()).outcome).toBe('success')
  })

  it('ends with PREDECESSOR_FAILED when one of them did not, at once and without running', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, true, { id: 'a' })
    await s.submit(work, false, { id: 'b', startAt: '1d' })
    const c = await s.submit(work, false, { id: 'c', after: ['a', 'b'] })
    await s.advance('61m')
    expect(await c.status()).toMatchObject({
      ...{ status: 'stopped', outcome: 'error' },
      error: { code: 'PREDECESSOR_FAILED', details: { task: 'a', result: 'error' } },
    })
    expect(await eventsOf(c, 'started')).toEqual([])
  })

  it('can still be retried then', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, true, { id: 'a' })
    const c = await s.submit(work, false, { id: 'c', after: 'a' })
    await s.advance('61m')
    await c.retry()
    await s.advance('1h')
    expect((await c.status()).outcome).toBe('success')
  })

  it('begins at any end of them, if it only asks for that', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, true, { id: 'a' })
    const b = await s.submit(work, false, { id: 'b' })
    const ended = (task: string) => ({ task, on: 'end' as const })
    const c = await s.submit(work, false, { id: 'c', after: [ended('a'), ended('b')] })
    const d = await s.submit(work, false, { id: 'd', after: ['a', ended('b')] })
    await s.settle()
    await b.cancel()
    await s.advance('61m')
    expect((await c.status()).status).toBe('running')
    expect((await d.status()).error).toMatchObject({ code: 'PREDECESSOR_FAILED', details: { task: 'a' } })
    await s.advance('1h')
    expect((await c.status()).outcome).toBe('success')
  })

  it('named twice asks for success if it does so once', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, true, { id: 'a' })
    const after = [{ task: 'a', on: 'end' } as const, 'a', { task: 'a', on: 'end' } as const]
    const b = await s.submit(work, false, { id: 'b', after })
    await s.advance('61m')
    expect((await b.status()).error?.code).toBe('PREDECESSOR_FAILED')
  })

  it('begins at once after those that have stopped; those nobody knows have ended, and not succeeded', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, false, { id: 'a' })
    await s.advance('61m')
    const b = await s.submit(work, false, { id: 'b', after: 'a' })
    const c = await s.submit(work, false, { id: 'c', after: [{ task: 'a' }, { task: 'gone', on: 'end' }] })
    const d = await s.submit(work, false, { id: 'd', after: ['a', 'gone'] })
    await s.settle()
    expect((await b.status()).status).toBe('running')
    expect((await c.status()).status).toBe('running')
    expect((await d.status()).error).toMatchObject({ code: 'PREDECESSOR_FAILED', details: { result: 'unknown' } })
  })

  it('takes a compensated task for one that did not succeed', async () => {
    const undone = workflow('undone', {
      async run(_: null, task: TaskContext) {
        await task.run('work', () => 1, { undo: () => undefined })
        throw new Error('no')
      },
    })
    await using s = await stage({ workflows: [work, undone] })
    const c = await s.submit(work, false, { id: 'c', after: 'later' })
    await s.settle()
    expect((await c.status()).error?.code).toBe('PREDECESSOR_FAILED')
    await s.submit(undone, null, { id: 'a', startAt: '1m' })
    const d = await s.submit(work, false, { id: 'd', after: 'a' })
    await s.advance('1m')
    expect((await d.status()).error).toMatchObject({ details: { task: 'a', result: 'compensated' } })
  })

  it('can be cancelled while it waits, and waits no longer than it was told', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, false, { id: 'a' })
    const b = await s.submit(work, false, { after: 'a' })
    const c = await s.submit(work, false, { after: 'a', startBefore: '10m' })
    await b.cancel()
    await s.advance('61m')
    expect((await b.status()).outcome).toBe('cancelled')
    expect((await c.status()).error?.code).toBe('TASK_EXPIRED')
  })

  it('asks for its own lock only then', async () => {
    const alone = workflow('alone', { exclusive: {}, run: (_: null, task: TaskContext) => task.sleep('1h') })
    await using s = await stage({ workflows: [work, alone] })
    await s.submit(work, false, { id: 'a' })
    const b = await s.submit(alone, null, { id: 'b', after: 'a' })
    const c = await s.submit(alone, null, { id: 'c' })
    await s.advance('30m')
    expect((await c.status()).status).toBe('running')
    await s.advance('30m')
    await s.advance('60m')
    expect([(await b.status()).outcome, (await c.status()).outcome]).toEqual(['success', 'success'])
  })

  it('is refused what makes no sense', async () => {
    await using s = await stage({ workflows: [work] })
    const senseless = [
      ['INVALID_NAME', { after: '' }],
      ['INVALID_NAME', { after: [1] }],
      ['INVALID_NAME', { after: [null] }],
      ['INVALID_NAME', { after: [{ on: 'end' }] }],
      ['INVALID_OPTION', { after: [{ task: 'a', on: 'never' }] }],
      ['UNKNOWN_OPTION', { after: [{ task: 'a', when: 'end' }] }],
      ['INVALID_OPTION', { id: 'a', after: ['b', { task: 'a', on: 'end' }] }],
      ['INVALID_OPTION', { frozen: 1 }],
    ] as const
    for (const [code, options] of senseless) expect(await codeOf(s.submit(work, false, options as never))).toBe(code)
  })
})

describe('a frozen task', () => {
  it('does not begin before it is thawed', async () => {
    await using s = await stage({ workflows: [work] })
    const task = await s.submit(work, false, { frozen: true })
    await s.advance('30d')
    expect((await task.status()).status).toBe('scheduled')
    await task.thaw()
    await s.settle()
    expect((await task.status()).status).toBe('running')
    expect(await codeOf(task.thaw())).toBe('ILLEGAL_MOVE')
  })

  it('can be thawed for later, and cancelled before', async () => {
    await using s = await stage({ workflows: [work] })
    const task = await s.submit(work, false, { frozen: true })
    await task.thaw({ startAt: new Date(s.engine.now().getTime() + 3_600_000) })
    await s.advance('59m')
    expect((await task.status()).status).toBe('scheduled')
    await s.advance('1m')
    expect((await task.status()).status).toBe('running')
    const other = await s.submit(work, false, { frozen: true })
    await other.cancel()
    await s.settle()
    expect((await other.status()).outcome).toBe('cancelled')
    for (const startAt of [new Date(Number.NaN), '1h', 3_600_000, null])
      expect(await codeOf(other.thaw({ startAt: startAt as Date }))).toBe('INVALID_OPTION')
  })

  it('has a plan that can be read, which is what begins once it is approved', async () => {
    let [planned, done] = [0, 0]
    const bank = agent('bank')
    const pay = bank.action('pay', { run: async () => ++done })
    const due = workflow('due', {
      plan: (bills: number[], plan) => bills.map((bill) => plan.step(pay, ++planned && bill).output),
    })
    await using s = await stage({ workflows: [due], agents: [bank] })
    const task = await s.submit(due, [7, 8], { frozen: true, startAt: '1h' })
    await s.advance('2h')
    const read = await task.plan()
    expect(read?.steps.map(({ input, standing }) => [input, standing])).toEqual([
      [7, 'ready'],
      [8, 'ready'],
    ])
    expect((await task.explain()).reasons).toMatchObject([{ code: 'frozen', planned: 2 }])
    expect([(await task.status()).status, done]).toEqual(['planned', 0])
    await task.thaw()
    await s.settle()
    expect((await task.status()).outcome).toBe('success')
    expect((await task.plan())?.steps.map(({ id, input }) => [id, input])).toEqual(
      read?.steps.map(({ id, input }) => [id, input]),
    )
    expect([planned, done]).toEqual([2, 2])
  })

  it('is not submitted at all where it cannot be planned, and does none of its plan where it is cancelled', async () => {
    let done = 0
    const bank = agent('bank')
    const pay = bank.action('pay', { run: async () => ++done })
    const due = workflow('due', {
      plan(bill: number, plan) {
        if (bill < 0) throw new Error('no such bill')
        plan.step(pay, bill)
      },
    })
    await using s = await stage({ workflows: [due], agents: [bank] })
    expect(await codeOf(s.submit(due, -1, { id: 'd', frozen: true }))).toBe('PLAN_FAILED')
    expect(await codeOf(s.engine.triarch.tasks.get('d').status())).toBe('UNKNOWN_TASK')
    const task = await s.submit(due, 1, { frozen: true, startBefore: '1h' })
    await task.cancel()
    const late = await s.submit(due, 1, { frozen: true, startBefore: '1h' })
    await s.advance('2h')
    expect([(await task.status()).outcome, (await late.status()).error?.code, done]).toEqual([
      'cancelled',
      'TASK_EXPIRED',
      0,
    ])
  })

  it('is found by its tag, and is told from one that was thawed and waits for something else', async () => {
    await using s = await stage({ workflows: [work] })
    const { triarch } = s.engine
    const found = async () => {
      const { tasks } = await triarch.tasks.list({ filter: 'tag.start:frozen status:scheduled,planned ready:false' })
      return tasks.flatMap(({ id, waits = [] }) => waits.map(({ code, of }) => `${id} ${code} ${of}`)).sort()
    }
    const untouched = await s.submit(work, false, { id: 'a', frozen: true, tags: { lot: '7' } })
    const told = await s.submit(work, false, { id: 'b', frozen: true })
    const thawed = await s.submit(work, false, { id: 'c', frozen: true })
    // As one that is submitted with the tags of another.
    const like = await s.submit(work, false, { id: 'd', startAt: '2h', tags: { start: 'frozen', lot: '8' } })
    const early = await s.submit(work, false, { id: 'e', startAt: '2h', tags: { start: 'early' } })
    await told.signal('news', null)
    await thawed.thaw({ startAt: new Date(s.engine.now().getTime() + 3_600_000) })
    await s.settle()
    expect(await found()).toEqual(['a frozen work', 'b frozen work'])
    expect((await untouched.status()).tags).toEqual({ lot: '7', start: 'frozen' })
    expect((await told.status()).waits).toMatchObject([{ code: 'frozen' }])
    expect((await thawed.status()).waits).toBeUndefined()
    expect((await like.status()).tags).toEqual({ lot: '8' })
    expect((await early.status()).tags).toEqual({ start: 'early' })
    await told.thaw()
    await s.settle()
    expect(await found()).toEqual(['a frozen work'])
  })

  it('keeps its time to start, and its antecedents', async () => {
    await using s = await stage({ workflows: [work] })
    await s.submit(work, false, { id: 'a' })
    const task = await s.submit(work, false, { frozen: true, after: 'a', startAt: '3h' })
    await s.advance('4h')
    expect((await task.status()).status).toBe('scheduled')
    await task.thaw()
    await s.settle()
    expect((await task.status()).status).toBe('running')
  })
})
