import { describe, expect, it } from 'vitest'
import { workflow } from '../../src/index.ts'
import type { TaskRow } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { childOf, codeOf, seen, stage } from './harness.ts'

const pages = 'page '.repeat(600)
const print = workflow('print', { run: async () => pages })

describe('a large output', () => {
  it('is in the row of a task that another started, which is told it from there', async () => {
    const parent = workflow('parent', { run: (_, task) => task.call(print, null) })
    await using s = await stage({ workflows: [print, parent] })
    const task = await s.submit(parent, null)
    expect(await task.result()).toBe(pages)
    const child = await s.store.task(await childOf(s, task.id, 1))
    expect(child?.output).toBe(JSON.stringify(pages))
    expect((await s.store.task(task.id))?.output).toMatch(/^@/)
  })

  it.each([
    ['is gone', null, 'HISTORY_CORRUPT'],
    ['is not the one', '[1,{"type":"started"}]', 'HISTORY_CORRUPT'],
    ['is damaged', '[1,{"type":', 'HISTORY_CORRUPT'],
    ['is of a format of tomorrow', '[9]', 'HISTORY_FORMAT_UNKNOWN'],
  ])(
    'whose record %s is said to be unreadable, and hides neither the rest of its row nor another',
    async (_, text, code) => {
      const harmed = ({ outputIn = '', ...row }: TaskRow): TaskRow => {
        const found = row.id === 'bad' ? text : outputIn
        return found === null ? row : { ...row, outputIn: found }
      }
      const store = seen(memory(), (inner) => ({
        task: async (id) => {
          const row = await inner.task(id)
          return row && harmed(row)
        },
        list: async (query) => {
          const { rows, looked } = await inner.list(query)
          return { rows: rows.map(harmed), looked }
        },
      }))
      const s = await stage({ store, workflows: [print] })
      for (const id of ['good', 'bad']) await s.submit(print, null, { id })
      await s.settle()
      const { triarch } = s.engine
      expect(await codeOf(triarch.tasks.get('bad').result())).toBe(code)
      const { tasks } = await triarch.tasks.list({ order: 'oldest' })
      expect(tasks).toMatchObject([
        { id: 'good', outcome: 'success', output: undefined, omitted: ['output'] },
        { id: 'bad', outcome: 'success', output: undefined, omitted: ['output'] },
      ])
      expect((await triarch.tasks.get('good').watch().next()).value).toMatchObject({ id: 'good', output: pages })
      const bad = (await triarch.tasks.get('bad').watch().next()).value
      expect(bad).toMatchObject({ id: 'bad', output: undefined, broken: ['output'] })
      await s.kill()
      expect(s.errors).toEqual([])
    },
  )
})
