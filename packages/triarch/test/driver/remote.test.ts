import { afterAll, describe, expect, it, vi } from 'vitest'
import { agent, Triarch, workflow } from '../../src/index.ts'
import type { driverOf } from '../../src/scheduler/drivers.ts'
import { scratch } from '../engine/scratch.ts'
import { Remote, RemoteDriver } from './remote.ts'

const remote = new Remote()
afterAll(() => remote[Symbol.asyncDispose]())

// What another way to write workflows adds to the engine: a folder of its own, and this line.
vi.mock(import('../../src/scheduler/drivers.ts'), async (actual) => {
  const usual = await actual()
  const withRemote: typeof driverOf = (workflow, ...given) =>
    workflow?.name === 'pricing' ? new RemoteDriver(remote, ...given) : usual.driverOf(workflow, ...given)
  return { ...usual, driverOf: withRemote }
})

/** Its code is elsewhere: what stands here is never run. */
const pricing = workflow('pricing', {
  run: (_: { orders: number[] }): number => {
    throw new Error('this is not where the code runs')
  },
})

describe('code in another process', () => {
  it('decides, is told what came of that, and ends its task', async () => {
    using file = scratch()
    const desk = agent('desk')
    desk.action('price', { run: (order: number) => order * 2 })
    await using triarch = new Triarch({ store: file.store, workflows: [pricing], agents: [desk] })
    await triarch.start()
    const task = await triarch.submit(pricing, { orders: [1, 2, 3] })
    expect(await task.result()).toBe(24)
    const types = (await task.history()).flatMap(({ events }) => events.map(({ type }) => type))
    expect(types.filter((type) => type === 'stepRequested')).toHaveLength(4)
    expect(types.at(-1)).toBe('stopped')
  })

  it('goes on from the history when another scheduler takes the task over, and decides nothing twice', async () => {
    using file = scratch()
    const sum = Promise.withResolvers<void>()
    const lost = agent('desk')
    lost.action('price', {
      run: async (order: number) => {
        if (order < 12) return order * 2
        sum.resolve()
        return new Promise<never>(() => undefined)
      },
    })
    const first = new Triarch({ store: file.store, workflows: [pricing], agents: [lost] })
    await first.start()
    const { id } = await first.submit(pricing, { orders: [1, 2, 3] })
    await sum.promise
    await first.stop({ grace: 0 })

    const desk = agent('desk')
    desk.action('price', { run: (order: number) => order * 2 })
    await using second = new Triarch({ store: file.store, workflows: [pricing], agents: [desk] })
    await second.start()
    const task = second.tasks.get(id)
    expect(await task.result()).toBe(24)
    const events = (await task.history()).flatMap(({ events }) => events)
    expect(events.filter(({ type }) => type === 'stepRequested')).toHaveLength(4)
  })
})
