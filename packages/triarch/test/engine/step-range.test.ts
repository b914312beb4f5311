import { expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { stage } from './harness.ts'

const depot = agent('depot')
const pack = depot.action('pack', {
  run: async (_: string) => null,
  present: ({ input }) => `packs ${String(input).length} characters`,
})
const packs = workflow('packs', {
  plan: ({ sizes }: { sizes: readonly number[] }, plan) => {
    for (const size of sizes) plan.step(pack, 'x'.repeat(size))
  },
})

it('a range of steps has those after a number, no more than its limit, and no more than 1 MiB of them', async () => {
  await using s = await stage({ workflows: [packs], agents: [depot] })
  const sizes = [1, 2, 3, 250_000, 250_000, 250_000, 250_000, 250_000, 250_000]
  const task = await s.submit(packs, { sizes }, { id: 'p-1' })
  await s.settle()
  const all = await task.steps()
  expect(all).toHaveLength(sizes.length)
  const ids = all.map(({ id }) => id)
  const moment = await task.moment()
  expect([moment.steps, moment.next]).toEqual([all, undefined])
  for (const read of [
    async (range: object) => (await task.steps(range)).map(({ id }) => id),
    async (range: object) => (await task.moment(undefined, range)).steps.map(({ id }) => id),
  ]) {
    expect(await read({ after: ids[0] as number, limit: 2 })).toEqual(ids.slice(1, 3))
    expect(await read({ after: ids[2] as number })).toEqual(ids.slice(3))
    // Of the large ones there is room for four.
    expect(await read({ limit: 100 })).toEqual(ids.slice(0, 7))
    expect(await read({ after: ids[6] as number, limit: 100 })).toEqual(ids.slice(7))
    expect(await read({ after: ids.at(-1) as number, limit: 1 })).toEqual([])
    for (const wrong of [{ limit: 0 }, { after: -1 }, { limit: 1.5 }])
      await expect(read(wrong)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(read({ cursor: 1 })).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
  }
  expect((await task.moment(undefined, { limit: 100 })).next).toBe(ids[6])
  expect((await task.moment(undefined, { after: ids[6] as number, limit: 100 })).next).toBeUndefined()
})

it('a step that is larger than a range may be is given alone', async () => {
  await using s = await stage({ workflows: [packs], agents: [depot], limits: { payload: 4 * 1024 * 1024 } })
  const task = await s.submit(packs, { sizes: [1_500_000, 1, 1_500_000] }, { id: 'p-1' })
  await s.settle()
  const found: number[] = []
  for (let after = 0; ; ) {
    const steps = await task.steps({ after, limit: 10 })
    if (steps.length === 0) break
    found.push(steps.length)
    after = steps.at(-1)?.id ?? 0
  }
  expect(found).toEqual([1, 1, 1])
})

it('secrets are in no summary of a step, whether of now or of a record', async () => {
  const pay = depot.action('pay', {
    secrets: ['card'],
    run: async (_: { card: string }) => null,
    // Code may know what it was not given to show.
    present: () => 'paid by card 4711-0815-4711',
  })
  const paying = workflow('paying', { run: (_: unknown, task) => task.run(pay, { card: '4711-0815-4711' }) })
  await using s = await stage({ workflows: [paying], agents: [depot] })
  const task = await s.submit(paying, null, { id: 's-1' })
  await s.settle()
  expect((await task.steps())[0]?.summary).toBe('paid by card •••')
  expect((await task.moment()).steps[0]?.summary).toBe('paid by card •••')
})
