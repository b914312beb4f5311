import { Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '../src/index.ts'
import { type Shop, shop } from './shop.ts'

interface Receipt {
  id: string
  created: boolean
  outcome?: string
  output?: unknown
  error?: { message: string }
}

let here: Shop
beforeAll(async () => {
  here = await shop()
  await here.triarch.start()
})
afterAll(() => here[Symbol.asyncDispose]())

const submit = (body: object, query = '', headers?: Record<string, string>) =>
  here.ask('POST', `/tasks${query}`, body, headers)
const receiptOf = async (response: Response) => (await response.json()) as Receipt

describe('a task that is submitted', () => {
  it('is new once, and then the same: 201, 200', async () => {
    const body = { workflow: 'order', version: '1', input: { amount: 7 }, id: 'o/1 ü' }
    const first = await submit(body)
    expect(first.status).toBe(201)
    expect(first.headers.get('location')).toBe('tasks/o%2F1%20%C3%BC')
    expect(await receiptOf(first)).toEqual({ id: 'o/1 ü', created: true })
    const again = await submit(body, '?wait=30s')
    expect(again.status).toBe(200)
    expect(await receiptOf(again)).toEqual({
      ...{ id: 'o/1 ü', created: false },
      ...{ outcome: 'success', output: { receipt: 'r-7' } },
    })
    const task = await here.json('GET', `/${first.headers.get('location')}`)
    expect(task).toMatchObject({ id: 'o/1 ü', workflow: 'order', version: '1', status: 'stopped', outcome: 'success' })
  })

  it('is another order under the same id: 409', async () => {
    await submit({ workflow: 'order', version: '1', input: { amount: 1 }, id: 'same' })
    const other = await submit({ workflow: 'order', version: '1', input: { amount: 2 }, id: 'same' })
    expect(other.status).toBe(409)
    expect(await other.json()).toMatchObject({ code: 'TASK_EXISTS', status: 409 })
    const any = { workflow: 'order', version: '1', input: { amount: 2 }, id: 'same', ifExists: 'return' }
    expect((await submit(any)).status).toBe(200)
    expect((await submit({ ...any, ifExists: 'reject' })).status).toBe(409)
  })

  it('is refused while as many wait as may: 429, with when to ask again', async () => {
    const workflows = [workflow('bounded', { maxQueued: 2, run: async () => null })]
    await using triarch = new Triarch({ store: sqlite(':memory:'), workflows, notices: false })
    await using server = createServer(triarch, { workflows, open: true })
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"workflow":"bounded","version":"1","input":null}',
    }
    const ask = () => server.fetch(new Request('http://localhost/api/v1/tasks', init))
    expect([(await ask()).status, (await ask()).status]).toEqual([201, 201])
    const refused = await ask()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({ code: 'QUEUE_FULL', details: { workflow: 'bounded', most: 2 } })
  })

  it('has the id of its Idempotency-Key, quoted or not, unless the body gives one', async () => {
    const body = { workflow: 'order', version: '1', input: { amount: 3 } }
    const ids = async (headers: Record<string, string>, more = {}) =>
      receiptOf(await submit({ ...body, ...more }, '', headers))
    expect(await ids({ 'idempotency-key': 'k-1' })).toEqual({ id: 'k-1', created: true })
    expect(await ids({ 'idempotency-key': '"k-1"' })).toEqual({ id: 'k-1', created: false })
    expect(await ids({ 'idempotency-key': 'k-1' }, { id: 'k-2' })).toEqual({ id: 'k-2', created: true })
  })

  it('has an id of its own when none is given', async () => {
    const [one, two] = await Promise.all([1, 2].map(async () => receiptOf(await submit({ workflow: 'failing' }))))
    expect(one?.id).not.toBe(two?.id)
    expect([one?.created, two?.created]).toEqual([true, true])
  })

  it('answers with how it ended, whatever that is', async () => {
    const failed = await submit({ workflow: 'failing', id: 'f-1' }, '?wait=30s')
    expect(failed.status).toBe(201)
    expect(await receiptOf(failed)).toMatchObject({ outcome: 'error', error: { message: 'nothing works' } })
  })

  it('that does not end in time is accepted: 202, where it is, and when to ask', async () => {
    const response = await submit({ workflow: 'approval', id: 'a-1' }, '?wait=1ms')
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe('tasks/a-1')
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await receiptOf(response)).toEqual({ id: 'a-1', created: true })
  })

  it('takes every option that makes sense from outside', async () => {
    const response = await submit({
      ...{ workflow: 'order', version: '1', input: { amount: 1 }, id: 'later', startAt: '2999-01-01T00:00:00+01:00' },
      ...{
        completeBy: '3000d',
        exclusive: { key: 'till', ifHeld: 'queue' },
        after: ['f-0', { task: 'f-1', on: 'end' }],
        frozen: true,
      },
      ...{ priority: 5, tags: { customer: 'ada' }, metadata: { tenant: 't' } },
    })
    expect(response.status).toBe(201)
    const task = await here.json('GET', '/tasks/later')
    expect(task).toMatchObject({
      status: 'scheduled',
      priority: 5,
      tags: { customer: 'ada' },
      metadata: { tenant: 't' },
    })
  })

  it('runs the last version in the list, or the one that is named', async () => {
    expect((await submit({ workflow: 'order', id: 'v', input: { amount: 1 } })).status).toBe(201)
    expect(await here.json('GET', '/tasks/v')).toMatchObject({ version: '1' })
    const two = await submit({ workflow: 'order', version: '2', id: 'v2' }, '?wait=30s')
    expect((await receiptOf(two)).output).toEqual({ receipt: 'new' })
    expect((await submit({ workflow: 'order', version: '3' })).status).toBe(404)
    expect((await submit({ workflow: 'nothing' })).status).toBe(404)
  })

  it('is refused by its schema: 422, with every issue', async () => {
    const response = await submit({ workflow: 'order', version: '1', input: { amount: 'many' } })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ code: 'INVALID_INPUT', details: { issues: [{ path: 'amount' }] } })
  })

  it.each([
    [{}, 'body.workflow'],
    [{ workflow: 'order', inputs: 1 }, 'body'],
    [{ workflow: 'order', startAt: 'tomorrow' }, 'body.startAt'],
    [{ workflow: 'order', transaction: {} }, 'body'],
    [{ workflow: 'order', tags: { a: 1 } }, 'body.tags.a'],
  ])('is no task when it is written like this: %j', async (body, path) => {
    const response = await submit(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ path }] })
  })

  it.each(['.', '..', 'a~b', '', 'x\u0000', 'x'.repeat(201)])('has no id that nothing leads to: %j', async (id) => {
    const response = await submit({ workflow: 'failing', id })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'INVALID_NAME' })
  })
})

describe('who waits for a task', () => {
  interface Change {
    task: { status: string; outcome: string }
    mark: string
  }

  it('is told how it ended, or to ask again: 200, 202', async () => {
    await submit({ workflow: 'approval', id: 'w-1' })
    const early = await here.ask('GET', '/tasks/w-1/outcome?wait=1ms')
    expect([early.status, early.headers.get('retry-after')]).toEqual([202, '1'])
    const waiting = here.json('GET', '/tasks/w-1/outcome?wait=60s')
    await here.ask('POST', '/tasks/w-1/signal', { name: 'decided', payload: { by: 'ada' } })
    expect(await waiting).toEqual({ outcome: 'success', output: 'ada' })
    expect((await here.ask('GET', '/tasks/nobody/outcome?wait=1s')).status).toBe(404)
  })

  it('is told as soon as it is not as it was', async () => {
    await submit({ workflow: 'approval', id: 'w-2' })
    await expect.poll(() => here.json('GET', '/tasks/w-2')).toMatchObject({ status: 'running' })
    const first = await here.json<Change>('GET', '/tasks/w-2/change?wait=60s')
    expect(first.task.status).toBe('running')
    expect(await here.json<Change>('GET', `/tasks/w-2/change?after=${first.mark}&wait=1ms`)).toEqual(first)
    const waiting = here.json<Change>('GET', `/tasks/w-2/change?after=${first.mark}&wait=60s`)
    await here.ask('POST', '/tasks/w-2/pause')
    const second = await waiting
    expect(second.task.status).toBe('paused')
    await here.ask('POST', '/tasks/w-2/cancel', { compensate: false })
    for (let { mark, task } = second; task.status !== 'stopped'; )
      ({ mark, task } = await here.json<Change>('GET', `/tasks/w-2/change?after=${mark}&wait=60s`))
    expect((await here.ask('GET', '/tasks/nobody/change?wait=1s')).status).toBe(404)
  })
})

describe('tasks', () => {
  it('are listed a page at a time, by all that list() takes', async () => {
    for (const id of ['l-1', 'l-2', 'l-3'])
      await submit({ workflow: 'order', input: { amount: 1 }, id, tags: { list: 'a&b', 'x[y]': '1' } }, '?wait=30s')
    const query =
      'tags[list]=a%26b&status=stopped&status=running&outcome=success&workflow=order&order=oldest&limit=2&submittedAfter=2020-01-01T00:00:00Z'
    const first = await here.json<{ tasks: { id: string }[]; next: string }>('GET', `/tasks?${query}`)
    expect(first.tasks.map(({ id }) => id)).toEqual(['l-1', 'l-2'])
    const rest = await here.json<{ tasks: { id: string }[]; next?: string }>(
      'GET',
      `/tasks?${query}&cursor=${first.next}`,
    )
    expect(rest.tasks.map(({ id }) => id)).toEqual(['l-3'])
    expect(rest.next).toBeUndefined()
    expect(await here.json('GET', '/tasks?tags[x[y]]=2')).toEqual({ tasks: [] })
    expect(await here.json('GET', '/tasks?quarantined=true')).toEqual({ tasks: [] })
  })

  it('are listed by a filter, and told where one is wrong', async () => {
    for (const id of ['f-1', 'f-2'])
      await submit({ workflow: 'order', input: { amount: 1 }, id, tags: { filter: id } }, '?wait=30s')
    const filter = encodeURIComponent('id:f-* -tag.filter:f-1 outcome:success')
    const found = await here.json<{ tasks: { id: string }[] }>('GET', `/tasks?filter=${filter}`)
    expect(found.tasks.map(({ id }) => id)).toEqual(['f-2'])
    const response = await here.ask('GET', '/tasks?filter=stats:paused')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'INVALID_FILTER', details: { position: 0 } })
  })

  it.each([
    'status=lost',
    'limit=0',
    'limit=1e3',
    'cursor=x',
    'tags=x',
    'tag[x]=y',
    'order=oldest&order=newest',
    'colour=red',
    'quarantined=false',
  ])('are not listed by %s', async (query) => {
    const response = await here.ask('GET', `/tasks?${query}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST' })
  })

  it('show their steps, their history, their plan, their children, and why they wait', async () => {
    await submit({ workflow: 'planned', input: { amount: 9 }, id: 'p' }, '?wait=30s')
    expect(await here.json('GET', '/tasks/p/steps')).toMatchObject({ steps: [{ name: 'charge', status: 'success' }] })
    expect(await here.json('GET', '/tasks/p/plan')).toMatchObject({
      plan: { steps: [{ action: 'bank.charge', standing: 'done' }] },
    })
    await submit({ workflow: 'parent', id: 'family' }, '?wait=30s')
    expect(await here.json('GET', '/tasks/family/plan')).toEqual({ plan: null })
    expect(await here.json('GET', '/tasks/family/children?status=stopped')).toMatchObject({
      tasks: [{ parent: 'family' }],
    })
    await submit({ workflow: 'approval', id: 'waits' })
    await expect
      .poll(() => here.json('GET', '/tasks/waits/explain'))
      .toMatchObject({ reasons: [{ code: 'signal', name: 'decided' }] })
  })

  it('show their history page by page, without a gap', async () => {
    type Page = { records: { seq: number; events: { type: string }[] }[]; next?: number }
    const all = await here.json<Page>('GET', '/tasks/p/history')
    const pages: Page['records'] = []
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: Page = await here.json<Page>('GET', `/tasks/p/history?after=${after}&limit=1`)
      pages.push(...page.records)
      after = page.next
    }
    expect(pages).toEqual(all.records)
    expect(all.records.map(({ seq }) => seq)).toEqual(all.records.map((_, index) => index + 1))
    expect(all.records.every(({ events }) => events.length > 0)).toBe(true)
  })

  describe('of thousands of steps, or of large ones', () => {
    type Page = { steps: { id: number; input: { n: number } }[]; next?: number; seq?: number }
    /** Bytes of an answer, beside the events of the record that a moment is of: those of the steps of a page, and of what is around them. */
    const most = 1024 * 1024 + 1_000

    async function pages(path: string): Promise<Page[]> {
      const all: Page[] = []
      for (let after: number | undefined = 0; after !== undefined; after = all.at(-1)?.next) {
        const { events: _, ...page } = await here.json<Page & { events?: unknown }>('GET', `${path}?after=${after}`)
        expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(most)
        all.push(page)
      }
      return all
    }

    /** Planned, and not begun: each step is known. */
    async function planned(id: string, steps: number, size: number): Promise<void> {
      await submit({ workflow: 'broad', id, frozen: true, input: { steps, size } })
      await expect.poll(() => here.json('GET', `/tasks/${id}`)).toMatchObject({ status: 'planned' })
    }

    it.each(['steps', 'moment'])('show their %s a page at a time, without a gap: 1,000 steps at most', async (part) => {
      await planned(`wide-${part}`, 2_500, 1)
      const found = await pages(`/tasks/wide-${part}/${part}`)
      expect(found.map(({ steps }) => steps.length)).toEqual([1_000, 1_000, 500])
      const steps = found.flatMap(({ steps }) => steps)
      expect(steps.map(({ input }) => input.n)).toEqual([...Array(2_500).keys()])
      const some = await here.json<Page>('GET', `/tasks/wide-${part}/${part}?after=${steps[9]?.id}&limit=2`)
      expect(some).toMatchObject({ steps: steps.slice(10, 12), next: steps[11]?.id })
      const last = await here.json<Page>('GET', `/tasks/wide-${part}/${part}?after=${steps.at(-1)?.id}`)
      expect([last.steps, last.next]).toEqual([[], undefined])
      for (const limit of [0, 1_001])
        expect((await here.ask('GET', `/tasks/wide-${part}/${part}?limit=${limit}`)).status).toBe(400)
    })

    it.each(['steps', 'moment'])('show no more than 1 MiB of their %s in an answer', async (part) => {
      await planned(`large-${part}`, 6, 100_000)
      const found = await pages(`/tasks/large-${part}/${part}`)
      expect(found.map(({ steps }) => steps.length)).toEqual([5, 1])
    })
  })

  it('are waited for, also where they were submitted before', async () => {
    await submit({ workflow: 'approval', id: 'wanted' })
    const asked = here.json('GET', '/tasks/wanted?wait=30s')
    expect((await here.ask('POST', '/tasks/wanted/signal', { name: 'decided', payload: { by: 'ada' } })).status).toBe(
      202,
    )
    expect(await asked).toMatchObject({ status: 'stopped', output: 'ada' })
  })

  it.each(['', '/steps', '/history', '/logs', '/plan', '/children', '/explain'])(
    'that nobody knows are not found: %s',
    async (part) => {
      const response = await here.ask('GET', `/tasks/nobody${part}`)
      // Of nobody there are no children: whether there is such a task is not asked.
      expect(response.status).toBe(part === '/children' ? 200 : 404)
    },
  )
})
