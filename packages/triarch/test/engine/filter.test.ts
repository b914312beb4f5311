import { describe, expect, it } from 'vitest'
import type { Connection } from '../../src/client/connection.ts'
import { readPage } from '../../src/client/page.ts'
import { agent, encrypt, type ListOptions, PermanentError, workflow } from '../../src/index.ts'
import type { ListQuery, TaskRow } from '../../src/store/port.ts'
import { type Stage, stage } from './harness.ts'

const ids = async ({ engine }: Stage, options: ListOptions) => {
  return (await engine.triarch.tasks.list(options)).tasks.map(({ id }) => id)
}

describe.each([
  ['as it is', undefined],
  ['encoded', [encrypt({ keys: [{ id: 'k', key: new Uint8Array(32).fill(7) }] })]],
])('a list of what went wrong, in a store that has it %s', (_, codec) => {
  const bank = agent('bank')
  const charge = bank.action('charge', {
    async run(why: string) {
      throw Object.assign(new PermanentError(why), { code: 'DECLINED' })
    },
  })
  const order = workflow('order', { run: async (why: string, task) => task.run(charge, why) })
  const held = workflow('held', {
    run: async (why: string, task) => task.run(charge, why, { name: 'take money', rescue: 'pause' }),
  })
  const fine = workflow('fine', { run: async (_: null) => 'done' })

  it('finds tasks by step, reason and error, and by what they lack', async () => {
    await using s = await stage({ workflows: [order, held, fine], agents: [bank], ...(codec && { codec }) })
    await s.submit(order, 'the Card was declined', { id: 'failed' })
    await s.submit(held, 'no money', { id: 'paused' })
    await s.submit(fine, null, { id: 'fine', tags: { customer: '42' } })
    await s.settle()
    const found: [filter: string, ids: string[]][] = [
      ['step:charge', ['paused', 'failed']],
      ['step:bank.charge error~"card was"', ['failed']],
      ['step:"take money" status:paused', ['paused']],
      ['step:ship', []],
      ['error:DECLINED', ['paused', 'failed']],
      ['error:STEP_*', ['failed']],
      ['cause:step', ['paused']],
      ['-cause:* -error:*', ['fine']],
      ['-error~declined sort:oldest', ['paused', 'fine']],
      ['-error:* tag.customer:42', ['fine']],
      ['outcome:success,error', ['fine', 'failed']],
    ]
    for (const [filter, expected] of found) expect(await ids(s, { filter }), filter).toEqual(expected)
    expect(await ids(s, { filter: '-step:ship', status: 'stopped', order: 'oldest' })).toEqual(['failed', 'fine'])
    const [paused] = (await s.engine.triarch.tasks.list({ filter: 'id:paused' })).tasks
    expect(paused?.pause).toMatchObject({ cause: 'step', step: 'take money' })
    if (codec) await s.kill() // nobody else could read its history
  })
})

describe('a filter', () => {
  it('counts how old a task is until now', async () => {
    const fine = workflow('fine', { run: async (_: null) => 'done' })
    await using s = await stage({ workflows: [fine] })
    await s.submit(fine, null, { id: 'old' })
    await s.advance('3h')
    await s.submit(fine, null, { id: 'young' })
    await s.settle()
    expect([await ids(s, { filter: 'age:>2h' }), await ids(s, { filter: 'age:<2h' })]).toEqual([['old'], ['young']])
    expect(await ids(s, { filter: 'idle:>=3h' })).toEqual(['old'])
  })

  it('that cannot be read, or says otherwise than an option does, is refused', async () => {
    await using s = await stage()
    await expect(s.engine.triarch.tasks.list({ filter: 'stats:paused' })).rejects.toMatchObject({
      code: 'INVALID_FILTER',
      details: { position: 0, hint: 'did you mean status:?' },
    })
    const both = { filter: 'sort:oldest', order: 'newest' } as const
    await expect(s.engine.triarch.tasks.list(both)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('a page', () => {
  const row = (key: number) =>
    ({ key, id: `t${key}`, ...{ progress: null, output: null, error: null, pause: null } }) as unknown as TaskRow
  const connection = (answer: (query: ListQuery) => { rows: TaskRow[]; looked: number | null }) => {
    const asked: ListQuery[] = []
    const list = async (query: ListQuery) => {
      asked.push(query)
      return answer(query)
    }
    return { asked, connection: { store: { list }, shown: async (it: TaskRow) => it } as unknown as Connection }
  }
  const query: ListQuery = { where: [], limit: 2, order: 'oldest' }
  const keys = (page: { tasks: unknown[] }) => page.tasks.map((task) => Number((task as TaskRow).id.slice(1)))

  it('is looked for until it is full, and the next begins behind its last row', async () => {
    const looks = [
      { rows: [row(3)], looked: 100 },
      { rows: [], looked: 200 },
      { rows: [row(201), row(202)], looked: null },
    ]
    const { asked, connection: it } = connection(() => looks.shift() ?? { rows: [], looked: null })
    const page = await readPage(it, query)
    expect([keys(page), page.next, page.truncated]).toEqual([[3, 201], '201', undefined])
    expect(asked.map(({ after, limit }) => [after, limit])).toEqual([
      [undefined, 3],
      [100, 2],
      [200, 2],
    ])
  })

  it('is given as it is after so many looks, with where they ended', async () => {
    const { asked, connection: it } = connection(({ after = 0 }) => ({ rows: [], looked: after + 10 }))
    const page = await readPage(it, query)
    expect([keys(page), page.next, page.truncated, asked.length]).toEqual([[], '400', true, 40])
  })

  it('that is full is not truncated, however long that took', async () => {
    const { connection: it } = connection(({ after = 0 }) => ({
      rows: after === 0 ? [row(1), row(2)] : [],
      looked: after + 10,
    }))
    const page = await readPage(it, query)
    expect([keys(page), page.next, page.truncated]).toEqual([[1, 2], '400', undefined])
  })

  it('leaves nothing out where the store cannot say what fits', async () => {
    const all = Array.from({ length: 1_000 }, (_, n) => row(n + 1))
    const { connection: it } = connection(({ after = 0, limit }) => ({
      rows: all.slice(after, after + limit),
      looked: null,
    }))
    const found: number[] = []
    let after: number | undefined
    do {
      const page = await readPage(it, { ...query, ...(after !== undefined && { after }) }, ({ key }) => key % 333 === 0)
      found.push(...keys(page))
      after = page.next === undefined ? undefined : Number(page.next)
    } while (after !== undefined)
    expect(found).toEqual([333, 666, 999])
  })
})
