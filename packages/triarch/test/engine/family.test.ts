import { describe, expect, it } from 'vitest'
import { agent, PermanentError, workflow } from '../../src/index.ts'
import { stage } from './harness.ts'

describe('a parent that failed because its child did', () => {
  it('goes on by one retry, also when the child was retried before', async () => {
    let broken = true
    const service = agent('service')
    const repair = service.action('repair', {
      async run(_: unknown) {
        if (broken) throw new PermanentError('broken')
        return 'repaired'
      },
    })
    const child = workflow('child', { run: (_: unknown, task) => task.run(repair, null) })
    const parent = workflow('parent', {
      run: async (id: string, task) => `${await task.call(child, null, { id })} for the parent`,
    })
    for (const childFirst of [true, false]) {
      await using s = await stage({ workflows: [parent, child], agents: [service] })
      broken = true
      const task = await s.submit(parent, 'the-child')
      await expect(task.result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
      broken = false
      const younger = s.engine.tasks.get('the-child')
      for (const each of childFirst ? [younger, task] : [task]) {
        await each.retry()
        await s.settle()
      }
      expect(await task.result()).toBe('repaired for the parent')
    }
  })
})
