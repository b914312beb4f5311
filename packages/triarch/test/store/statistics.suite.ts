import { describe, expect, it } from 'vitest'
import type { StateStore, Tally, TallyWrite } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { owned, transition } from './samples.ts'

const HOUR = 3_600_000
const pages = { look: 100, limit: 100, audit: 0 }
const tallyOf = (more: Partial<Tally> = {}): Tally => {
  const told = { kind: 'task', workflow: 'w', agent: '', action: '', outcome: 'success', error: '', tag: '' } as const
  return { hour: HOUR, ...told, bucket: 3, count: 1, ms: 7, ...more }
}
const all = { from: 0, to: 100 * HOUR, where: {}, limit: 100 }
const lead = async (store: StateStore, node = 'a') =>
  ({ name: 's', token: (await store.lead({ name: 's', node, ttl: 60_000 })) as number }) as const

/** Tallies of what histories say, and which records are counted. */
export function statisticsSuite(bench: Bench): void {
  const write = (token: { name: string; token: number }, more: Partial<TallyWrite>): TallyWrite => {
    return { ...token, tasks: [], tallies: [], asOf: null, keepFrom: 0, ...more }
  }

  describe('tallies', () => {
    it('count each record once: of a task that somebody counted meanwhile nothing is written', async () => {
      const { store } = bench
      const claim = await owned(store)
      const leader = await lead(store)
      const page = await store.readUncounted({ ...leader, ...pages, after: 0 })
      expect(page).toMatchObject({ tasks: [{ seq: 0, state: null }], next: null, behind: false })
      const { key = 0 } = page?.tasks[0] ?? {}
      const counted = { key, from: 0, seq: 1, state: 'so far', done: true }
      expect(await store.tally(write(leader, { tasks: [counted], tallies: [tallyOf()] }))).toBe(true)
      expect(await store.tally(write(leader, { tasks: [counted], tallies: [tallyOf()] }))).toBe(false)
      expect((await store.tallies({ ...all, by: [] })).tallies).toMatchObject([{ count: 1, ms: 7 }])
      expect(await store.readUncounted({ ...leader, ...pages, after: 0 })).toMatchObject({ tasks: [] })
      // It had stopped, and goes on.
      await store.commit([transition(claim, { seq: 2 })])
      await store.readUncounted({ ...leader, ...pages, after: 0 })
      expect(await store.readUncounted({ ...leader, ...pages, after: 0 })).toMatchObject({
        tasks: [{ key, seq: 1, state: 'so far' }],
      })
    })

    it('are written by the leader alone', async () => {
      const { store, clock } = bench
      const old = await lead(store)
      clock.advance(61_000)
      await lead(store, 'b')
      expect(await store.readUncounted({ ...old, ...pages, after: 0 })).toBeNull()
      expect(await store.tally(write(old, { tallies: [tallyOf()] }))).toBe(false)
      expect((await store.tallies({ ...all, by: [] })).tallies).toEqual([])
    })

    it('are added up by what is asked for, and hours that are too old go', async () => {
      const { store } = bench
      const leader = await lead(store)
      const given = [tallyOf(), tallyOf({ bucket: 5 }), tallyOf({ hour: 2 * HOUR, workflow: 'v' })]
      await store.tally(write(leader, { tallies: given }))
      await store.tally(write(leader, { tallies: given, asOf: 5 }))
      const found = await store.tallies({ ...all, by: ['workflow'] })
      expect(found.asOf).toBe(5)
      const none = { hour: 0, kind: '', agent: '', action: '', outcome: '', error: '', tag: '', bucket: 0 }
      expect(found.tallies).toEqual([
        { ...none, workflow: 'v', count: 2, ms: 14 },
        { ...none, workflow: 'w', count: 4, ms: 28 },
      ])
      expect((await store.tallies({ ...all, where: { workflow: 'w' }, by: ['bucket'] })).tallies).toHaveLength(2)
      await store.tally(write(leader, { keepFrom: 2 * HOUR }))
      expect((await store.tallies({ ...all, by: ['hour'] })).tallies).toMatchObject([{ hour: 2 * HOUR }])
    })

    it('leave out submissions where each task is to count once', async () => {
      const { store } = bench
      const leader = await lead(store)
      await store.tally(
        write(leader, { tallies: [tallyOf({ outcome: 'submitted' }), tallyOf({ outcome: 'success' })] }),
      )
      expect((await store.tallies({ ...all, by: [] })).tallies).toMatchObject([{ count: 2 }])
      expect((await store.tallies({ ...all, by: [], once: true })).tallies).toMatchObject([{ count: 1 }])
    })

    it('go bit by bit when all is to be counted anew, are not shown meanwhile, and it is said how far that is', async () => {
      const { store, clock } = bench
      await owned(store)
      const leader = await lead(store)
      const page = await store.readUncounted({ ...leader, ...pages, after: 0 })
      const { key = 0 } = page?.tasks[0] ?? {}
      const counted = { key, from: 0, seq: 1, state: 'so far', done: false }
      const given = [1, 2, 3].map((bucket) => tallyOf({ bucket }))
      await store.tally(write(leader, { tasks: [counted], tallies: given, asOf: 5 }))
      expect(await store.tallies({ ...all, by: [] })).toMatchObject({ tallies: [{ count: 3 }], asOf: 5, recount: null })
      clock.advance(1_000)
      const audit = {
        id: 'a-1',
        at: 1,
        actor: 'ada',
        action: 'statistics.recount',
        subject: 's',
        outcome: 'done',
      } as const
      await store.recount({ audit: { ...audit, text: '{}' } })
      const query = { actor: null, action: null, subject: null, since: null, before: { at: 1e15, seq: 1e15 }, limit: 9 }
      expect(await store.audit(query)).toMatchObject([{ actor: 'ada', action: 'statistics.recount' }])
      const begun = { tallies: [], asOf: null, recount: { since: expect.any(Number), share: 0 } }
      expect(await store.tallies({ ...all, by: [] })).toMatchObject(begun)
      // What somebody counted just now goes with the rest.
      const late = { ...counted, from: 1, seq: 2 }
      await store.tally(write(leader, { tasks: [late], tallies: [tallyOf({ bucket: 9 })], asOf: 6 }))
      expect(await store.tallies({ ...all, by: [] })).toMatchObject(begun)
      // A row each time: four tallies, and one time that finds none.
      for (let n = 0; n < 5; n++)
        expect(await store.readUncounted({ ...leader, ...pages, look: 1, after: 0 })).toMatchObject({
          tasks: [],
          anew: true,
        })
      expect(await store.readUncounted({ ...leader, ...pages, after: 0 })).toMatchObject({
        tasks: [{ key, seq: 0, state: null }],
      })
      expect(await store.tallies({ ...all, by: [] })).toMatchObject({ tallies: [], asOf: null, recount: { share: 1 } })
      await store.tally(write(leader, { tasks: [counted], tallies: given, asOf: 7 }))
      expect(await store.tallies({ ...all, by: [] })).toMatchObject({ tallies: [{ count: 3 }], asOf: 7, recount: null })
    })
  })
}
