import { describe, expect, it } from 'vitest'
import { workflow } from '../../src/index.ts'
import { stage } from './harness.ts'

const flow = workflow('flow', { run: async (n: number, task) => task.run('double', () => n * 2) })

describe('a task with a record of a format that this version does not know', () => {
  it('is quarantined, says why, and loses nothing; others do not notice', async () => {
    const s = await stage({ workflows: [flow] })
    try {
      expect(await (await s.submit(flow, 2, { id: 'before' })).result()).toBe(4)
      const at = s.engine.now().getTime()
      const { name, version } = flow
      const rest = {
        priority: 0,
        tags: {},
        status: 'pending' as const,
        at,
        startAt: null,
        deadline: null,
        parent: null,
      }
      const events = '[2,{"kind":"begin"}]'
      await s.store.submit([{ id: 'later', workflow: name, version, ...rest, events }])
      await s.advance('1d')
      expect(await (await s.submit(flow, 2, { id: 'now' })).result()).toBe(4)
      const task = s.engine.tasks.get('later')
      const details = { record: 1, found: 2, known: 1 }
      const unread = { seq: 1, events: [], error: { code: 'HISTORY_FORMAT_UNKNOWN', details } }
      expect(await task.history()).toMatchObject([
        unread,
        { seq: 2, events: [{ type: 'paused', cause: 'quarantine' }] },
      ])
      expect(s.alerts).toMatchObject([{ code: 'TASK_QUARANTINED', task: 'later' }])
      expect((await s.engine.triarch.tasks.get('later').explain()).text).toContain('record 1 is of format 2')
      await expect(task.resume({ after: 1 })).rejects.toMatchObject({ code: 'ILLEGAL_MOVE' })
      expect((await s.store.records('later', 0, 1))[0]?.events).toBe(events)
    } finally {
      await s.kill()
    }
  })
})
