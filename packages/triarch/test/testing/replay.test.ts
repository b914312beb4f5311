import { describe, expect, it } from 'vitest'
import { agent, type TaskExport, workflow } from '../../src/index.ts'
import { replayHistory, testEngine } from '../../src/testing/index.ts'
import { codeOf } from '../engine/harness.ts'

const own = agent('own')
const ran: number[] = []
const act = own.action('act', { run: (n: number) => void ran.push(n) })
const twice = workflow('twice', {
  async run(n: number, task) {
    await task.run(act, n)
    await task.sleep('1h')
    await task.run(act, n + 1)
  },
})
const planned = workflow('planned', { plan: (n: number, plan) => void plan.step(act, n) })

/** Of a task in the middle of its sleep, and of a plan that is done. */
async function histories(): Promise<Record<'sleeping' | 'planned', TaskExport>> {
  await using engine = await testEngine({ workflows: [twice, planned], agents: [own] })
  const sleeping = await engine.submit(twice, 1, { id: 'sleeping' })
  const plan = await engine.submit(planned, 1)
  await engine.settle()
  return { sleeping: await sleeping.export(), planned: await plan.export() }
}

describe('a history that is replayed', () => {
  it('agrees with the code that made it, as it is and from a file, and runs no step', async () => {
    const { sleeping, planned: plan } = await histories()
    const before = ran.length
    const agreed = { workflow: 'twice', version: '1', decisions: 2 }
    expect(await replayHistory(sleeping, [twice])).toEqual(agreed)
    expect(await replayHistory(JSON.parse(JSON.stringify(sleeping)), [twice])).toEqual(agreed)
    expect(await replayHistory(plan, [planned])).toMatchObject({ workflow: 'planned' })
    expect(ran).toHaveLength(before)
  })

  it('disagrees with code that asks for something else, and with none at all', async () => {
    const { sleeping } = await histories()
    const changed = workflow('twice', { run: (_: number, task) => task.sleep('1h') })
    const { error } = await replayHistory(sleeping, [changed])
    expect(error).toMatchObject({ code: 'HISTORY_MISMATCH', details: { decision: 1 } })
    const newer = workflow('twice', { version: '2', run: async () => null })
    expect((await replayHistory(sleeping, [newer])).error).toMatchObject({ code: 'UNKNOWN_WORKFLOW' })
    const broken = { ...sleeping, records: sleeping.records.slice(1) }
    expect(await codeOf(replayHistory(broken, [twice]))).toBe('HISTORY_CORRUPT')
    expect(await codeOf(replayHistory({ ...sleeping, format: 9 }, [twice]))).toBe('HISTORY_FORMAT_UNKNOWN')
  })
})
