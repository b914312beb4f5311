import { describe, expect, it } from 'vitest'
import { workflow } from '../../src/index.ts'
import { retentionRules } from '../../src/supervisor/retention.ts'
import { stage } from './harness.ts'

const fine = workflow('fine', { run: async (_: null) => 'fine' })
const precious = workflow('precious', { retention: { success: null }, run: async (_: null) => 'precious' })
const brief = workflow('brief', {
  retention: '1h',
  async run(fails: boolean, task) {
    if (fails) throw new Error('no')
    return task.call(fine, null)
  },
})

describe('retention', () => {
  it('drops stopped tasks of each workflow in their time; what is kept is kept', async () => {
    const options = { workflows: [fine, precious, brief], retention: '2d', sweep: '1m', lease: '1d' } as const
    await using s = await stage(options)
    const tasks = {
      fine: await s.submit(fine, null),
      precious: await s.submit(precious, null),
      brief: await s.submit(brief, false, { id: 'brief' }),
      failed: await s.submit(brief, true),
    }
    await s.advance('50m')
    expect((await s.engine.triarch.tasks.list()).tasks).toHaveLength(5)
    await s.advance('20m')
    const { tasks: left } = await s.engine.triarch.tasks.list()
    expect(left.map(({ workflow }) => workflow).sort()).toEqual(['fine', 'fine', 'precious'])
    await expect(tasks.brief.status()).rejects.toMatchObject({ code: 'UNKNOWN_TASK' })
    await expect(tasks.failed.result()).rejects.toMatchObject({ code: 'UNKNOWN_TASK' })
    await s.advance('2d')
    expect((await s.engine.triarch.tasks.list()).tasks.map(({ workflow }) => workflow)).toEqual(['precious'])
    const again = await s.submit(brief, true, { id: 'brief' })
    await s.settle()
    await expect(again.result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
  })

  it('drops nothing unless asked to', async () => {
    await using s = await stage({ workflows: [fine], sweep: '1h', lease: '1d' })
    await s.submit(fine, null)
    await s.advance('52w')
    expect((await s.engine.triarch.tasks.list()).tasks).toHaveLength(1)
  })

  it('of several versions is the longest; results nobody names are kept as the rest', () => {
    const rules = retentionRules({ success: 10, error: 20 }, [
      { name: 'a', retention: { success: 5 } },
      { name: 'a', retention: { success: 7, error: null } },
      { name: 'b', retention: {} },
    ])
    const of = (name: string | null) =>
      Object.fromEntries(rules.filter(({ workflow }) => workflow === name).map(({ result, age }) => [result, age]))
    const unsaid = { warning: null, cancelled: null, compensated: null }
    expect(of('a')).toEqual({ success: 7, error: null, ...unsaid })
    expect(of(null)).toEqual({ success: 10, error: 20, ...unsaid })
    expect(rules.some(({ workflow }) => workflow === 'b')).toBe(false)
    expect(retentionRules({}, [{ name: 'a', retention: { success: null } }])).toEqual([])
  })

  it.each([
    ['soon', 'INVALID_DURATION'],
    [{ success: -1 }, 'INVALID_DURATION'],
    [{ succes: '1d' }, 'UNKNOWN_OPTION'],
    [[], 'INVALID_OPTION'],
  ])('refuses %j', async (retention, code) => {
    const given = { retention: retention as never }
    expect(() => workflow('x', { run: () => null, ...given })).toThrow(expect.objectContaining({ code }))
    await expect(stage(given)).rejects.toMatchObject({ code })
  })
})
