import { expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { sizeOf } from '../../src/kernel/size.ts'
import { VirtualEnvironment } from '../../src/testing/index.ts'
import { seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

it('writes many large outputs of attempts that end together in calls of a bounded size', async () => {
  using file = scratch()
  const environment = new VirtualEnvironment()
  const calls: number[] = []
  const store = seen(file.store, (inner) => ({
    reply: (replies) => {
      calls.push(replies.reduce((sum, { message }) => sum + sizeOf(message), 0))
      return inner.reply(replies)
    },
  }))
  const { promise: all, resolve: open } = Promise.withResolvers<void>()
  let begun = 0
  const scans = agent('scans', { concurrency: 100 })
  const scan = scans.action('scan', {
    async run(page: number) {
      if (++begun === 100) open()
      await all
      return `${page}`.padEnd(250_000, 'x')
    },
  })
  const book = workflow('book', {
    run: async (_: null, task) =>
      (await Promise.all(Array.from({ length: 100 }, (_, page) => task.run(scan, page)))).map((text) => text.length),
  })
  await using owner = await stage({ store, environment, roles: ['scheduler'], workflows: [book], poll: '100ms' })
  await using _worker = await stage({ store, environment, roles: ['agent'], agents: [scans], poll: '100ms' })
  const task = await owner.submit(book, null)
  await owner.advance('10s')
  expect(await task.result()).toEqual(Array.from({ length: 100 }, () => 250_000))
  expect(Math.max(...calls)).toBeGreaterThan(15 * 1024 * 1024)
  expect(Math.max(...calls)).toBeLessThanOrEqual(16 * 1024 * 1024)
})
