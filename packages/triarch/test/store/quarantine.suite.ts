import { describe, expect, it } from 'vitest'
import type { Claim, QuarantineEntry, StateStore } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { idsOf } from './listing.ts'
import { claimAll, flow, newTask, owned, released, snapshot, transition, workRequest } from './samples.ts'

const at = 1_800_000_000_050
const events = JSON.stringify([{ type: 'paused', reason: 'quarantine' }])
const record = { events, pause: '{"reason":"quarantine","from":"running"}' }
const tick = (task: string, control = false) => [{ task, message: { type: 'tick' }, control }] as const

function apart({ key, id, epoch }: Claim, change: Partial<QuarantineEntry> = {}): QuarantineEntry {
  return { key, id, epoch, node: 'a', at, orphaned: true, record, ...change }
}

/** Of tasks that nobody may take. */
async function untouched(store: StateStore, id: string): Promise<void> {
  expect(await claimAll(store, 'b')).toEqual([])
  expect(await store.claim({ node: 'b', runnable: [flow], limit: 10, trial: true })).toEqual([])
  expect(await store.task(id)).toMatchObject({ quarantined: true, lockedBy: null, ready: false, control: false })
}

export function quarantineSuite(bench: Bench): void {
  describe('a task that is quarantined', () => {
    it('is paused by a record that carries nothing else', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.commit([transition(t, { snapshot: snapshot({ deadline: at }) })])
      expect(await store.quarantine(apart(t))).toBe(true)
      expect(await store.task('t')).toMatchObject({
        status: 'paused',
        pause: record.pause,
        deadline: null,
        updatedAt: at,
      })
      expect((await store.records('t', 2, 10)).map((it) => it.events)).toEqual([events])
      await untouched(store, 't')
    })

    it('is so by its owner only', async () => {
      const { store } = bench
      const t = await owned(store)
      expect(await store.quarantine(apart(t, { epoch: 7 }))).toBe(false)
      expect(await store.quarantine(apart(t, { node: 'b' }))).toBe(false)
      expect(await store.task('t')).toMatchObject({ lockedBy: 'a', quarantined: false })
      expect(await store.records('t', 0, 10)).toHaveLength(1)
    })

    it('keeps its letters, and no letter, deadline or sweep makes anybody take it', async () => {
      const { store, clock } = bench
      const t = await owned(store)
      await store.commit([transition(t, { snapshot: snapshot({ deadline: clock.now() + 10 }) })])
      await store.post(tick('t'))
      await store.quarantine(apart(t))
      expect(await store.inbox('a', 10)).toEqual([])
      await store.post([...tick('t', true), ...tick('t')])
      clock.advance(100)
      const token = (await store.lead({ name: 's', node: 'a', ttl: 1_000 })) ?? 0
      expect(await store.sweep({ name: 's', token, limit: 1 })).toMatchObject({ overdueTasks: 0, more: false })
      expect(await store.nextWake()).toBeNull()
      await untouched(store, 't')
      expect(await store.counts()).toMatchObject({ inbox: 3, ready: 0 })
    })

    it('is tried once more, alone, by an operator’s word', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.quarantine(apart(t))
      await store.post(tick('t', true))
      expect(await store.releaseQuarantine('t')).toBe(true)
      expect(await store.releaseQuarantine('t')).toBe(false)
      expect(await claimAll(store, 'b')).toEqual([])
      const [again] = await store.claim({ node: 'b', runnable: [], limit: 10, trial: true })
      expect(again).toMatchObject({ id: 't', epoch: 2, orphaned: true, trial: { strikes: 2 } })
      expect(again?.letters).toHaveLength(1)
      await store.clearSuspicion({ key: t.key, node: 'b', epoch: 2 })
      await store.leave('b')
      expect(await claimAll(store, 'c')).toMatchObject([{ id: 't', epoch: 3 }])
    })

    it.each([true, false])(
      'says whether an attempt of it was in flight to whoever takes it next: %s',
      async (orphaned) => {
        const { store } = bench
        const t = await owned(store)
        await store.quarantine(apart(t, { orphaned }))
        await store.releaseQuarantine('t')
        expect(await store.claim({ node: 'b', runnable: [flow], limit: 10, trial: true })).toMatchObject([{ orphaned }])
      },
    )

    it('stays stopped if it had stopped', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.commit([transition(t, { snapshot: snapshot({ status: 'stopped', result: 'success' }) })])
      expect(await store.quarantine(apart(t, { record: null }))).toBe(true)
      expect(await store.task('t')).toMatchObject({ status: 'stopped', result: 'success', pause: null })
      expect(await store.records('t', 0, 10)).toHaveLength(2)
      await untouched(store, 't')
    })

    it('can be ended whatever its history holds: its locks are free, others are told, nothing is left over', async () => {
      const { store } = bench
      const parent = await owned(store, 'parent')
      await store.commit([transition(parent, { release: released })])
      const locks = { locks: [{ step: 0, name: 'l', ifHeld: 'queue' as const }], after: [] }
      await store.submit([newTask('t', { gates: locks, parent: 'parent' })])
      await store.submit([newTask('next', { gates: locks }), newTask('after', { gates: { locks: [], after: ['t'] } })])
      const t = (await claimAll(store, 'a')).find(({ id }) => id === 't') as Claim
      const had = snapshot({ status: 'compensating', output: '[1]' })
      await store.commit([transition(t, { work: [workRequest('t', 1)], snapshot: had })])
      await store.quarantine(apart(t))
      const error = '{"code":"TASK_CANCELLED"}'
      const end = snapshot({ status: 'stopped', result: 'cancelled', error })
      const child = { type: 'child', step: 1, result: 'cancelled' } as const
      const posts = [{ task: 'parent', message: child, control: true }]
      const ending = { id: 't', at: at + 1, events: '["stopped"]', snapshot: end, posts }
      expect(await store.terminate(ending)).toBe(true)
      expect(await store.terminate(ending)).toBe(false)
      expect(await store.task('t')).toMatchObject({ ...end, quarantined: false, ready: false, updatedAt: at + 1 })
      expect((await store.records('t', 0, 10)).at(-1)).toEqual({ seq: 4, at: at + 1, events: '["stopped"]' })
      expect(await store.counts()).toMatchObject({ work: 0 })
      expect(await store.locks({ name: 'l' })).toMatchObject([{ task: 'next', held: true }])
      const told = await claimAll(store, 'b')
      const letters = Object.fromEntries(told.map(({ id, letters: [first] }) => [id, first?.message.type]))
      expect(letters).toEqual({ parent: 'child', next: 'lock', after: 'antecedent' })
    })

    it('is not ended as long as somebody has it', async () => {
      const { store } = bench
      await owned(store)
      const end = snapshot({ status: 'stopped', result: 'cancelled' })
      expect(await store.terminate({ id: 't', at, events: '[]', snapshot: end, posts: [] })).toBe(false)
      expect(await store.task('t')).toMatchObject({ lockedBy: 'a', status: 'pending' })
    })

    it('goes on from a record when it is told to, without what came after, and stays quarantined until it is lifted', async () => {
      const { store } = bench
      const t = await owned(store)
      const locks = [1, 2].map((step) => ({ step, name: `lock ${step}`, ifHeld: 'queue', parents: [] }) as const)
      const request = { ...workRequest('t', 3) }
      await store.commit([transition(t, { gates: { locks, unlocks: [] }, work: [request], snapshot: snapshot() })])
      for (const seq of [3, 4, 5]) await store.commit([transition(t, { seq, rebase: seq === 4 })])
      await store.submit([newTask('next', { gates: { after: [], locks: [{ ...locks[1], step: 1 } as never] } })])
      const cut = { id: 't', after: 2, at, events: '["cut"]', base: 1, locks: [1] }
      const paused = snapshot({ status: 'paused', failures: 3, pause: '{"reason":"operator"}' })
      expect(await store.truncate({ ...cut, snapshot: paused })).toBe(false)
      await store.quarantine(apart(t))
      expect(await store.truncate({ ...cut, after: 9, snapshot: paused })).toBe(false)
      expect(await store.records('t', 0, 10)).toHaveLength(6)
      expect(await store.truncate({ ...cut, snapshot: paused })).toBe(true)
      expect((await store.records('t', 0, 10)).map((it) => [it.seq, it.events])).toEqual([
        [1, expect.any(String)],
        [2, expect.any(String)],
        [3, '["cut"]'],
      ])
      expect(await store.task('t')).toMatchObject({ status: 'paused', failures: 3, pause: paused.pause, updatedAt: at })
      expect(await store.locks({ task: 't' })).toMatchObject([{ name: 'lock 1', held: true }])
      expect(await store.locks({ task: 'next' })).toMatchObject([{ name: 'lock 2', held: true }])
      expect(await store.counts()).toMatchObject({ work: 0 })
      expect((await claimAll(store, 'b')).map(({ id }) => id)).toEqual(['next'])
      await store.releaseQuarantine('t')
      const [again] = await store.claim({ node: 'b', runnable: [flow], limit: 10, trial: true })
      expect(again).toMatchObject({ id: 't', orphaned: true, work: [] })
      expect(again?.records.map(({ seq }) => seq)).toEqual([1, 2, 3])
    })

    it('after it had stopped is listed, lifted, or ended as it was', async () => {
      const { store } = bench
      await owned(store, 'good')
      const bad = await owned(store, 'bad')
      await store.commit([
        transition(bad, { snapshot: snapshot({ status: 'stopped', result: 'error', error: '"e"' }) }),
      ])
      expect(await store.quarantine(apart(bad, { record: { events: '["why"]', pause: null } }))).toBe(true)
      const why = { id: 'bad', key: bad.key, seq: 2 ** 31 - 1 }
      expect(await store.lostRecords([why])).toEqual([{ id: 'bad', last: 3 }])
      expect(await store.records('bad', 2, 10)).toEqual([{ seq: 3, at, events: '["why"]' }])
      expect(await store.task('bad')).toMatchObject({ status: 'stopped', pause: null, quarantined: true })
      const listed = () => idsOf(store, { quarantined: true })
      expect(await listed()).toEqual(['bad'])
      expect(await idsOf(store, { quarantined: true, status: 'paused' })).toEqual([])
      const ended = snapshot({ status: 'stopped', result: 'error', error: '"e"' })
      const end = { id: 'bad', at: at + 5, events: '[{"type":"messageIgnored"}]', snapshot: ended, posts: [] }
      expect(await store.terminate(end)).toBe(true)
      expect(await listed()).toEqual([])
      expect(await store.task('bad')).toMatchObject({ status: 'stopped', result: 'error', error: '"e"', ready: false })
      expect(await store.releaseQuarantine('bad')).toBe(false)
    })
  })
}
