import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent, workflow } from '../../src/index.ts'
import { codeOf, stage } from './harness.ts'

const log: string[] = []
const bank = agent('bank')
const undo = () => void log.push('undone')
const charge = bank.action('charge', { run: (): unknown => log.push('charged') && { id: 5n }, undo })
const large = bank.action('large', { run: (): unknown => log.push('charged') && 'x'.repeat(5_000), undo })
const odd = bank.action('odd', {
  output: z.string(),
  run: (): never => log.push('charged') as never,
  undo,
  rescue: 'skip',
})
const asked = bank.action('asked', {
  run: (): unknown => log.push('charged') && { id: 5n },
  verify: () => ({ done: true, output: 'by its key' }),
  undo,
})
const actions = { charge, large, odd, asked }
const flow = workflow('flow', {
  async run(which: keyof typeof actions, task) {
    const id = await task.run(actions[which] as typeof charge, undefined as never)
    if (id === 'by hand') throw new Error('and then it failed')
    return id
  },
})

describe('an answer that cannot be stored', () => {
  it.each(['charge', 'large', 'odd'] as const)(
    'leaves no effect behind unseen: an operator is asked (%s)',
    async (which) => {
      log.length = 0
      await using s = await stage({ workflows: [flow], agents: [bank], limits: { payload: 1_000 } })
      const task = await s.submit(flow, which)
      await s.advance('1h')
      expect(await task.status()).toMatchObject({ status: 'paused', pause: { error: { code: 'STEP_UNRECORDABLE' } } })
      expect(s.alerts).toMatchObject([{ step: 1 }])
      expect(log).toEqual(['charged'])
      await task.skip({ step: 1, output: 'seen to' })
      await s.settle()
      expect(await task.result()).toBe('seen to')
    },
  )

  it('is found out where the service can be asked', async () => {
    log.length = 0
    await using s = await stage({ workflows: [flow], agents: [bank] })
    const task = await s.submit(flow, 'asked')
    await s.advance('1m')
    expect(await codeOf(task.result())).toBe('nothing')
    expect(await task.result()).toBe('by its key')
    expect(log).toEqual(['charged'])
  })
})
