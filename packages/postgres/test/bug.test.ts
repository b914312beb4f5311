import { describe, expect, it } from 'vitest'
import type { Transition } from '../../triarch/src/store/port.ts'
import { lettersBeside } from '../../triarch/test/store/letters.ts'
import {
  asking,
  claimAll,
  letter,
  newTask,
  owned,
  released,
  replyTo,
  transition,
} from '../../triarch/test/store/samples.ts'
import { type Bug, withBug } from './bug.ts'
import { emptySchema, withClient } from './database.ts'
import { ownStore } from './own.ts'

// What the database does by itself is in no mutant of the stores' code: each of its shortcuts has a deliberate bug here, and what notices it.

const { schema, store } = await ownStore()

/** A task whose first step waits to be taken by an agent, and is. */
const asked = async (...ids: string[]) => {
  for (const id of ids) {
    const claim = await owned(store, id)
    await store.commit([transition(claim, { ...asking(id), release: { ...released, wakeAt: null } })])
  }
  return store.takeWork({ node: 'agent', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 9 }] })
}
const replyOf = (work: number, task: string) => {
  const of = { task, step: 1, operation: 'run', attempt: 1 } as const
  return { work, node: 'agent', of, message: replyTo(1) }
}

const promises = {
  'letters at hand': () => lettersBeside(store),
  'the fence of a record': async () => {
    const claim = await owned(store)
    const written = async (change: Partial<Transition>) => (await store.commit([transition(claim, change)]))[0]?.ok
    expect(await written({ epoch: 0 })).toBe(false)
    expect(await written({ node: 'b' })).toBe(false)
    expect(await written({ seq: 3 })).toBe(false)
    expect(await written({})).toBe(true)
  },
  'who owns what': async () => {
    const claim = await owned(store)
    await store.commit([transition(claim, { seq: 0, events: null, release: { ...released, ready: true } })])
    expect(await claimAll(store, 'b')).toMatchObject([{ id: 't', epoch: 2 }])
  },
  'letters that wait for an owner': async () => {
    await store.submit([newTask('t')])
    await store.post([{ task: 't', message: letter('go'), control: false }])
    expect(await claimAll(store)).toMatchObject([{ letters: [{ message: letter('go') }] }])
  },
  'whose a reply is': async () => {
    const [item] = await asked('t')
    const reply = replyOf(item?.id ?? 0, 't')
    for (const other of [
      { ...reply, node: 'b' },
      { ...reply, of: { ...reply.of, attempt: 2 } },
    ])
      expect(await store.reply([other])).toEqual([false])
    expect(await store.reply([reply])).toEqual([true])
  },
  'replies to tasks that nobody has': async () => {
    const items = await asked('t', 'u')
    expect(await store.reply(items.map(({ id, request }) => replyOf(id, request.task)))).toEqual([true, true])
    expect(await claimAll(store)).toMatchObject([{ letters: [{}] }, { letters: [{}] }])
  },
} satisfies Record<string, () => Promise<void>>

const HELD = '(l.more OR l.id NOT IN (SELECT h.id FROM unnest(held) AS h (id)))'
const OWNER = 't.epoch = commit_one.epoch AND t.locked_by = node AND t.id = commit_one.id FOR NO KEY UPDATE'

/** By what is to be noticed. */
const bugs: Record<string, Bug & { by: keyof typeof promises }> = {
  'letters at hand are told again': {
    ...{ of: 'letters_beside', by: 'letters at hand' },
    change: [[HELD, 'true']],
  },
  'who has letters at hand is told those behind them alone': {
    ...{ of: 'letters_beside', by: 'letters at hand' },
    change: [[HELD, '(l.more OR l.id > coalesce((SELECT max(h.id) FROM unnest(held) AS h (id)), 0))']],
  },
  'letters at hand do not count for the bounds of a reading': {
    ...{ of: 'letters_beside', by: 'letters at hand' },
    change: [['WHERE o.owner = node ORDER BY', 'WHERE o.owner = node AND o.id <> ALL (held) ORDER BY']],
  },
  'the last letter of a reading hides at hand that there are more': {
    ...{ of: 'letters_beside', by: 'letters at hand' },
    change: [['(l.more OR l.id NOT IN', '(l.id NOT IN']],
  },
  'replies to tasks that nobody has make none of them ready': {
    ...{ of: 'reply_many', by: 'replies to tasks that nobody has' },
    change: [[' AND array_position(holders, NULL) IS NULL', '']],
  },
  'a record that is alone is written for the owner of before': {
    ...{ of: 'commit_one', by: 'the fence of a record' },
    change: [[OWNER, 't.locked_by = node AND t.id = commit_one.id FOR NO KEY UPDATE']],
  },
  'a record that is alone is written for whoever': {
    ...{ of: 'commit_one', by: 'the fence of a record' },
    change: [[OWNER, 't.epoch = commit_one.epoch AND t.id = commit_one.id FOR NO KEY UPDATE']],
  },
  'a record that is alone leaves a gap': {
    ...{ of: 'commit_one', by: 'the fence of a record' },
    change: [
      ['SELECT h.seq = commit_one.seq - 1 AND h.at', 'SELECT h.at'],
      ['h.task = key AND h.seq >= commit_one.seq - 1 ORDER BY', 'h.task = key ORDER BY'],
    ],
  },
  'a claim of one takes what had an owner for new': {
    ...{ of: 'take_tasks', by: 'who owns what' },
    change: [[' AND t.epoch = 0 AND NOT t.orphaned', '']],
  },
  'a claim of one leaves its letters': {
    ...{ of: 'take_tasks', by: 'letters that wait for an owner' },
    change: [['NOT EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = one)', 'true']],
  },
  'a reply that is alone is taken of whoever': {
    ...{ of: 'reply', by: 'whose a reply is' },
    change: [['w.locked_by = node AND w.id', 'w.id']],
  },
  'a reply that is alone ends another attempt': {
    ...{ of: 'reply', by: 'whose a reply is' },
    change: [[' AND w.attempt = attempts[1]', '']],
  },
}

describe('it is noticed when', () => {
  it.each(Object.entries(bugs))('%s', async (_, { by, ...bug }) => {
    await withClient(async (client) => {
      await withBug({ client, schema }, bug, () =>
        // What fails for another reason has shown nothing.
        expect(promises[by]()).rejects.toMatchObject({ name: 'AssertionError' }),
      )
    })
    await emptySchema(schema)
    await promises[by]()
    await emptySchema(schema)
  })
})
