import { describe, expect, it } from 'vitest'
import type { Transition } from '../../triarch/src/store/transition.ts'
import {
  asking,
  letter,
  newTask,
  owned,
  released,
  snapshot,
  stopped,
  transition,
} from '../../triarch/test/store/samples.ts'
import { commitCall } from '../src/commit.ts'
import { inTransaction, untilFree, waitedFor, withClient } from './database.ts'
import { ownStore } from './own.ts'

// One transition alone has a statement of its own (commit_one), which does what the one for many does.

const { schema, store } = await ownStore()

const claimed = (id: string) => owned(store, id)
const written = async (id: string) => {
  const claim = await claimed(id)
  await store.commit([transition(claim)])
  return claim
}
/** The number of what was posted to a task that somebody owns. */
const told = async (id: string, control = false) => {
  await store.post([{ task: id, message: letter('go'), control }])
  return (await store.inbox('a', 1_000)).map((it) => it.id)
}
const later = { seq: 3, at: 1_800_000_000_002, lastAt: 1_800_000_000_001 }
const without = { events: null, seq: 1, lastAt: 1_800_000_000_000 }

/** How a task comes to be, and the transition of it. */
const cases: Record<string, (id: string) => Promise<Transition>> = {
  'a record': async (id) => transition(await claimed(id)),
  'a record of a time that nobody knows': async (id) => transition(await claimed(id), { lastAt: null }),
  'what changes in its row': async (id) =>
    transition(await claimed(id), { snapshot: snapshot({ failures: 2, deadline: 9 }) }),
  'its end': async (id) => transition(await claimed(id), { snapshot: stopped, release: released }),
  'its return until an instant': async (id) =>
    transition(await claimed(id), { release: { ...released, wakeAt: 1_900_000_000_000 } }),
  'its return for anybody, without a record': async (id) =>
    transition(await claimed(id), { ...without, release: { ...released, ready: true, orphaned: true } }),
  'its return without the record before': async (id) =>
    transition(await claimed(id), { ...without, seq: 2, release: released }),
  'its return after a record of another time': async (id) =>
    transition(await claimed(id), { ...without, lastAt: 7, release: released }),
  'its return when nobody knows how far it is': async (id) =>
    transition(await claimed(id), { ...without, seq: 0, lastAt: 7, release: released }),
  'its return with a letter unread': async (id) => {
    const claim = await claimed(id)
    await told(id)
    return transition(claim, { snapshot: snapshot(), release: released })
  },
  'its return with a letter for anybody unread': async (id) => {
    const claim = await claimed(id)
    await told(id, true)
    return transition(claim, { release: released })
  },
  'letters of its own': async (id) => {
    const claim = await claimed(id)
    return transition(claim, { consumed: await told(id), release: released })
  },
  'letters that are none of its own': async (id) => {
    const claim = await claimed(id)
    await told(id)
    return transition(claim, { consumed: [1_000_000] })
  },
  'the owner of before': async (id) => transition({ ...(await claimed(id)), epoch: 0 }, { snapshot: stopped }),
  'another owner': async (id) =>
    transition({ ...(await claimed(id)), node: 'b' }, { snapshot: stopped, release: released }),
  'a key that is another task by now': async (id) =>
    transition({ ...(await claimed(id)), id: `not ${id}` }, { snapshot: stopped }),
  'a record that is there': async (id) => transition(await written(id), { at: 5, snapshot: stopped }),
  'a record after the next': async (id) => transition(await written(id), later),
  'a record before which one is missing': async (id) => transition(await claimed(id), { ...later, snapshot: stopped }),
  'a record before which there is another': async (id) => transition(await written(id), { ...later, lastAt: 4 }),
  'a request': async (id) => transition(await claimed(id), { ...asking(id), snapshot: snapshot() }),
  'a request with all that it may have': async (id) =>
    transition(await claimed(id), asking(id, { operation: 'undo', priority: 3, heartbeatWithin: 5, expiresAt: 9 })),
  'a request that is there already, for another agent': async (id) => {
    const claim = await claimed(id)
    await store.commit([transition(claim, asking(id))])
    return transition(claim, { seq: 3, ...asking(id, { agent: 'another' }) })
  },
  'a request of the owner of before': async (id) => transition({ ...(await claimed(id)), epoch: 0 }, asking(id)),
  'a request that is said again': async (id) => transition(await written(id), { at: 5, ...asking(id) }),
}

let count = 0
/** What became of it, and what is there now, but for the numbers that are another for each. */
async function traceOf(id: string, given: Transition, beside: readonly Transition[]) {
  const [outcome] = await store.commit([given, ...beside])
  const { key, id: _, readied, ...row } = ((await rowOf(id)) ?? {}) as Record<string, unknown>
  const letters = (await store.inbox('a', 1_000)).filter((it) => it.key === Number(key)).map((it) => it.message)
  const records = (await store.records(id, 0, 9)).map((it) => JSON.stringify(it).replaceAll(id, 't'))
  const known = outcome?.ok ? { ...outcome, key: outcome.key === Number(key) } : outcome
  return { outcome: known, row, placed: readied !== null, letters, records }
}

async function rowOf(id: string): Promise<unknown> {
  return withClient(async (client) => {
    const { rows } = await client.query(
      `SELECT t.*, (SELECT json_agg(g.name || g.value) FROM "${schema}".tags g WHERE g.task = t.key) AS tagged,
         (SELECT json_agg(i.owner) FROM "${schema}".inbox i WHERE i.task = t.key) AS owners,
         (SELECT json_agg(to_jsonb(w) - 'id' - 'task' - 'request' ORDER BY w.id) FROM "${schema}".work w WHERE w.task = t.key) AS asked,
         (SELECT json_agg(w.request::jsonb - 'task') FROM "${schema}".work w WHERE w.task = t.key) AS requests
       FROM "${schema}".tasks t WHERE t.id = $1`,
      [id],
    )
    return rows[0]
  })
}

describe('what is alone in its call', () => {
  it.each(Object.entries(cases))('is written as it is beside others: %s', async (_, prepare) => {
    const [one, other, neighbour] = ['one', 'other', 'neighbour'].map((name) => `${name}${++count}`) as [
      string,
      string,
      string,
    ]
    const alone = await prepare(one)
    expect(commitCall([alone])[0]).toBe('commit_one')
    const apart = await traceOf(one, alone, [])
    const beside = [transition(await claimed(neighbour))]
    const among = await prepare(other)
    expect(commitCall([among, ...beside])[0]).toBe('commit')
    expect(apart).toEqual(await traceOf(other, among, beside))
  })

  it.each<[what: string, change: Partial<Transition>]>([
    ['several requests', { work: [{}, {}] as never }],
    ['a withdrawal', { withdraw: [1] }],
    ['a request that no longer matters', { forget: [1] }],
    ['a child', { children: [newTask('c')] }],
    ['a letter to another', { posts: [{ task: 'u', message: letter('go'), control: false }] }],
    ['a new beginning', { rebase: true }],
  ])('and asks for more, is written by the call for many: %s', (_, change) => {
    expect(commitCall([transition({ key: 1, id: 't', epoch: 1 }, change)])[0]).toBe('commit')
  })

  it('waits for who has its task, and is refused when that one took it', async () => {
    const [one, other, free] = [await claimed('taken'), await claimed('taken too'), await claimed('free')]
    const commit = (batch: Transition[]) => untilFree(() => store.commit(batch))
    const answers: Promise<unknown>[] = []
    await inTransaction(async (client) => {
      await client.query(`UPDATE "${schema}".tasks SET epoch = epoch + 1 WHERE key IN (${one.key}, ${other.key})`)
      answers.push(commit([transition(one)]), commit([transition(other), transition(free)]))
      await waitedFor(client, 2)
    })
    expect(await Promise.all(answers)).toMatchObject([[{ ok: false }], [{ ok: false }, { ok: true }]])
  })
})
