import { beforeEach, describe, expect, it } from 'vitest'
import type { Claim } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { list } from './listing.ts'
import { claimAll, newTask, owned, released, stopped, transition, workRequest } from './samples.ts'

const BROKEN = ['{"type":', '', 'null', '42', '[]', '{}', '"reply"']
const tick = { type: 'tick' } as const

/** Rows whose text is harmed: each costs its own answer, and no other. */
export function legibleSuite(bench: Bench): void {
  let worker: Claim
  let writes = 0
  /** Writes something wrong behind the store's back. */
  const harm = async (sql: string) => {
    const effect = { key: worker.key, node: 'a', epoch: worker.epoch, step: 1, firstStep: 1, name: `${++writes}` }
    const bounds = { within: 60_000, isolation: 'read committed', signal: new AbortController().signal } as const
    await bench.store.transact(effect, bounds, async (tx) => {
      await bench.subject.sql(tx, sql)
      return '1'
    })
  }
  const keyOf = (id: string) => `(SELECT key FROM ${bench.subject.table('tasks')} WHERE id = '${id}')`

  describe('a row that cannot be read', () => {
    beforeEach(async () => {
      worker = await owned(bench.store, 'harm')
    })

    it.each(BROKEN)('is one letter of many in an inbox: %j', async (text) => {
      const [bad, good] = [await owned(bench.store, 'bad'), await owned(bench.store, 'good')]
      for (const task of ['bad', 'good', 'bad']) await bench.store.post([{ task, message: tick, control: false }])
      const [first] = await bench.store.taskInbox(bad.key, 0, { limit: 1, bytes: 1_000 })
      await harm(`UPDATE ${bench.subject.table('inbox')} SET message = '${text}' WHERE id = ${first?.id}`)
      const letters = await bench.store.inbox('a', 10)
      expect(letters.map(({ key, message }) => [key, message.type])).toEqual([
        [bad.key, 'illegible'],
        [good.key, 'tick'],
        [bad.key, 'tick'],
      ])
      const each = { limit: 10, bytes: 10_000, after: 0, skip: [] }
      expect(await bench.store.inbox('a', 10, { each })).toHaveLength(3)
      expect(await bench.store.taskInbox(bad.key, 0, { limit: 10, bytes: 10_000 })).toHaveLength(2)
    })

    it('is one letter of many that come with claims', async () => {
      await bench.store.submit([newTask('bad'), newTask('good')])
      for (const task of ['bad', 'good']) await bench.store.post([{ task, message: tick, control: false }])
      await harm(`UPDATE ${bench.subject.table('inbox')} SET message = '{' WHERE task = ${keyOf('bad')}`)
      const claims = await claimAll(bench.store, 'b')
      expect(claims.map(({ id, letters }) => [id, letters.map(({ message }) => message.type)])).toEqual([
        ['bad', ['illegible']],
        ['good', ['tick']],
      ])
    })

    it.each(BROKEN)('is one request of many: its owner is told that it was not taken: %j', async (text) => {
      const task = await owned(bench.store, 'task')
      await bench.store.commit([transition(task, { work: [2, 3, 4].map((step) => workRequest('task', step)) })])
      await harm(`UPDATE ${bench.subject.table('work')} SET request = '${text}' WHERE step = 3`)
      const take = () =>
        bench.store.takeWork({ node: 'w', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 10 }] })
      expect((await take()).map(({ request }) => request.step)).toEqual([2, 4])
      expect(await take()).toEqual([])
      const { work } = await bench.store.queued('task')
      expect(work.map(({ step }) => step)).toEqual([2, 4])
      expect((await bench.store.inbox('a', 10)).map(({ message }) => message)).toMatchObject([
        { type: 'reply', step: 3, operation: 'run', attempt: 1, outcome: { kind: 'withdrawn' } },
      ])
    })

    it('is one of many in a list, with what of it can be read', async () => {
      await bench.store.submit([newTask('bad', { tags: { a: 'b' } }), newTask('good', { tags: { a: 'b' } })])
      await harm(`UPDATE ${bench.subject.table('tasks')} SET tags = '{' WHERE id = 'bad'`)
      const rows = await list(bench.store, { order: 'oldest', workflow: 'flow' })
      expect(rows.map(({ id, tags }) => [id, tags])).toEqual([
        ['harm', {}],
        ['bad', {}],
        ['good', { a: 'b' }],
      ])
      expect(await bench.store.task('bad')).toMatchObject({ id: 'bad', tags: {} })
    })

    it.each(['{', '{}', 'null'])('is one of many nodes: %j', async (text) => {
      const said = { roles: ['scheduler'], lease: 1_000, runs: { workflows: ['flow@1'], actions: [] } }
      for (const id of ['bad', 'good']) await bench.store.heartbeat({ id, ...said })
      await harm(`UPDATE ${bench.subject.table('nodes')} SET roles = '${text}', runs = '${text}' WHERE id = 'bad'`)
      expect((await bench.store.nodes()).filter(({ id }) => id !== 'a')).toMatchObject([
        { id: 'bad', roles: [], runs: null },
        { id: 'good', ...{ roles: ['scheduler'], runs: said.runs } },
      ])
      expect((await bench.store.heartbeats('supervisor')).nodes.map(({ id }) => id)).toEqual(
        expect.arrayContaining(['bad', 'good']),
      )
    })

    it('is a child’s, and costs neither its parent nor those whose records are written with it', async () => {
      const [parent, good] = [await owned(bench.store, 'parent'), await owned(bench.store, 'good')]
      const kids = [6, 7].map((step) => newTask(`kid ${step}`, { parent: 'parent', parentStep: step }))
      await bench.store.commit([transition(parent, { children: kids })])
      for (const kid of await claimAll(bench.store))
        await bench.store.commit([transition(kid, { snapshot: stopped, release: released })])
      await harm(`UPDATE ${bench.subject.table('tasks')} SET output = '{' WHERE id = 'kid 6'`)
      await harm(`UPDATE ${bench.subject.table('tasks')} SET error = '{' WHERE id = 'kid 7'`)
      const outcomes = await bench.store.commit([transition(parent, { seq: 3, children: kids }), transition(good)])
      expect(outcomes.map(({ ok }) => ok)).toEqual([true, true])
      const told = (await bench.store.inbox('a', 10)).map(({ message }) => message)
      const corrupt = { type: 'child', result: 'error', error: { code: 'HISTORY_CORRUPT' } }
      expect(told).toMatchObject([6, 7].map((step) => ({ ...corrupt, step })))
    })

    it('keeps no letter out of an inbox, nor of the others written with it', async () => {
      await owned(bench.store, 'bad')
      await owned(bench.store, 'good')
      const kept = { type: 'kept', letters: 1, bytes: 10 } as const
      await bench.store.post([{ task: 'bad', message: kept, control: false }])
      const text = '{"type":"kept","letters":'
      await harm(`UPDATE ${bench.subject.table('inbox')} SET message = '${text}' WHERE task = ${keyOf('bad')}`)
      const message = { type: 'event', name: 'go', payload: 1 } as const
      const room = { letters: 10, bytes: 1_000, unsaid: { letters: 0, bytes: 0 }, only: null, asOf: null }
      const posts = ['bad', 'good'].map((task) => {
        return { task, message, control: false, terms: { fits: ['running', 'pending'], room } }
      })
      expect(await bench.store.post(posts)).toEqual(['posted', 'posted'])
    })
  })
}
