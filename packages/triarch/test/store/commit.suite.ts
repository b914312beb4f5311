import { describe, expect, it } from 'vitest'
import type { Claim, Post, PostRoom, PostTerms, RowCondition, Transition } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { idsOf } from './listing.ts'
import {
  claimAll,
  creation,
  flow,
  newTask,
  owned,
  released,
  replyTo,
  snapshot,
  stopped,
  transition,
  workRequest,
} from './samples.ts'

const fenced = { ok: false, reason: 'fenced' }

export function commitSuite(bench: Bench): void {
  describe('submit', () => {
    it('takes the same id twice as one task', async () => {
      const { store } = bench
      const [first] = await store.submit([newTask('t')])
      const [again, other] = await store.submit([newTask('t', { priority: 9 }), newTask('u')])
      expect([first?.created, again?.created, other?.created]).toEqual([true, false, true])
      expect(again?.key).toBe(first?.key)
      expect(await store.task('t')).toMatchObject({ id: 't', priority: 0, status: 'pending', lockedBy: null })
      expect(await store.records('t', 0, 10)).toEqual([{ seq: 1, at: newTask('t').at, events: newTask('t').events }])
    })

    it('keeps which step of its parent asked for a child, and lists by it', async () => {
      const { store } = bench
      await store.submit([newTask('parent')])
      const claim = await owned(store, 'parent')
      const child = (id: string, step: number) => newTask(id, { parent: 'parent', parentStep: step })
      await store.commit([transition(claim, { children: [child('own name', 3), child('other', 4)] })])
      expect(await store.task('own name')).toMatchObject({ parent: 'parent', parentStep: 3 })
      expect(await store.task('parent')).toMatchObject({ parent: null, parentStep: null })
      const where: RowCondition[] = [
        { column: 'parent', test: { type: 'text', oneOf: ['parent'] } },
        { column: 'parentStep', test: { type: 'number', least: 3, most: 3 } },
      ]
      const found = await store.list({ where, limit: 10, order: 'oldest' })
      expect(found.rows.map(({ id }) => id)).toEqual(['own name'])
    })

    it('creates tasks whose tags no database can look for, rather than to fail their neighbours', async () => {
      const { store } = bench
      const made = await store.submit([newTask('bad', { tags: { a: 'x\u0000' } }), newTask('half', { tags: { a: '\ud800' } }), newTask('good', { tags: { a: '\\u0000' } })]) // biome-ignore format: one line
      expect(made.map(({ created }) => created)).toEqual([true, true, true])
      expect(await idsOf(store, { tags: { a: '\\u0000' } })).toEqual(['good'])
    })

    it('keeps texts as they are', async () => {
      const odd = 'ä €\u{1f600} \' " \\ % \n\t'
      const events = JSON.stringify([{ input: `${odd}\u0000\ud800` }])
      await bench.store.submit([newTask(odd, { events, tags: { [odd]: odd } })])
      expect(await bench.store.task(odd)).toMatchObject({ id: odd, tags: { [odd]: odd } })
      expect((await bench.store.records(odd, 0, 1))[0]?.events).toBe(events)
    })
  })

  describe('a commit', () => {
    it('appends a record and gives it back in order', async () => {
      const { store } = bench
      const claim = await owned(store)
      const events = ['["2"]', '["3"]', '["4"]']
      for (const [i, it] of events.entries()) {
        const outcome = await store.commit([transition(claim, { seq: i + 2, events: it })])
        expect(outcome).toEqual([{ ok: true, key: claim.key }])
      }
      const records = await store.records('t', 1, 10)
      expect(records.map(({ seq, events }) => [seq, events])).toEqual(events.map((it, i) => [i + 2, it]))
      expect(await store.records('t', 2, 1)).toHaveLength(1)
      expect(await store.records('none', 0, 10)).toEqual([])
    })

    it('creates a task that its node owns from the start', async () => {
      const { store } = bench
      const tags = { colour: 'red' }
      const outcome = await store.commit([creation(newTask('t', { tags }), { snapshot: snapshot({ failures: 3 }) })])
      expect(outcome).toMatchObject([{ ok: true }])
      expect(await store.task('t')).toMatchObject({ lockedBy: 'a', epoch: 1, status: 'running', failures: 3, tags })
      expect(await store.records('t', 0, 10)).toHaveLength(1)
      expect(await claimAll(store, 'b')).toEqual([])
    })

    it('creates nothing under an id that exists', async () => {
      const { store } = bench
      await store.submit([newTask('t')])
      const children = [newTask('child', { parent: 't' })]
      expect(await store.commit([creation(newTask('t'), { children })])).toEqual([{ ok: false, reason: 'exists' }])
      expect(await store.task('t')).toMatchObject({ lockedBy: null, epoch: 0 })
      expect(await store.task('child')).toBeNull()
    })

    it.each([
      ['another epoch', { epoch: 2 }],
      ['an old epoch', { epoch: 0 }],
      ['another node', { node: 'b' }],
      ['a position that is taken', { seq: 1 }],
      ['a task that does not exist', { key: 4711 }],
    ])('is refused for %s, without any effect and without harm to its neighbours', async (_, wrong) => {
      const { store } = bench
      const bad = await owned(store, 'bad')
      const good = await owned(store, 'good')
      await store.post([{ task: 'bad', message: { type: 'tick' }, control: false }])
      const [letter] = await store.inbox('a', 10)
      const everything = {
        snapshot: stopped,
        consumed: [letter?.id ?? 0],
        work: [workRequest('bad', 1)],
        children: [newTask('child', { parent: 'bad' })],
        posts: [{ task: 'good', message: { type: 'tick' }, control: false } as const],
        release: released,
        rebase: true,
      }
      const before = await store.task('bad')
      const outcomes = await store.commit([
        transition(good, { seq: 2 }),
        transition(bad, { ...everything, ...wrong }),
        creation(newTask('new')),
      ])
      expect(outcomes).toMatchObject([{ ok: true }, fenced, { ok: true }])
      expect(await store.task('bad')).toEqual(before)
      expect(await store.records('bad', 0, 10)).toHaveLength(1)
      expect(await store.inbox('a', 10)).toEqual([letter])
      expect(await store.task('child')).toBeNull()
      expect(await store.counts()).toMatchObject({ tasks: 3, work: 0, inbox: 1 })
      expect(await store.records('good', 0, 10)).toHaveLength(2)
    })

    it('sent twice is recorded once', async () => {
      const { store } = bench
      const claim = await owned(store)
      const same = transition(claim, { children: [newTask('child', { parent: 't' })] })
      expect(await store.commit([same])).toMatchObject([{ ok: true }])
      expect(await store.commit([same])).toEqual([fenced])
      expect(await store.records('t', 0, 10)).toHaveLength(2)
    })

    it('writes nothing beyond a gap, nor gives a task back there, and leaves its neighbours alone', async () => {
      const { store } = bench
      const [claim, other] = [await owned(store), await owned(store, 'u')]
      const late = transition(claim, { seq: 4, snapshot: snapshot({ failures: 9 }), posts: [] })
      expect(await store.commit([late, transition(other)])).toMatchObject([fenced, { ok: true }])
      expect(await store.commit([transition(claim, { seq: 4, events: null, release: released })])).toEqual([fenced])
      expect(await store.task('t')).toMatchObject({ failures: 0, lockedBy: 'a' })
      expect(await store.records('t', 0, 10)).toHaveLength(1)
      expect(await store.commit([transition(claim, { seq: 1, events: null, release: released })])).toMatchObject([
        { ok: true },
      ])
      expect(await store.commit([transition(other, { seq: 0, events: null, release: released })])).toMatchObject([
        { ok: true },
      ])
      expect(await store.task('t')).toMatchObject({ lockedBy: null })
    })

    it('writes nothing after a record that is another than its owner knows, nor gives a task back there', async () => {
      const { store } = bench
      const [claim, other] = [await owned(store), await owned(store, 'u')]
      const { at } = newTask('t')
      expect(await store.commit([transition(claim, { lastAt: at }), transition(other, { lastAt: at })])).toMatchObject([
        { ok: true },
        { ok: true },
      ])
      const known = transition(claim).at
      const late = transition(claim, { seq: 3, lastAt: known - 1, snapshot: snapshot({ failures: 9 }) })
      const next = transition(other, { seq: 3, lastAt: known })
      expect(await store.commit([late, next])).toMatchObject([fenced, { ok: true }])
      const back = { seq: 2, events: null, release: released }
      expect(await store.commit([transition(claim, { ...back, lastAt: known + 1 })])).toEqual([fenced])
      expect(await store.task('t')).toMatchObject({ failures: 0, lockedBy: 'a' })
      expect(await store.records('t', 0, 10)).toHaveLength(2)
      expect(await store.commit([transition(claim, { ...back, lastAt: known })])).toMatchObject([{ ok: true }])
    })

    it('writes no record that has no place in a history', async () => {
      const { store } = bench
      const [claim, other] = [await owned(store, 't'), await owned(store, 'other')]
      for (const seq of [0, -1, 1, 3]) {
        const outcomes = await store.commit([
          transition(claim, { seq, release: released }),
          transition(other, { seq: 2 }),
        ])
        expect(outcomes[0], String(seq)).toEqual(fenced)
      }
      expect(await store.records('t', 0, 10)).toHaveLength(1)
      expect(await store.task('t')).toMatchObject({ lockedBy: 'a' })
    })

    it('writes nothing into a task that has the key of another', async () => {
      const { store } = bench
      const claim = await owned(store)
      expect(await store.commit([transition({ ...claim, id: 'other' })])).toEqual([fenced])
      const letGo = { seq: 0, events: null, release: released }
      expect(await store.commit([transition({ ...claim, id: 'other' }, letGo)])).toEqual([fenced])
      const child = newTask('t.1', {
        parent: 't',
        gates: { locks: [{ step: 0, name: 'l', ifHeld: 'queue' }], after: [] },
      })
      const gated = transition({ ...claim, id: 'other' }, { children: [child] })
      expect(await store.commit([gated])).toEqual([fenced])
      expect(await store.task('t.1')).toBeNull()
      expect(await store.records('t', 0, 10)).toHaveLength(1)
    })

    it('that was acknowledged is missed when the store has lost it, and only then', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.commit([transition(claim)])
      const mark = (change: object) => ({ id: 't', key: claim.key, seq: 2, ...change })
      expect(await store.lostRecords([mark({}), mark({ seq: 1 })])).toEqual([])
      expect(await store.lostRecords([mark({ seq: 3 })])).toEqual([{ id: 't', last: 2 }])
      expect(await store.lostRecords([mark({ id: 'u' }), mark({ key: claim.key + 1 })])).toEqual([
        { id: 'u', last: null },
        { id: 't', last: null },
      ])
    })

    it('after which a request was queued is missed with that: while there is neither it nor its reply', async () => {
      const { store } = bench
      const claim = await owned(store)
      const request = { step: 1, operation: 'run', attempt: 1 } as const
      const missed = (seq: number) => store.lostRecords([{ id: 't', key: claim.key, seq, request }])
      await store.commit([transition(claim)])
      expect(await missed(2)).toEqual([{ id: 't', last: 2, request: true }])
      await store.commit([transition(claim, { seq: 2, events: null, work: [workRequest('t', 1)] })])
      expect(await missed(2)).toEqual([])
      const [item] = await store.takeWork({
        node: 'agent',
        agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 1 }],
      })
      expect(await store.reply([{ work: item?.id ?? 0, node: 'agent', message: replyTo(1) }])).toEqual([true])
      expect(await missed(2)).toEqual([])
      const [letter] = await store.inbox('a', 10)
      await store.commit([transition(claim, { seq: 3, consumed: [letter?.id ?? 0] })])
      // Whether that record was of the reply, the owner knows.
      for (const seq of [2, 3]) expect(await missed(seq)).toEqual([{ id: 't', last: seq, request: true }])
    })

    it('gives no task back that waits for a request which is gone without a reply, and leaves its neighbours alone', async () => {
      const { store } = bench
      const lost = { ok: false, reason: 'lost' }
      const [claim, other] = [await owned(store), await owned(store, 'u')]
      const awaits = [{ step: 1, operation: 'run', attempt: 1 }] as const
      const back = (seq: number, part: Partial<Transition> = {}) =>
        transition(claim, { seq, events: null, release: { ...released, wakeAt: 9, awaits }, ...part })
      await store.commit([transition(claim), transition(other)])
      const change = { snapshot: snapshot({ failures: 9 }), events: '[]', children: [newTask('t.1', { parent: 't' })] }
      expect(await store.commit([back(3, change), transition(other, { seq: 3 })])).toMatchObject([lost, { ok: true }])
      expect(await store.commit([back(2)])).toEqual([lost])
      expect(await store.task('t')).toMatchObject({ failures: 0, lockedBy: 'a', wakeAt: null })
      expect(await store.task('t.1')).toBeNull()
      expect(await store.records('t', 0, 10)).toHaveLength(2)
      // The other attempts of the step, and other steps, are other requests.
      const others = [workRequest('t', 2), { ...workRequest('t', 1), attempt: 2 }]
      await store.commit([transition(claim, { seq: 2, events: null, work: others })])
      expect(await store.commit([back(2)])).toEqual([lost])
      await store.commit([transition(claim, { seq: 2, events: null, work: [workRequest('t', 1)] })])
      const both = [...awaits, { step: 3, operation: 'run', attempt: 1 } as const]
      const release = { ...released, awaits: both }
      expect(await store.commit([transition(claim, { seq: 2, events: null, release })])).toEqual([lost])
      expect(await store.commit([back(2)])).toMatchObject([{ ok: true }])
      expect(await store.task('t')).toMatchObject({ lockedBy: null, wakeAt: 9 })
    })

    it('gives a task back whose request has its reply, which is not consumed with that: it is ready at once', async () => {
      const { store } = bench
      const claim = await owned(store)
      const awaits = [{ step: 1, operation: 'run', attempt: 1 }] as const
      const back = transition(claim, { seq: 2, events: null, release: { ...released, awaits } })
      await store.commit([transition(claim, { work: [workRequest('t', 1)] })])
      await store.post([{ task: 't', message: { type: 'event', name: 'n', payload: null }, control: false }])
      const queue = { agent: 'pay', actions: ['pay.charge'], limit: 1 }
      const [item] = await store.takeWork({ node: 'agent', agents: [queue] })
      await store.reply([{ work: item?.id ?? 0, node: 'agent', message: replyTo(1) }])
      const letters = await store.inbox('a', 10)
      const replies = letters.flatMap(({ id, message }) => (message.type === 'reply' ? [id] : []))
      expect([letters.length, replies.length]).toEqual([2, 1])
      expect(await store.commit([{ ...back, consumed: replies }])).toEqual([{ ok: false, reason: 'lost' }])
      expect(await store.commit([back])).toMatchObject([{ ok: true }])
      expect(await store.claim({ node: 'b', runnable: [flow], limit: 1 })).toMatchObject([{ id: 't' }])
    })

    it('is of a task that the store says this node owns, until it is given back', async () => {
      const { store } = bench
      const one = await owned(store)
      await store.submit([newTask('u'), newTask('free')])
      const [two] = await store.claim({ node: 'a', runnable: [flow], limit: 1 })
      const says = (after = 0, limit = 10, node = 'a') => store.owned({ node, after, limit })
      const rows = [one, two].map((it) => ({ key: it?.key, id: it?.id, epoch: 1 }))
      expect(await says()).toEqual(rows)
      expect(await says(0, 1)).toEqual(rows.slice(0, 1))
      expect(await says(one.key)).toEqual(rows.slice(1))
      expect(await says(0, 10, 'b')).toEqual([])
      await store.commit([transition(one, { seq: 0, events: null, release: released })])
      expect(await says()).toEqual(rows.slice(1))
    })

    it('without events is a mere release, under the same fence', async () => {
      const { store } = bench
      const claim = await owned(store)
      const change = { seq: 0, events: null, release: { wakeAt: null, ready: true, orphaned: true } }
      expect(await store.commit([transition({ ...claim, epoch: 7 }, change)])).toEqual([fenced])
      expect(await store.commit([transition(claim, change)])).toMatchObject([{ ok: true }])
      expect(await store.records('t', 0, 10)).toHaveLength(1)
      expect(await claimAll(store, 'b')).toMatchObject([{ id: 't', epoch: 2, orphaned: true }])
    })

    it('writes the snapshot, and gives the task back in the same breath', async () => {
      const { store } = bench
      const claim = await owned(store)
      const all = {
        ...stopped,
        result: 'error',
        failures: 2,
        deadline: 5,
        progress: '1',
        error: '{}',
        pause: '"p"',
      } as const
      await store.commit([transition(claim, { snapshot: all, release: { ...released, wakeAt: 1_900_000_000_000 } })])
      const row = await store.task('t')
      expect(row).toMatchObject({
        ...all,
        lockedBy: null,
        epoch: 1,
        wakeAt: 1_900_000_000_000,
        submittedAt: newTask('').at,
      })
      expect(row?.updatedAt).toBe(transition(claim).at)
    })

    it('starts children once, also when asked again', async () => {
      const { store, clock } = bench
      const claim = await owned(store)
      const later = newTask('later', { parent: 't', startAt: clock.now() + 100, status: 'scheduled' })
      const children = [newTask('child', { parent: 't' }), later]
      await store.commit([transition(claim, { children })])
      expect(await store.commit([transition(claim, { seq: 3, children })])).toMatchObject([{ ok: true }])
      const claims = await claimAll(store, 'b')
      expect(claims.map(({ id }) => id)).toEqual(['child'])
      expect(claims[0]?.records).toHaveLength(1)
      expect(await store.task('later')).toMatchObject({ parent: 't', wakeAt: later.startAt })
    })

    it('hears at once of a child that has stopped, and that one is another’s', async () => {
      const { store } = bench
      const claim = await owned(store)
      const other = await owned(store, 'u')
      const child = (id: string, step: number, parent = 't') => newTask(id, { parent, parentStep: step })
      const failed = { ...stopped, result: 'error' as const, output: null, error: '{"name":"E","message":"m"}' }
      await store.commit([
        transition(claim, { children: [child('ended', 1), child('failed', 2), child('open', 3)] }),
        transition(other, { children: [child('other', 4, 'u')] }),
      ])
      const made = new Map((await claimAll(store)).map((one) => [one.id, one]))
      await store.commit([
        transition(made.get('ended') as Claim, { snapshot: stopped, release: released }),
        transition(made.get('failed') as Claim, { snapshot: failed, release: released }),
      ])
      const children = [child('ended', 1), child('failed', 2), child('open', 3), child('other', 4), child('ended', 5)]
      await store.commit([transition(claim, { seq: 3, children: [...children, child('new', 6)] })])
      const [ended, wrong, ...others] = (await store.inbox('a', 10)).map(({ message }) => message)
      expect(ended).toEqual({ type: 'child', step: 1, result: 'success', output: 'done' })
      expect(wrong).toEqual({ type: 'child', step: 2, result: 'error', error: { name: 'E', message: 'm' } })
      expect(others).toMatchObject([
        { type: 'child', step: 4, result: 'error', refused: { code: 'TASK_EXISTS' } },
        { type: 'child', step: 5, result: 'error', refused: { code: 'TASK_EXISTS' } },
      ])
    })

    it('that tells how far it is leaves its letters to its owner', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.post([{ task: 't', message: { type: 'tick' }, control: false }])
      await store.commit([transition(claim, { snapshot: snapshot({ failures: 1 }) })])
      expect(await store.inbox('a', 10)).toHaveLength(1)
    })

    it('that continues anew leaves the first record and those from itself on for the replay', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.commit([transition(claim, { seq: 2 })])
      await store.commit([transition(claim, { seq: 3, rebase: true })])
      await store.commit([transition(claim, { seq: 4, release: { ...released, ready: true } })])
      expect((await store.replay('t')).map(({ seq }) => seq)).toEqual([1, 3, 4])
      expect((await claimAll(store))[0]?.records.map(({ seq }) => seq)).toEqual([1, 3, 4])
      expect(await store.records('t', 0, 10)).toHaveLength(4)
      expect(await store.replay('none')).toEqual([])
    })
  })

  describe('the inbox', () => {
    it('that continues anew again drops what lies before the beginning of before, of a history that is long', async () => {
      const { store } = bench
      const [claim, short] = [await owned(store), await owned(store, 'short')]
      const events = '[{"type":"continued"}]'
      for (let seq = 2; seq <= 80; seq++) await store.commit([transition(claim, { seq, rebase: seq === 70 })])
      await store.commit([transition(claim, { seq: 81, events, rebase: true })])
      const seqs = async (id: string) => (await store.records(id, 0, 1_000)).map(({ seq }) => seq)
      expect(await seqs('t')).toEqual([1, ...Array.from({ length: 12 }, (_, n) => 70 + n)])
      expect((await store.replay('t')).map(({ seq }) => seq)).toEqual([1, 81])
      for (let seq = 2; seq <= 9; seq++) await store.commit([transition(short, { seq, rebase: true })])
      expect(await seqs('short')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('that continues anew again lets children go that had stopped by the beginning of before, of a history that is long', async () => {
      const { store } = bench
      const [claim, short] = [await owned(store), await owned(store, 'short')]
      const at = (ms: number) => 1_800_000_000_000 + ms
      const end = { snapshot: stopped, release: released }
      const kid = (id: string, parent: string, ms: number, change: Partial<Transition>) =>
        creation(newTask(id, { parent }), { at: at(ms), ...change })
      await store.commit([
        kid('early', 't', 99, end),
        kid('late', 't', 100, end),
        kid('open', 't', 99, { release: released }),
        kid('other', 'short', 99, end),
      ])
      const left = async (parent: string) => (await idsOf(store, { parent })).sort()
      for (let seq = 2; seq <= 66; seq++)
        await store.commit([transition(claim, { seq, at: at(100), rebase: seq === 65 })])
      expect(await left('t')).toEqual(['early', 'late', 'open'])
      await store.commit([transition(claim, { seq: 67, at: at(200), rebase: true })])
      expect(await left('t')).toEqual(['late', 'open'])
      expect(await store.task('early')).toMatchObject({ parent: null, status: 'stopped' })
      await store.commit([transition(claim, { seq: 68, at: at(200), rebase: true })])
      expect(await left('t')).toEqual(['open'])
      for (let seq = 2; seq <= 9; seq++)
        await store.commit([transition(short, { seq, at: at(100 + seq), rebase: true })])
      expect(await left('short')).toEqual(['other'])
    })

    it('delivers to the owner, oldest first, until a commit consumes', async () => {
      const { store } = bench
      const [t, u] = [await owned(store, 't'), await owned(store, 'u')]
      const message = (name: string) => ({ type: 'event', name, payload: null }) as const
      const post = (task: string, name: string) => ({ task, message: message(name), control: false })
      expect(await store.post([post('t', '1'), post('u', '2'), post('none', '3'), post('t', '4')])).toEqual([
        'posted',
        'posted',
        'unknown',
        'posted',
      ])
      const letters = await store.inbox('a', 10)
      expect(letters.map(({ key, message }) => [key, message])).toEqual([
        [t.key, message('1')],
        [u.key, message('2')],
        [t.key, message('4')],
      ])
      expect(await store.inbox('a', 2)).toEqual([letters[0], { ...letters[1], more: true }])
      expect(await store.inbox('b', 10)).toEqual([])
      await store.commit([transition(t, { consumed: letters.filter(({ key }) => key === t.key).map(({ id }) => id) })])
      expect(await store.inbox('a', 10)).toEqual([letters[1]])
    })

    it('takes a message on its terms, decided where it is written', async () => {
      const { store } = bench
      const claim = await owned(store)
      await owned(store, 'gone').then((gone) =>
        store.commit([transition(gone, { snapshot: stopped, release: released })]),
      )
      const event = (name: string, terms: Partial<PostTerms>, task = 't') => {
        const message = { type: 'event' as const, name, payload: null }
        return { task, message, control: false, terms: { fits: ['pending', 'running'], room: room({}), ...terms } }
      }
      const one = async (post: Post) => (await store.post([post]))[0]
      expect(await one(event('a', {}, 'none'))).toBe('unknown')
      expect(await one(event('a', { fits: ['paused'] }))).toBe('unfit')
      expect(await one(event('a', {}, 'gone'))).toBe('unfit')
      expect(await one(event('a', { fits: [`stopped/${stopped.result}`] }, 'gone'))).toBe('posted')
      expect(await one(event('a', { room: room({ bytes: 10 }) }))).toBe('posted')
      const two = 2 * Buffer.byteLength(JSON.stringify(event('b', {}).message))
      expect(await one(event('b', { room: room({ bytes: two - 1 }) }))).toBe('full')
      expect(await one(event('b', { room: room({ bytes: two }) }))).toBe('posted')
      expect(await one(event('c', {}))).toBe('full')
      expect(await one(event('c', { room: null }))).toBe('posted')
      // Those of the kind by that name, however their text begins.
      const awaited = { only: { kind: 'event', name: 'd' } as const, letters: 1 }
      expect(await one(event('d', { room: room(awaited) }))).toBe('posted')
      expect(await one(event('d', { room: room(awaited) }))).toBe('full')
      const turned = { payload: null, name: 'f', type: 'event' as const }
      await store.post([{ task: 't', message: turned, control: false }])
      expect(await one(event('f', { room: room({ ...awaited, only: { kind: 'event', name: 'f' } }) }))).toBe('full')
      const signal = { type: 'signal' as const, step: 1, key: 't:1', name: 'f', payload: null }
      const few = (key: string) => room({ only: { kind: 'signal', name: key }, letters: 1 })
      const ask = (key: string) => one({ ...event('', { room: few(key) }), message: { ...signal, key } })
      expect([await ask('t:1'), await ask('t:1'), await ask('t:2')]).toEqual(['posted', 'full', 'posted'])
      // Controls are no mail, and those of one kind count together.
      const pause = { type: 'pause' as const }
      await store.post([{ task: 't', message: pause, control: false }])
      const paused = (letters: number) => room({ only: { kind: 'pause', name: null }, letters })
      expect(await one({ ...event('', { room: paused(1) }), message: pause })).toBe('full')
      expect(await one(event('e', { room: room({ letters: 8 }) }))).toBe('posted')
      const letters = await store.inbox('a', 100)
      expect(letters.map(({ message }) => ('name' in message ? message.name : message.type))).toEqual(
        ['a', 'b', 'c', 'd', 'f', 'f', 'f', 'pause', 'e'], // biome-ignore format: one line
      )
      expect(claim.key).toBe(letters[0]?.key)
    })

    it('takes what fits a paused task as soon as a pause of it waits unread, unless the task has stopped', async () => {
      const { store } = bench
      const claims = [await owned(store), await owned(store, 'u'), await owned(store, 'gone')]
      const resume = async (task: string, fits: string[] = ['paused']) => {
        const terms = { fits, room: null }
        return (await store.post([{ task, message: { type: 'resume' }, control: true, terms }]))[0]
      }
      expect(await resume('t')).toBe('unfit')
      await store.post(['t', 'gone'].map((task) => ({ task, message: { type: 'pause' as const }, control: true })))
      expect(await resume('t', ['planned'])).toBe('unfit')
      expect(await resume('u')).toBe('unfit')
      expect(await resume('t')).toBe('posted')
      const [t, , gone] = claims as [Claim, Claim, Claim]
      const letters = (await store.inbox('a', 10)).filter(({ key }) => key === t.key)
      expect(letters.map(({ message }) => message.type)).toEqual(['pause', 'resume'])
      await store.commit([transition(t, { consumed: letters.map(({ id }) => id) })])
      expect(await resume('t')).toBe('unfit')
      await store.commit([transition(gone, { snapshot: stopped, release: released })])
      expect(await resume('gone')).toBe('unfit')
    })

    it('reckons with what the task says that it keeps, or else with what it need not say', async () => {
      const { store } = bench
      const claim = await owned(store)
      const send = async (of: Partial<PostRoom>, name = 'e') => {
        const message = { type: 'event' as const, name, payload: 'x'.repeat(100) }
        const terms = { fits: ['pending', 'running'], room: room(of) }
        return (await store.post([{ task: 't', message, control: false, terms }]))[0]
      }
      expect(await send({ letters: 3, unsaid: { letters: 3, bytes: 0 } })).toBe('full')
      // By what is known as of a record, and no longer true after another.
      expect(await send({ letters: 30, asOf: 2 })).toBe('full')
      expect(await send({ bytes: 1_000, unsaid: { letters: 0, bytes: 1_000 }, asOf: 1 })).toBe('posted')
      expect(await send({ bytes: 1_000, unsaid: { letters: 0, bytes: 800 } })).toBe('full')
      const kept = (letters: number, bytes: number) => {
        const message = { type: 'kept' as const, letters, bytes }
        return { task: 't', message, control: false }
      }
      await store.commit([transition(claim, { posts: [kept(5, 500), kept(-2, -200)] })])
      // What it says counts, and nothing else; letters add up.
      expect(await send({ letters: 4, unsaid: { letters: 100, bytes: 10_000 } })).toBe('full')
      expect(await send({ letters: 5, unsaid: { letters: 100, bytes: 10_000 } })).toBe('posted')
      expect(await send({ letters: 100, bytes: 600 })).toBe('full')
      expect(await send({ letters: 100, bytes: 1_000 })).toBe('posted')
    })

    it('never takes more than there is room for, however many send at once', async () => {
      const { store } = bench
      await owned(store)
      const message = { type: 'event' as const, name: 'e', payload: null }
      const post = {
        task: 't',
        message,
        control: false,
        terms: { fits: ['running', 'pending'], room: room({ letters: 7 }) },
      }
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => store.post([post])))
      expect(outcomes.flat().filter((outcome) => outcome === 'posted')).toHaveLength(7)
      expect(await store.inbox('a', 100)).toHaveLength(7)
    })

    it('loses no letter to a commit of another task', async () => {
      const { store } = bench
      const [t, u] = [await owned(store, 't'), await owned(store, 'u')]
      await store.post([{ task: 't', message: { type: 'tick' }, control: false }])
      const letters = await store.inbox('a', 10)
      await store.commit([transition(u, { consumed: letters.map(({ id }) => id) })])
      expect(await store.inbox('a', 10)).toEqual(letters)
      await store.commit([transition(t, { consumed: letters.map(({ id }) => id) })])
      expect(await store.inbox('a', 10)).toEqual([])
    })

    it('makes an unowned task claimable and comes with the claim, also to a paused or stopped one', async () => {
      const { store } = bench
      const t = await owned(store, 't')
      await store.commit([transition(t, { snapshot: stopped, release: released })])
      expect(await claimAll(store)).toEqual([])
      await store.post([{ task: 't', message: { type: 'retry' }, control: false }])
      const [claim] = await claimAll(store, 'b')
      expect(claim).toMatchObject({ id: 't', epoch: 2, letters: [{ key: t.key, message: { type: 'retry' } }] })
      expect(await store.inbox('b', 10)).toEqual(claim?.letters)
    })

    it('keeps a task claimable that is released with a letter undelivered', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.post([{ task: 't', message: { type: 'pause' }, control: true }])
      await store.commit([transition(t, { release: released })])
      expect(await store.inbox('a', 10)).toEqual([])
      const [claim] = await store.claim({ node: 'b', runnable: [], limit: 10 })
      expect(claim?.letters).toMatchObject([{ message: { type: 'pause' } }])
    })

    it('takes posts of a commit, to owned and unowned tasks', async () => {
      const { store } = bench
      await store.submit([newTask('z', { ...flow, version: '2' })])
      const [t, u] = [await owned(store, 't'), await owned(store, 'u')]
      const posts = ['u', 'z', 'none'].map((task) => ({ task, message: { type: 'tick' } as const, control: true }))
      expect(await store.commit([transition(t, { posts })])).toMatchObject([{ ok: true }])
      expect(await store.inbox('a', 10)).toMatchObject([{ key: u.key }])
      expect(await store.claim({ node: 'b', runnable: [], limit: 10 })).toMatchObject([{ id: 'z' }])
    })
  })
}

function room(of: Partial<PostRoom>): PostRoom {
  return { only: null, letters: 2, bytes: 10_000, unsaid: { letters: 0, bytes: 0 }, asOf: null, ...of }
}
