import { beforeEach, describe, expect, it } from 'vitest'
import type { Claim, NewTask, PruneReport, RetentionRule, Snapshot, WorkItem } from '../../src/store/index.ts'
import type { Bench } from './conformance.ts'
import { idsOf, list } from './listing.ts'
import { claimAll, flow, newTask, owned, released, snapshot, stopped, transition, workRequest } from './samples.ts'

const day = 86_400_000
const other = { workflow: 'other', version: '1' }

/** Keeps these results of these workflows for so many days. */
function keep(
  days: number | null,
  { workflow = null as string | null, result = 'success' as const } = {},
): RetentionRule {
  return { workflow, result, age: days === null ? null : days * day }
}

export function retentionSuite(bench: Bench, { shared }: { shared: boolean }): void {
  describe('retention', () => {
    let start: number
    beforeEach(() => {
      start = bench.clock.now()
    })

    /** Creates a task that stops after so many days. */
    async function stop(
      id: string,
      days = 0,
      change: Partial<NewTask> = {},
      end: Partial<Snapshot> = {},
    ): Promise<void> {
      const { store } = bench
      await store.submit([newTask(id, change)])
      const claim = (await claimAll(store, 'a', [flow, other])).find((it) => it.id === id)
      if (!claim) return expect.fail(`${id} cannot be claimed`)
      const at = start + days * day
      const ended = transition(claim, { at, snapshot: { ...stopped, ...end }, release: released })
      expect(await store.commit([ended])).toMatchObject([{ ok: true }])
    }

    async function prune(
      rules: RetentionRule[],
      { limit = 100, records = 1_000, except = [] as number[] } = {},
    ): Promise<PruneReport | null> {
      const { store } = bench
      const token = (await store.lead({ name: 'supervisor', node: 'leader', ttl: 1_000 * day })) ?? 0
      return store.prune({ name: 'supervisor', token, rules, limit, records, except })
    }

    function kept(): Promise<string[]> {
      return idsOf(bench.store, { order: 'oldest' })
    }

    it('drops what stopped long enough ago, with all traces, and nothing younger', async () => {
      const { store, clock } = bench
      await stop('old', 0, { tags: { shop: 'a' } })
      await stop('younger', 1)
      clock.advance(7 * day)
      expect(await prune([keep(7)])).toEqual({ dropped: 1, more: false })
      expect(await kept()).toEqual(['younger'])
      expect(await store.task('old')).toBeNull()
      expect(await store.records('old', 0, 10)).toEqual([])
      expect(await idsOf(store, { tags: { shop: 'a' } })).toEqual([])
      expect(await prune([keep(7)])).toEqual({ dropped: 0, more: false })
    })

    it('leaves a task alone while an attempt of it runs, whose seats would be free, and drops it after that', async () => {
      const { store, clock } = bench
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1)] })])
      const seats = [{ name: 'pay', most: 1 }]
      const [item] = await store.takeWork({
        node: 'b',
        agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 1, seats }],
      })
      const request = item as WorkItem
      await store.commit([transition(t, { seq: 3, snapshot: stopped, release: released, at: start })])
      clock.advance(7 * day)
      expect(await prune([keep(7)])).toEqual({ dropped: 0, more: false })
      expect(await store.permits(['pay'])).toMatchObject([{ taken: 1 }])
      const { step, attempt, operation } = request.request
      const outcome = { kind: 'done', output: null } as const
      const message = {
        type: 'reply',
        step,
        attempt,
        operation,
        outcome,
        startedAt: start,
        endedAt: start,
        node: 'b',
      } as const
      expect(await store.reply([{ work: request.id, node: 'b', message }])).toEqual([true])
      const [again] = await claimAll(store, 'a')
      const consumed = again?.letters.map(({ id }) => id) ?? []
      await store.commit([transition(again as Claim, { seq: 0, events: null, consumed, release: released })])
      expect(await prune([keep(7)])).toEqual({ dropped: 1, more: false })
      expect(await store.permits(['pay'])).toEqual([])
    })

    it('knows each result and each workflow by itself, and all others together', async () => {
      const { clock } = bench
      await stop('fine')
      await stop('failed', 0, {}, { result: 'error' })
      await stop('other fine', 0, other)
      await stop('other failed', 0, other, { result: 'error' })
      clock.advance(2 * day)
      const forever = keep(null, { workflow: 'other' })
      expect(await prune([keep(3), keep(1, { workflow: 'flow' })])).toMatchObject({ dropped: 1 })
      expect(await kept()).toEqual(['failed', 'other fine', 'other failed'])
      expect(await prune([keep(1), forever])).toMatchObject({ dropped: 0 })
      expect(await prune([keep(1), { ...keep(1), result: 'error' }])).toMatchObject({ dropped: 3 })
    })

    it('forgets the id: submitted again, it is a new task', async () => {
      const { store, clock } = bench
      await stop('t')
      clock.advance(day)
      await prune([keep(1)])
      expect(await store.submit([newTask('t')])).toMatchObject([{ created: true }])
      expect(await claimAll(store)).toMatchObject([{ id: 't', epoch: 1, records: [{ seq: 1 }], letters: [] }])
    })

    it('forgets what its transactions answered', async () => {
      const { store, clock } = bench
      await store.submit([newTask('t')])
      const [claim] = await claimAll(store)
      if (!claim) return expect.fail('no claim')
      const effect = { key: claim.key, node: 'a', epoch: claim.epoch, step: 1, firstStep: 1, name: 't:1' }
      const bounds = { within: day, signal: new AbortController().signal, isolation: 'read committed' } as const
      await store.transact(effect, bounds, () => '1')
      await store.commit([transition(claim, { at: start, snapshot: stopped, release: released })])
      clock.advance(day)
      expect(await store.effect(effect, day)).toBe('1')
      await prune([keep(1)])
      expect(await store.effect(effect, day)).toBeNull()
    })

    it('never drops what is open, owned, or has something to do', async () => {
      const { store, clock } = bench
      await store.submit([newTask('waiting', { startAt: start + 90 * day })])
      for (const id of ['running', 'called', 'owned']) await stop(id)
      await store.post([{ task: 'running', message: { type: 'retry' }, control: true }])
      const [claim] = await claimAll(store)
      if (!claim) return expect.fail('no claim')
      const consumed = claim.letters.map(({ id }) => id)
      await store.commit([transition(claim, { seq: 3, consumed, snapshot: snapshot(), release: released })])
      await store.post([{ task: 'owned', message: { type: 'compensate' }, control: true }])
      expect(await claimAll(store)).toMatchObject([{ id: 'owned' }])
      await store.post([{ task: 'called', message: { type: 'retry' }, control: true }])
      clock.advance(30 * day)
      expect(await prune([keep(1)])).toEqual({ dropped: 0, more: false })
      expect(await kept()).toHaveLength(4)
    })

    it('keeps a child as long as its parent, and a parent until its last child has stopped', async () => {
      const { store, clock } = bench
      await stop('parent', 5)
      await stop('child', 0, { parent: 'parent' })
      await store.submit([newTask('open child', { parent: 'parent' })])
      clock.advance(9 * day)
      expect(await prune([keep(1)])).toMatchObject({ dropped: 0 })
      const claim = (await claimAll(store)).find(({ id }) => id === 'open child')
      if (!claim) return expect.fail('no claim')
      await store.commit([transition(claim, { at: clock.now(), snapshot: stopped, release: released })])
      expect(await prune([keep(1)])).toMatchObject({ dropped: 1 })
      expect(await kept()).toEqual(['child', 'open child'])
      expect(await store.task('open child')).toMatchObject({ parent: null })
      expect(await prune([keep(1)])).toMatchObject({ dropped: 1 })
      expect(await kept()).toEqual(['open child'])
    })

    it('leaves those that wait for a task their word of its end, and none to those that come later', async () => {
      const { store, clock } = bench
      const follower = (id: string) => newTask(id, { gates: { locks: [], after: ['first'] } })
      await store.submit([newTask('first'), follower('early')])
      await stop('first')
      clock.advance(day)
      expect(await prune([keep(1)])).toMatchObject({ dropped: 1 })
      await store.submit([follower('late')])
      const words = (await claimAll(store)).map(({ id, letters }) => [id, letters.map(({ message }) => message)])
      const word = { type: 'antecedent', task: 'first' }
      expect(words).toEqual([
        ['early', [{ ...word, result: 'success' }]],
        ['late', [{ ...word, result: null }]],
      ])
    })

    it('goes on in portions, the longest stopped first, but with one task at least', async () => {
      const { clock } = bench
      for (const [index, id] of ['a', 'b', 'c', 'd', 'e'].entries()) await stop(id, 4 - index, id === 'c' ? other : {})
      clock.advance(10 * day)
      expect(await prune([keep(1)], { limit: 2 })).toEqual({ dropped: 2, more: true })
      expect(await kept()).toEqual(['a', 'b', 'c'])
      expect(await prune([keep(1)], { records: 1 })).toEqual({ dropped: 1, more: true })
      expect(await prune([keep(1)], { records: 4 })).toEqual({ dropped: 2, more: false })
    })

    it('lets many children go in portions, too, and their parent after the last', async () => {
      const { store, clock } = bench
      await stop('parent')
      for (const id of ['a', 'b', 'c', 'd', 'e']) await stop(id, 9, { parent: 'parent' })
      clock.advance(10 * day)
      const without = async () => {
        const rows = await list(store)
        return rows.filter(({ id, parent }) => id !== 'parent' && parent === null).length
      }
      expect(await prune([keep(5)], { records: 2 })).toEqual({ dropped: 0, more: true })
      expect(await without()).toBe(2)
      expect(await prune([keep(5)], { records: 2 })).toEqual({ dropped: 0, more: true })
      expect(await prune([keep(5)], { records: 2 })).toEqual({ dropped: 1, more: false })
      expect(await kept()).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(await without()).toBe(5)
    })

    it('lets no more children go than one portion has, whosever they are', async () => {
      const { clock } = bench
      for (const parent of ['p', 'q']) {
        await stop(parent)
        for (const n of [1, 2, 3]) await stop(`${parent}${n}`, 9, { parent })
      }
      clock.advance(10 * day)
      expect(await prune([keep(5)], { records: 4 })).toMatchObject({ dropped: 1, more: true })
      expect(await prune([keep(5)], { records: 4 })).toMatchObject({ dropped: 1, more: false })
    })

    it('is the leader’s alone', async () => {
      const { store, clock } = bench
      await stop('t')
      const token = (await store.lead({ name: 'supervisor', node: 'a', ttl: 100 })) ?? 0
      clock.advance(day)
      const request = { name: 'supervisor', rules: [keep(1)], limit: 10, records: 10 }
      expect(await store.prune({ ...request, token })).toBeNull()
      expect(await prune([keep(1)])).toMatchObject({ dropped: 1 })
    })

    if (!shared) return
    it('one that cannot be dropped is named, and keeps none of the others', async () => {
      const { subject, clock } = bench
      for (const [index, id] of ['a', 'kept', 'b', 'held', 'c'].entries()) await stop(id, index)
      const { key = 0 } = (await bench.store.task('kept')) ?? {}
      // A table of the user that holds on to a row.
      await subject.transaction(async (tx) => {
        const tasks = subject.table('tasks')
        await subject.sql(tx, `CREATE TABLE ${subject.table('keeper')} (task bigint REFERENCES ${tasks} (key))`)
        await subject.sql(
          tx,
          `INSERT INTO ${subject.table('keeper')} SELECT key FROM ${tasks} WHERE id IN ('kept', 'held')`,
        )
      })
      clock.advance(10 * day)
      const report = await prune([keep(1)], { limit: 3 })
      expect(report).toMatchObject({
        dropped: 2,
        more: true,
        failed: [{ key, id: 'kept', message: expect.any(String) }],
      })
      expect(await kept()).toEqual(['kept', 'held', 'c'])
      expect(await bench.store.records('kept', 0, 10)).toHaveLength(2)
      const except = report?.failed?.map((it) => it.key) ?? []
      expect(await prune([keep(1)], { limit: 3, except })).toMatchObject({ dropped: 1, failed: [{ id: 'held' }] })
      expect(await prune([keep(1)], { except })).toMatchObject({ dropped: 0, more: false, failed: [{ id: 'held' }] })
      expect(await kept()).toEqual(['kept', 'held'])
      await subject.transaction((tx) => subject.sql(tx, `DROP TABLE ${subject.table('keeper')}`).then(() => undefined))
      expect(await prune([keep(1)])).toEqual({ dropped: 2, more: false })
    })
  })
}
