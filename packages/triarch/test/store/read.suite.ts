import { beforeEach, describe, expect, it } from 'vitest'
import { MOST_COUNTED, type TaskRow } from '../../src/store/rows.ts'
import type { Bench } from './conformance.ts'
import { type ListChoice, list } from './listing.ts'
import { creation, flow, newTask, owned, released, snapshot, stopped, transition, workRequest } from './samples.ts'

export function readSuite(bench: Bench): void {
  describe('a list', () => {
    beforeEach(async () => {
      const at = 1_800_000_000_000
      await bench.store.submit([
        newTask('1', { at, tags: { shop: 'north', kind: 'x' } }),
        newTask('2', { at: at + 1, workflow: 'other', tags: { shop: 'north' } }),
        newTask('3', { at: at + 2, status: 'scheduled', startAt: at + 999, parent: '1' }),
        newTask('4', { at: at + 3, version: '2', tags: { shop: 'south', kind: 'x' } }),
      ])
      const ends = ['success', 'error', 'cancelled', 'success'] as const
      await bench.store.commit(
        ends.map((result, i) =>
          creation(newTask(`${i + 5}`, { at: at + 4 + i }), { snapshot: { ...stopped, result }, release: released }),
        ),
      )
      await bench.store.commit([
        creation(newTask('9', { at: at + 8, tags: { shop: 'west' } }), { snapshot: snapshot() }),
      ])
    })

    const at = 1_800_000_000_000
    const cases: [string, ListChoice, string][] = [
      ['everything, newest first', {}, '987654321'],
      ['oldest first', { order: 'oldest' }, '123456789'],
      ['a page', { limit: 3 }, '987'],
      ['a status', { status: 'pending' }, '421'],
      ['several statuses in one order', { status: ['pending', 'scheduled', 'running'] }, '94321'],
      [
        'the same, a page of the oldest',
        { status: ['running', 'scheduled', 'pending'], limit: 3, order: 'oldest' },
        '123',
      ],
      ['the stopped', { status: 'stopped' }, '8765'],
      ['open and stopped', { status: ['stopped', 'running'] }, '98765'],
      ['a common result', { outcome: 'success' }, '85'],
      ['rare results', { outcome: ['error', 'cancelled'] }, '76'],
      ['mixed results', { outcome: ['success', 'error'] }, '865'],
      ['status and result', { status: 'stopped', outcome: 'error' }, '6'],
      ['open status and rare result', { status: 'running', outcome: 'error' }, ''],
      ['open status and common result', { status: ['running', 'pending'], outcome: 'pending' }, '9421'],
      ['no status at all', { status: [] }, ''],
      ['a workflow', { workflow: 'other' }, '2'],
      ['a version', { workflow: 'flow', version: '2' }, '4'],
      ['children', { parent: '1' }, '3'],
      ['a tag', { tags: { shop: 'north' } }, '21'],
      ['a tag of one that its owner made', { tags: { shop: 'west' } }, '9'],
      ['several tags', { tags: { kind: 'x', shop: 'south' } }, '4'],
      ['tags and more', { tags: { kind: 'x' }, version: '1', status: 'pending' }, '1'],
      ['an unknown tag', { tags: { kind: 'y' } }, ''],
      ['a time', { submittedAfter: new Date(at + 1), submittedBefore: new Date(at + 4) }, '43'],
    ]
    it.each(cases)('gives %s, whole and in pages', async (_, query, expected) => {
      const rows = await list(bench.store, query)
      expect(rows.map(({ id }) => id).join('')).toBe(expected)
      const whole = await Promise.all(rows.map(({ id }) => bench.store.task(id)))
      expect(rows).toEqual(whole)

      const ids: string[] = []
      let after: number | undefined
      for (;;) {
        const rows = await list(bench.store, { ...query, limit: 2, ...(after !== undefined && { after }) })
        if (rows.length === 0) break
        ids.push(...rows.map(({ id }) => id))
        after = rows.at(-1)?.key
      }
      if (query.limit === undefined) expect(ids.join('')).toBe(expected)
      else expect(ids.join('').startsWith(expected)).toBe(true)
    })
  })

  describe('a look', () => {
    const lease = 'supervisor'
    const look = (node = 'n', runnable = [flow], actions = ['pay.charge']) =>
      bench.store.poll({ node, runnable, actions, lease })

    it('tells of what there is for a node, and of nothing else', async () => {
      const { store, clock } = bench
      const none = {
        mail: false,
        tasks: false,
        work: false,
        vacant: true,
        nextWake: null,
        living: 0,
        settings: '0:0:0',
        rests: false,
      }
      expect(await look()).toEqual({ now: clock.now(), ...none })
      await store.submit([newTask('t')])
      expect([await look(), await look('n', [{ ...flow, version: '2' }])]).toMatchObject([{ tasks: true }, none])
      const t = await owned(store, 'u', 'n')
      await store.post([{ task: 'u', message: { type: 'tick' }, control: false }])
      expect([await look(), await look('o')]).toMatchObject([
        { ...none, mail: true },
        { ...none, mail: false },
      ])
      await store.commit([transition({ ...t, node: 'n' }, { work: [workRequest('u', 1)] })])
      expect([await look('o'), await look('o', [], ['pay.refund'])]).toMatchObject([{ ...none, work: true }, none])
      await store.takeWork({ node: 'o', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 1 }] })
      expect(await look('o')).toMatchObject(none)
    })

    it('tells that services rest, as long as there is a row of that', async () => {
      const { store } = bench
      await store.writeBreaker({ kind: 'breaker', name: 'pay', expected: 0, state: '{}' })
      await store.writeBreaker({ kind: 'rate', name: 'pay', expected: 0, state: '{}' })
      expect(await look()).toMatchObject({ rests: false })
      await store.writeBreaker({ kind: 'rest', name: 'pay', expected: 0, state: '{}' })
      expect(await look()).toMatchObject({ rests: true })
      await store.writeBreaker({ kind: 'rest', name: 'pay', expected: 1, state: null })
      expect(await look()).toMatchObject({ rests: false })
    })

    it('tells of sleepers: that one is due to all, of the next to who leads, or to all while nobody does', async () => {
      const { store, clock } = bench
      const wake = clock.now() + 100
      await store.submit([newTask('t', { startAt: wake }), newTask('u', { startAt: wake + 5 })])
      expect(await look()).toMatchObject({ tasks: false, vacant: true, nextWake: wake })
      await store.heartbeat({ id: 'n', roles: [], lease: 1_000 })
      await store.lead({ name: lease, node: 'n', ttl: 50 })
      expect([await look(), await look('o')]).toMatchObject([
        { vacant: false, nextWake: wake, living: 1 },
        { vacant: false, nextWake: null, living: 1 },
      ])
      clock.advance(60)
      expect(await look('o')).toMatchObject({ tasks: false, vacant: true, nextWake: wake })
      clock.advance(40)
      expect(await look('o', [])).toMatchObject({ tasks: true })
    })
  })

  describe('the readers', () => {
    it('count what there is', async () => {
      const { store } = bench
      expect(await store.counts()).toEqual({ tasks: 0, ready: 0, work: 0, inbox: 0 })
      const t = await owned(store)
      await store.submit([newTask('u')])
      await store.post([{ task: 't', message: { type: 'tick' }, control: false }])
      expect(await store.counts()).toEqual({ tasks: 2, ready: 1, work: 0, inbox: 1 })
      await store.commit([transition(t, { release: released })])
      expect(await store.counts()).toMatchObject({ ready: 2 })
    })

    it('count no further than a number on a screen is worth, and say so', async () => {
      const { store } = bench
      await store.submit(Array.from({ length: MOST_COUNTED + 1 }, (_, i) => newTask(`t${i}`)))
      const counts = { tasks: MOST_COUNTED, ready: MOST_COUNTED, work: 0, inbox: 0, truncated: ['tasks', 'ready'] }
      expect(await store.counts()).toEqual(counts)
      expect((await store.queued(`t${MOST_COUNTED}`)).ahead).toBe(MOST_COUNTED)
    })

    it('show how far tasks are, without what they carry', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.submit([newTask('u')])
      const marks = async () => new Map((await store.taskVersions(['u', 'none', 't'])).map((mark) => [mark.id, mark]))
      const before = await marks()
      expect([...before.keys()].sort()).toEqual(['t', 'u'])
      expect([...before.values()].map(({ ended }) => ended)).toEqual([false, false])
      await store.commit([transition(claim, { snapshot: { ...snapshot(), status: 'paused' } })])
      const paused = await marks()
      expect(paused.get('t')?.mark).not.toBe(before.get('t')?.mark)
      expect(paused.get('u')).toEqual(before.get('u'))
      await store.commit([transition(claim, { seq: 3, snapshot: stopped })])
      expect((await marks()).get('t')).toMatchObject({ ended: false }) // its owner may still be told to go on
      await store.commit([transition(claim, { seq: 3, events: null, release: released })])
      expect((await marks()).get('t')).toMatchObject({ ended: true })
      await store.post([{ task: 't', message: { type: 'retry' }, control: true }])
      expect((await marks()).get('t')).toMatchObject({ ended: false })
      expect(await store.taskVersions([])).toEqual([])
    })

    it('bring the record that a row names in place of its output, in lists as well, and nothing where it names none that is there', async () => {
      const { store } = bench
      const events = '["whatever it is"]'
      const said: [string, string | null][] = [
        ['@2.0.output', events],
        ['@1.0.input', newTask('1').events],
        ['@3.0.output', null],
        ['@99999999999999999999.0.output', null],
        ['@two', null],
        ['@', null],
        ['"@2.0.output"', null],
        ['{"~coded":"@2.0.output"}', null],
      ]
      for (const [index, [output]] of said.entries()) {
        const claim = await owned(store, `${index}`)
        await store.commit([transition(claim, { events, snapshot: { ...stopped, output }, release: released })])
      }
      const shown = ({ output, outputIn }: TaskRow) => [output, outputIn ?? null]
      const rows = await list(store, { order: 'oldest' })
      expect(rows.map(shown)).toEqual(said)
      const single = await Promise.all(said.map((_, index) => store.task(`${index}`)))
      expect(single).toEqual(rows)
      expect(await list(store, { order: 'oldest', workflow: 'flow', outcome: 'success' })).toEqual(rows)
    })

    it('tell the time of the store and know no task of another id', async () => {
      expect(await bench.store.now()).toBe(bench.clock.now())
      expect(await bench.store.task('none')).toBeNull()
    })

    it('are refused once the store is closed', async () => {
      await bench.store.close()
      await expect(bench.store.task('t')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
      await expect(bench.store.submit([newTask('t')])).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    })
  })
}
