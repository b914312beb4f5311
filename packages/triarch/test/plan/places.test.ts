import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { workflow } from '../../src/index.ts'
import { codeOf, events, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'
import { workers } from './workers.ts'

describe('a plan', () => {
  it('is made in the caller’s own transaction, with what it writes there, or not at all', async () => {
    const { agents, act } = workers()
    const flow = workflow('flow', {
      plan({ order, fails }: { order: string; fails?: boolean }, plan) {
        const db = plan.transaction as DatabaseSync
        db.prepare('INSERT INTO orders VALUES (?)').run(order)
        plan.step(act, { name: order })
        if (fails) throw new Error('no room')
      },
    })
    using file = scratch()
    await using s = await stage({ workflows: [flow], agents, poll: '1s', store: file.store })
    const db = new DatabaseSync(file.path)
    db.exec('CREATE TABLE orders (id TEXT)')
    const order = async (id: string, end: 'COMMIT' | 'ROLLBACK', fails = false) => {
      db.exec('BEGIN IMMEDIATE')
      const code = await codeOf(s.submit(flow, { order: id, fails }, { id, transaction: db }))
      db.exec(code === 'nothing' ? end : 'ROLLBACK')
      return code
    }
    expect(await order('kept', 'COMMIT')).toBe('nothing')
    expect(await order('dropped', 'ROLLBACK')).toBe('nothing')
    expect(await order('failed', 'COMMIT', true)).toBe('PLAN_FAILED')
    expect(db.prepare('SELECT id FROM orders').all()).toEqual([{ id: 'kept' }])
    db.close()
    await s.advance('10s')
    await s.engine.tasks.get('kept').result()
    for (const gone of ['dropped', 'failed'])
      expect(await codeOf(s.engine.tasks.get(gone).status())).toBe('UNKNOWN_TASK')
  })

  it('submitted twice in one transaction is the same task, and with another input TASK_EXISTS', async () => {
    const { agents, act } = workers()
    const flow = workflow('flow', { plan: (name: string, plan) => void plan.step(act, { name }) })
    using file = scratch()
    await using s = await stage({ workflows: [flow], agents, poll: '1s', store: file.store })
    using db = new DatabaseSync(file.path)
    db.exec('BEGIN IMMEDIATE')
    const submit = (name: string, ifExists?: 'reject') => s.submit(flow, name, { id: 'x', transaction: db, ...(ifExists && { ifExists }) }) // biome-ignore format: one line
    expect((await submit('a')).id).toBe('x')
    expect((await submit('a')).id).toBe('x')
    expect(await codeOf(submit('b'))).toBe('TASK_EXISTS')
    expect(await codeOf(submit('a', 'reject'))).toBe('TASK_EXISTS')
    db.exec('COMMIT')
    await s.advance('10s')
    expect((await events(s.engine.tasks.get('x')))[0]).toMatchObject({ type: 'submitted', input: 'a' })
    expect((await s.engine.triarch.tasks.list()).tasks).toHaveLength(1)
    await s.engine.tasks.get('x').result()
  })

  it('runs with its agents in other processes, through suspensions and finalizing', async () => {
    const tokens: string[] = []
    const { log, own, act } = workers()
    const wait = own.action('wait', {
      run(_: null, step, event) {
        tokens.push(step.token)
        return event ? { said: event.payload as string } : step.suspend({ timeout: '1h' })
      },
      finalize: ({ output }) => void log.push(`finalize ${output.said}`),
    })
    const flow = workflow('flow', {
      plan(_: null, plan) {
        const waited = plan.step(wait, null)
        return plan.step(act, { name: 'last', of: waited.output.said }).output.of
      },
    })
    using file = scratch()
    const owner = await stage({
      workflows: [flow],
      agents: [],
      roles: ['scheduler', 'supervisor'],
      poll: '1s',
      store: file.store,
    })
    const { environment } = owner.engine
    await using hands = await stage({
      agents: [own],
      roles: ['agent'],
      poll: '1s',
      store: file.store,
      seed: 2,
      environment,
    })
    const task = await owner.submit(flow, null)
    await owner.advance('10m')
    expect(tokens).toHaveLength(1)
    await hands.engine.triarch.tasks.resume(tokens[0] as string, 'go')
    await owner.advance('10m')
    expect(await task.result()).toBe('go')
    expect(log).toEqual(['last', 'finalize go'])
    await owner.kill()
  })
})
