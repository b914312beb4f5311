import { describe, expect, it } from 'vitest'
import { agent, PermanentError, workflow } from '../../src/index.ts'
import { causes, codeOf, eventsOf, never, stage } from './harness.ts'

const ran: string[] = []
const bank = agent('bank')
const act = bank.action('act', {
  run: (n: number) => ran.push(`act ${n}`),
  undo: ({ input }) => void ran.push(`-${input}`),
})
const bad = bank.action('bad', { run: () => Promise.reject(new PermanentError('refused')) })
const slow = bank.action('slow', { run: () => never() })
const child = workflow('child', { run: (_: null, task) => task.sleep('1h') })
const flow = workflow('flow', {
  async run(how: string, task) {
    if (how === 'not awaited') task.run(act, 1)
    if (how === 'after another') {
      await task.run(act, 1)
      task.run(slow, null)
    }
    if (how === 'refused') {
      task.run(bad, null)
      await task.sleep('10s')
    }
    if (how === 'local') task.run('local', () => 1)
    if (how === 'call') task.call(child, null)
    if (how === 'done meanwhile') {
      task.run(act, 1)
      await task.sleep('10s')
    }
    if (how === 'raced') await Promise.race([task.run(slow, null), task.sleep('1s')])
    if (how === 'all settled') await Promise.allSettled([task.run(bad, null)])
    if (how === 'let go') task.run(slow, null).catch(() => undefined)
    if (how === 'started') await task.start(child, null)
    if (how === 'handed on') return task.run(act, 7)
    return 'ok'
  },
})

describe('a forgotten await', () => {
  it.each(['not awaited', 'after another', 'refused', 'local', 'call'])('is no silent success (%s)', async (how) => {
    await using s = await stage({ workflows: [flow, child], agents: [bank] })
    const task = await s.submit(flow, how)
    await s.advance('1m')
    const { outcome, error } = await task.status()
    expect(['error', 'compensated']).toContain(outcome)
    expect(error?.code).toBe('UNAWAITED_STEP')
    expect(error?.message).toMatch(/"(bank\.(act|slow|bad)|local|child)"/)
    if (how === 'refused') expect(causes(error).at(-1)).toMatch(/refused/)
    if (how === 'after another') expect(ran.at(-1)).toBe('-1')
  })

  it.each(['done meanwhile', 'raced', 'all settled', 'let go', 'started', 'handed on'])(
    'is not what %s means',
    async (how) => {
      await using s = await stage({ workflows: [flow, child], agents: [bank] })
      const task = await s.submit(flow, how)
      await s.advance('1m')
      expect(await codeOf(task.result())).toBe('nothing')
    },
  )

  it('ends the task in the same way wherever its code is run again', async () => {
    const file = await stage({ workflows: [flow, child], agents: [bank] })
    await using s = file
    const task = await s.submit(flow, 'after another')
    await s.advance('1m')
    expect(await eventsOf(task, 'threw')).toMatchObject([{ error: { code: 'UNAWAITED_STEP' } }])
    await task.retry()
    await s.advance('1m')
    expect((await task.status()).error?.code).toBe('UNAWAITED_STEP')
    expect((await task.status()).pause).toBeUndefined()
  })
})
