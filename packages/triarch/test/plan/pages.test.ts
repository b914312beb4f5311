import { describe, expect, it } from 'vitest'
import { agent, type LocalBatchDefinition, workflow } from '../../src/index.ts'
import { causes, eventsOf, stage } from '../engine/harness.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** A batch of this source, in a function or as an action; `started`: the inputs of its children. */
function of(items: LocalBatchDefinition<number>['items'], page: number) {
  const started: number[] = []
  const child = workflow('child', {
    async run(n: number) {
      started.push(n)
    },
  })
  const own = agent('own')
  const all = own.batch('all', {
    workflow: child,
    page,
    items: (_: null, request, step) => (typeof items === 'function' ? items(request, step) : items),
  })
  const local = workflow('local', {
    rescue: 'fail',
    run: (_: null, task) => task.batch('each', { workflow: child, items, page }),
  })
  const planned = workflow('planned', { rescue: 'fail', plan: (_: null, plan) => plan.step(all, null).output })
  return { started, flows: [local, planned], options: { workflows: [child, local, planned], agents: [own] } }
}

describe('the source of a batch', () => {
  it('gives at most the page that was asked for: a longer array fails the batch, and no child runs', async () => {
    const { started, flows, options } = of(() => numbers(7), 3)
    await using s = await stage(options)
    for (const flow of flows) {
      const task = await s.submit(flow, null)
      await expect(task.result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
      const { error } = await task.status()
      expect(error?.cause).toMatchObject({ code: 'BATCH_PAGE_INVALID', details: { offset: 0, limit: 3, given: 7 } })
      expect(await eventsOf(task, 'attemptFailed')).toHaveLength(1)
    }
    expect(started).toEqual([])
  })

  it('gives another page each time: the same one again fails the batch, and no child of it runs', async () => {
    const { started, flows, options } = of(() => numbers(3), 3)
    await using s = await stage(options)
    for (const flow of flows) {
      started.length = 0
      const task = await s.submit(flow, null)
      await expect(task.result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
      const { error } = await task.status()
      expect(error?.cause).toMatchObject({ code: 'BATCH_PAGE_INVALID', details: { offset: 3 } })
      expect(causes(error).join()).toContain('the same')
      expect(started).toEqual([0, 1, 2])
    }
  })

  it('may say the whole list by an iterable, of any length, and whatever repeats in it', async () => {
    const list = numbers(12).map((n) => n % 3)
    const { started, flows, options } = of(() => list.values(), 3)
    await using s = await stage(options)
    for (const flow of flows) {
      started.length = 0
      expect(await (await s.submit(flow, null)).result()).toMatchObject({ total: 12, success: 12 })
      expect(started.sort()).toEqual([...list].sort())
    }
  })

  it('is a list at hand of any length, whatever repeats in it', async () => {
    const list = numbers(12).map((n) => n % 3)
    const { started, flows, options } = of(list, 3)
    await using s = await stage(options)
    expect(await (await s.submit(flows[0] as never, null)).result()).toMatchObject({ total: 12, success: 12 })
    expect(started.sort()).toEqual([...list].sort())
  })

  it('may give pages of one and the same input', async () => {
    const { flows, options } = of(({ offset, limit }) => Array.from({ length: Math.min(limit, 10 - offset) }, () => 1), 3) // biome-ignore format: one line
    await using s = await stage(options)
    for (const flow of flows) expect(await (await s.submit(flow, null)).result()).toMatchObject({ total: 10 })
  })
})
