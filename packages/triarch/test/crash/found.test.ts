import { expect, it } from 'vitest'
import { agent, PermanentError, workflow } from '../../src/index.ts'
import { eventsOf, stage } from '../engine/harness.ts'

// What seeds of the crash test found, made small.

it('a task forced to stop in the midst of its compensation starts over when it is tried again', async () => {
  let broken = true
  const own = agent('shop')
  const first = own.action('first', {
    run: () => 'made',
    undo() {
      throw new Error('not yet')
    },
    undoRetry: { backoff: { initial: '1h', max: '1h' } },
  })
  const second = own.action('second', {
    run() {
      if (broken) throw new PermanentError('refused')
      return 'done'
    },
  })
  const flow = workflow('flow', {
    async run(_: null, task) {
      await task.run(first, null as never)
      return task.run(second, null as never)
    },
  })
  await using s = await stage({ workflows: [flow], agents: [own] })
  const task = await s.submit(flow, null)
  await s.settle()
  expect((await task.status()).status).toBe('compensating')
  await task.cancel({ force: true })
  await s.settle()
  broken = false
  await task.retry()
  await s.settle()
  expect(await task.result()).toBe('done')
  expect(await eventsOf(task, 'continuedAsNew')).toHaveLength(1)
})
