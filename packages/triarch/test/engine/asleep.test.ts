import { describe, expect, it } from 'vitest'
import { agent, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { stage } from './harness.ts'
import { scratch } from './scratch.ts'

/** Code that waits for what is not the task's: at first for ever, and as soon as it is free for nothing. */
function outside() {
  const gate = { open: false, begun: 0 }
  const own = agent('own')
  const act = own.action('act', { run: async () => 'acted' })
  const flow = workflow('flow', {
    run: async (_: null, task) => {
      gate.begun++
      if (!gate.open) await new Promise(() => undefined)
      return task.run(act, null)
    },
  })
  return { gate, flow, options: { workflows: [flow], agents: [own], lease: '10m', sweep: '1m', poll: '1s' } as const }
}

describe('a task whose code waits for something that is not the task’s', () => {
  it('goes on on another node once its own is asked to stop', async () => {
    using file = scratch()
    const { gate, flow, options } = outside()
    const environment = new VirtualEnvironment()
    const [first, second] = [
      await stage({ ...options, environment, store: file.store }),
      await stage({ ...options, environment, store: file.store, roles: ['agent', 'supervisor'] }),
    ]
    const task = await first.submit(flow, null, { id: 'task' })
    await first.advance('10s')
    expect(await first.store.task(task.id)).toMatchObject({ lockedBy: expect.any(String) })
    gate.open = true
    await first.engine.stop()
    expect(await second.store.task(task.id)).toMatchObject({ lockedBy: null, ready: true })
    await using third = await stage({ ...options, environment, store: file.store })
    await third.advance('10s')
    expect(await third.engine.tasks.get(task.id).result()).toBe('acted')
    expect(gate.begun).toBe(2)
    await second.kill()
  })

  it('stays in memory until others need its place, and is taken up again when there is one', async () => {
    const { gate, flow, options } = outside()
    const other = workflow('other', { run: async () => 'done' })
    await using s = await stage({ ...options, workflows: [flow, other], limits: { tasks: 1 } })
    const task = await s.submit(flow, null)
    await s.advance('1m')
    expect(gate.begun).toBe(1)
    gate.open = true
    expect(await (await s.submit(other, null)).result()).toBe('done')
    await s.advance('1m')
    expect(await task.result()).toBe('acted')
  })

  it('does not sleep until its own complete-by, and is told of', async () => {
    const { gate, flow, options } = outside()
    const s = await stage(options)
    const task = await s.submit(flow, null, { completeBy: new Date(s.engine.now().getTime() + 3_600_000) })
    await s.advance('1m')
    expect(await s.store.task(task.id)).toMatchObject({ lockedBy: expect.any(String) })
    expect(s.alerts).toMatchObject([{ code: 'WORKFLOW_STALLED', task: task.id }])
    expect(gate.begun).toBe(1)
    await s.kill()
  })
})
