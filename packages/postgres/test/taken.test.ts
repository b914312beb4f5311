import { describe, expect, it } from 'vitest'
import type { Claim, ImportedTask, QueuedReply } from '../../triarch/src/store/port.ts'
import {
  asking,
  claimAll,
  creation,
  flow,
  letter,
  newTask,
  owned,
  released,
  replyTo,
  snapshot,
  transition,
} from '../../triarch/test/store/samples.ts'
import { inSchema } from '../src/schema.ts'
import { inTransaction, untilFree, waitedFor, withClient } from './database.ts'
import { ownStore } from './own.ts'

// A claim that finds one new task and a reply have statements of their own (take_tasks, reply), and replies that come together take what they are for at once (reply_many): they do what those for many do.

const { schema, store } = await ownStore()

const agents = [{ agent: 'pay', limit: 99, actions: ['pay.charge'] }]

let count = 0
async function rowOf(id: string): Promise<Record<string, unknown>> {
  return withClient(async (client) => {
    const { rows } = await client.query(
      `SELECT t.*, (SELECT json_agg(i.owner) FROM "${schema}".inbox i WHERE i.task = t.key) AS owners,
         (SELECT json_agg(to_jsonb(w) - 'id' - 'task' - 'request' ORDER BY w.id) FROM "${schema}".work w WHERE w.task = t.key) AS asked
       FROM "${schema}".tasks t WHERE t.id = $1`,
      [id],
    )
    return rows[0]
  })
}

describe('what is alone', () => {
  const elsewhere = (id: string, records: number, orphaned: boolean): ImportedTask => ({
    ...{ ...newTask(id), base: 1, snapshot: snapshot(), ready: true, orphaned, children: [] },
    records: Array.from({ length: records }, (_, index) => ({ seq: index + 1, at: 1, events: newTask(id).events })),
  })
  /** How a task comes to wait for a claim. */
  const waiting: Record<string, (id: string) => Promise<unknown>> = {
    'a new task': (id) => store.submit([newTask(id, { tags: { a: 'b' }, priority: 2 })]),
    'a task of another version': (id) => store.submit([newTask(id, { version: '2' })]),
    'a task whose instant has come': (id) => store.submit([newTask(id, { startAt: 1 })]),
    'a task with a letter': async (id) => {
      await store.submit([newTask(id)])
      await store.post([{ task: id, message: letter('go'), control: false }])
    },
    'a task with a letter for anybody': async (id) => {
      await store.submit([newTask(id)])
      await store.post([{ task: id, message: letter('go'), control: true }])
    },
    'a task that was given back': async (id) => {
      await store.commit([transition(await owned(store, id), { release: { ...released, ready: true } })])
    },
    'a task whose owner was lost': async (id) => {
      const lost = { ...released, ready: true, orphaned: true }
      await store.commit([transition(await owned(store, id), { ...asking(id), release: lost })])
    },
    'a task that came from another store': (id) => store.importTask(elsewhere(id, 2, false)),
    'a task that came from another store, and may have had attempts': (id) => store.importTask(elsewhere(id, 1, true)),
  }
  const versions = [flow, { ...flow, version: '2' }]

  it.each(Object.entries(waiting))('is taken as it is beside others: %s', async (_, prepare) => {
    const [one, other, neighbour] = [`one${++count}`, `two${count}`, `near${count}`]
    const told = (claims: Claim[], id: string) => {
      const { key, more, ...claim } = claims.find((it) => it.id === id) as Claim
      return JSON.parse(
        JSON.stringify({ ...claim, key: 0 })
          .replace(/"(?:id|key)":\d+/g, '"key":0')
          .replaceAll(id, 't'),
      )
    }
    await claimAll(store, 'a', versions)
    await prepare(one)
    const alone = await claimAll(store, 'a', versions)
    expect(alone.map(({ id }) => id)).toEqual([one])
    await prepare(other)
    await store.submit([newTask(neighbour)])
    const among = await claimAll(store, 'a', versions)
    expect(among.length).toBe(2)
    expect(told(alone, one)).toEqual(told(among, other))
    const rows = await Promise.all([one, other].map(rowOf))
    const [a, b] = rows.map(({ key, id, readied, ...row }) => row)
    expect(a).toEqual(b)
  })

  it('is handed out as it is beside others: a request', async () => {
    const take = async (ids: string[]) => {
      await store.takeWork({ node: 'a', agents })
      for (const id of ids) {
        const change = { heartbeatWithin: 5, expiresAt: 9_000_000_000_000, priority: ids.indexOf(id) }
        await store.commit([creation(newTask(id), asking(id, change))])
      }
      const [last, ...more] = (await store.takeWork({ node: 'a', agents })).toReversed()
      const { asked } = await rowOf(ids[0] ?? '')
      expect(last?.request.task).toBe(ids[0])
      expect(more.map((it) => it.request.task)).toEqual(ids.slice(1))
      return { ...last, id: 0, request: { ...last?.request, task: '' }, asked }
    }
    expect(await take(['w1'])).toEqual(await take(['w2', 'w3', 'w4']))
  })

  it('is taken when there is one only of those that may be, and says that there may be more when no more was asked for', async () => {
    await store.submit([newTask('x1'), newTask('x2')])
    const [first] = await claimAll(store, 'a', [flow], 1)
    expect(first).toMatchObject({ id: 'x1', more: true })
    const [second, ...rest] = await claimAll(store, 'a', [flow], 1)
    expect([second, rest]).toMatchObject([{ id: 'x2', more: true }, []])
    await store.submit([newTask('x3')])
    const claims = await store.claim({ node: 'a', runnable: [flow], limit: 9, except: [(second?.key ?? 0) + 1] })
    expect(claims).toEqual([])
    expect(await claimAll(store)).toMatchObject([{ id: 'x3' }])
  })

  it('is taken with what any scheduler may take', async () => {
    await store.submit([newTask('foreign', { workflow: 'foreign' })])
    await store.post([{ task: 'foreign', message: letter('go'), control: true }])
    await store.submit([newTask('own')])
    expect((await claimAll(store)).map(({ id }) => id).sort()).toEqual(['foreign', 'own'])
  })

  it('says the same when its call comes again', async () => {
    await claimAll(store)
    await store.submit([newTask('again')])
    await asked('asks')
    await store.commit([creation(newTask('asks too'), asking('asks too'))])
    await withClient(async (client) => {
      const twice = async (call: string, given: unknown[]) => {
        const ask = () => client.query(inSchema(`SELECT * FROM triarch.${call}`, schema), given)
        const { rows } = await ask()
        // Whom to tell was told the first time.
        expect((await ask()).rows).toEqual(rows.map((row) => ('owners' in row ? { ...row, owners: null } : row)))
        return rows
      }
      const [claim] = await twice(
        `take_tasks('s', 1, NULL, 'n', '{flow}', '{1}', 1, NULL, 9, 999, 9, 999, 0, 0, '{}')`,
        [],
      )
      expect(JSON.parse(claim.text)).toMatchObject({ id: 'again', more: true })
      const [work, ...rest] = await twice(
        `take_work('s', 2, NULL, 'n', '{pay}', '{9}', '{pay.charge}', false, 0, 1000, '{}', '{}')`,
        [],
      )
      expect([JSON.parse(work.request).task, rest]).toEqual(['asks too', []])
      const replied = `reply('s', 3, 'n', ARRAY[$1::bigint], '{x}', '{asks too}', '{1}', '{run}', '{1}')`
      expect(await twice(replied, [work.id])).toMatchObject([{ answer: expect.stringMatching(/^[1-9]/) }])
    })
  })

  it('is not waited for: a claim leaves a task to the transaction that has it', async () => {
    await store.submit([newTask('busy')])
    await inTransaction(async (client) => {
      await client.query(`SELECT 1 FROM "${schema}".tasks WHERE id = 'busy' FOR KEY SHARE`)
      expect(await claimAll(store)).toEqual([])
    })
    expect(await claimAll(store)).toMatchObject([{ id: 'busy' }])
  })

  /** The number of its request, taken by a node. */
  const asked = async (id: string) => {
    await store.takeWork({ node: 'a', agents })
    await store.commit([creation(newTask(id), asking(id))])
    const items = await store.takeWork({ node: 'a', agents })
    expect(items.map((it) => it.request.task)).toEqual([id])
    return items[0]?.id ?? 0
  }
  const of = (task: string) => ({ task, step: 1, operation: 'run', attempt: 1 }) as const

  it.each<[what: string, (work: number, id: string) => Partial<QueuedReply>]>([
    ['of its request', (_, id) => ({ of: of(id) })],
    ['of which nobody knows whose it is', () => ({})],
    ['of a request that is no more', (work) => ({ work: work + 1_000 })],
    ['of another task', () => ({ of: of('another') })],
    ['of another attempt', (_, id) => ({ of: { ...of(id), attempt: 2 } })],
    ['of another step', (_, id) => ({ of: { ...of(id), step: 2 } })],
    ['of another operation', (_, id) => ({ of: { ...of(id), operation: 'undo' } })],
    ['of another node', (_, id) => ({ node: 'b', of: of(id) })],
  ])('is answered as it is beside others: a reply %s', async (_, change) => {
    const [one, other] = [`r${++count}`, `q${count}`]
    const said = async (id: string, beside: number) => {
      const work = await asked(id)
      const reply = { node: 'a', work, message: replyTo(1), ...change(work, id) }
      const more = Array.from({ length: beside }, () => ({ node: reply.node, work: 0, message: replyTo(1) }))
      const [outcome] = await store.reply([reply, ...more])
      const { key, id: _, ...row } = await rowOf(id)
      const letters = (await store.inbox('a', 1_000)).filter((it) => it.key === Number(key)).map((it) => it.message)
      return { outcome, row, letters }
    }
    expect(await said(one, 0)).toEqual(await said(other, 1))
  })

  it('is answered, and makes its task claimable when nobody has it', async () => {
    const work = await asked('given back')
    const { rows } = await withClient((client) =>
      client.query<{ key: string }>(`SELECT key FROM "${schema}".tasks WHERE id = 'given back'`),
    )
    const claim = { key: Number(rows[0]?.key), id: 'given back', epoch: 1 }
    await store.commit([transition(claim, { release: released })])
    expect(await store.reply([{ node: 'a', work, message: replyTo(1), of: of('given back') }])).toEqual([true])
    expect(await claimAll(store)).toMatchObject([{ id: 'given back', letters: [{ message: replyTo(1) }] }])
  })

  /** The reply to a request that was made, and taken. */
  const replying = async (id: string): Promise<QueuedReply> => {
    const work = await asked(id)
    return { node: 'a', work, message: replyTo(1), of: of(id) }
  }

  it('is answered beside one whose task is gone, and beside one whose task nobody has', async () => {
    const [gone, there] = [await replying('gone'), await replying('there')]
    const [also, free] = [await replying('also there'), await replying('nobody has it')]
    await withClient(async (client) => {
      await client.query(`DELETE FROM "${schema}".tasks WHERE id = 'gone'`)
      await client.query(`UPDATE "${schema}".tasks SET locked_by = NULL WHERE id = 'nobody has it'`)
    })
    expect(await store.reply([gone, there])).toEqual([true, true])
    expect(await rowOf('there')).toMatchObject({ owners: ['a'], asked: null })
    expect(await store.reply([also, free])).toEqual([true, true])
    expect(await rowOf('also there')).toMatchObject({ owners: ['a'], asked: null, ready: false })
    expect(await rowOf('nobody has it')).toMatchObject({ owners: [null], asked: null, ready: true })
  })

  it('waits for who is taking its task over, and is for that one', async () => {
    const [one, other, free] = [await replying('taken'), await replying('taken too'), await replying('free')]
    const reply = (replies: QueuedReply[]) => untilFree(() => store.reply(replies))
    const answers: Promise<unknown>[] = []
    await inTransaction(async (client) => {
      const taken = `key IN (SELECT t.key FROM "${schema}".tasks t WHERE t.id LIKE 'taken%' FOR UPDATE)`
      await client.query(`UPDATE "${schema}".tasks SET locked_by = 'b' WHERE ${taken}`)
      answers.push(reply([one]), reply([other, free]))
      await waitedFor(client, 2)
    })
    expect(await Promise.all(answers)).toEqual([[true], [true, true]])
    for (const [id, owner] of Object.entries({ taken: 'b', 'taken too': 'b', free: 'a' }))
      expect(await rowOf(id)).toMatchObject({ owners: [owner], asked: null })
  })
})
