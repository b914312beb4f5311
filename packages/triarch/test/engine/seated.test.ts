import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

describe('a concurrency that all nodes share', () => {
  it('holds while attempts of a task that was cancelled by force still run on another node', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const running = new Set<() => void>()
    let most = 0
    const bank = agent('bank', { concurrency: { shared: 2 } })
    const charge = bank.action('charge', {
      attemptWithin: '1h',
      // It hears of its cancellation, and ends in its own time.
      run: () =>
        new Promise<void>((resolve) => {
          const end = () => running.delete(end) && resolve()
          running.add(end)
          most = Math.max(most, running.size)
        }),
    })
    const flow = workflow('flow', { run: (_: null, task) => task.run(charge) })
    const common = { environment, store: file.store, poll: '100ms', sweep: '1s', lease: '1h' } as const
    await using owner = await stage({ ...common, roles: ['scheduler', 'supervisor'], workflows: [flow] })
    await using _one = await stage({ ...common, roles: ['agent'], agents: [bank] })
    await using _two = await stage({ ...common, roles: ['agent'], agents: [bank] })
    const first = [await owner.submit(flow, null), await owner.submit(flow, null)]
    await owner.advance('1s')
    expect(running.size).toBe(2)
    const next = [await owner.submit(flow, null), await owner.submit(flow, null)]
    for (const task of first) await task.cancel({ force: true })
    await owner.advance('30s')
    for (const task of first) expect(await task.status()).toMatchObject({ outcome: 'cancelled' })
    expect([running.size, most]).toEqual([2, 2])
    // As each of them ends, one of the others begins.
    for (const end of [...running]) end()
    await owner.advance('30s')
    expect([running.size, most]).toEqual([2, 2])
    for (const end of [...running]) end()
    await owner.advance('30s')
    for (const task of next) expect(await task.status()).toMatchObject({ outcome: 'success' })
  })

  it('leaves nothing behind of keys that nobody uses any more', async () => {
    using file = scratch()
    const bank = agent('bank', {
      concurrency: { shared: 2, key: (input) => `t${(input as { tenant: number }).tenant}` },
    })
    const charge = bank.action('charge', { run: async ({ tenant }: { tenant: number }) => tenant })
    const flow = workflow('flow', { run: (input: { tenant: number }, task) => task.run(charge, input) })
    await using s = await stage({ store: file.store, workflows: [flow], agents: [bank], poll: '100ms', sweep: '1s' })
    const tasks = await Promise.all(Array.from({ length: 20 }, (_, tenant) => s.submit(flow, { tenant })))
    await s.advance('30s')
    for (const task of tasks) expect(await task.status()).toMatchObject({ outcome: 'success' })
    using database = new DatabaseSync(file.path)
    expect(database.prepare('SELECT count(*) AS seats FROM triarch_seats').get()).toEqual({ seats: 0 })
  })
})
