import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { agent, PermanentError, TriarchError, workflow } from '../../src/index.ts'
import { Committer } from '../../src/scheduler/committer.ts'
import { Quarantine } from '../../src/scheduler/quarantine.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { CommitOutcome, StateStore, Transition } from '../../src/store/port.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { transition } from '../store/samples.ts'
import { codeOf, eventsOf, type Stage, stage } from './harness.ts'

const waits = workflow('waits', {
  run: async (n: number, task) => {
    await task.run('first', () => n)
    await task.waitForSignal('go')
    return n
  },
})
const workflows = [waits]

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function file(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'triarch-')))
  return join(folders.at(-1) ?? '', 'store.db')
}

function change(path: string, sql: string): void {
  using database = new DatabaseSync(path)
  database.exec(sql)
}

const recordsOf = (id: string) => `task = (SELECT key FROM triarch_tasks WHERE id = '${id}')`

/** Two tasks that wait, of which the first is then harmed; and an engine that takes both up. */
async function harmed(sql: string, options: object = {}): Promise<Stage> {
  const path = file()
  const store = sqlite(path, { writer: 'inline' })
  const before = await stage({ workflows, store })
  await (await before.submit(waits, 1, { id: 'bad' })).signal('other')
  await before.submit(waits, 2, { id: 'good' })
  await before.leave()
  change(path, sql)
  const s = await stage({ workflows, store, ...options })
  // Somebody must look at it.
  await s.engine.tasks.get('bad').signal('go')
  await s.settle()
  await s.engine.tasks.get('good').signal('go')
  expect(await s.engine.tasks.get('good').result()).toBe(2)
  return s
}

/** The store with something before its commits. */
function before(commit: (batch: readonly Transition[]) => void): StoreFactory {
  return (environment) => {
    const store = sqlite(':memory:')(environment)
    const inner = store.commit.bind(store)
    store.commit = async (batch) => {
      commit(batch)
      return inner(batch)
    }
    return store
  }
}

describe('a task whose history', () => {
  it.each([
    ['cannot be read', `UPDATE triarch_history SET events = '[{' WHERE seq = 2 AND ${recordsOf('bad')}`, 2],
    ['is no list', `UPDATE triarch_history SET events = '{}' WHERE seq = 2 AND ${recordsOf('bad')}`, 2],
    ['has a gap', `DELETE FROM triarch_history WHERE seq = 2 AND ${recordsOf('bad')}`, 2],
    ['has no beginning', `DELETE FROM triarch_history WHERE seq = 1 AND ${recordsOf('bad')}`, 1],
  ])('%s is quarantined, with an alert, and shown as far as it can be read', async (_, sql, record) => {
    const s = await harmed(sql)
    const bad = s.engine.tasks.get('bad')
    expect(s.alerts).toMatchObject([{ code: 'TASK_QUARANTINED', task: 'bad', cause: 'quarantine' }])
    const { status, pause, lockedBy } = await bad.status()
    expect({ status, lockedBy }).toEqual({ status: 'paused', lockedBy: undefined })
    expect(pause).toMatchObject({
      cause: 'quarantine',
      error: { code: 'TASK_QUARANTINED', details: { cause: 'history' } },
    })
    expect(pause?.error?.cause).toMatchObject({ code: 'HISTORY_CORRUPT', details: { record } })
    const { reasons } = await s.engine.triarch.tasks.get('bad').explain()
    expect(reasons).toMatchObject([{ code: 'quarantined', cause: 'history' }])
    const last = (await bad.history()).at(-1)
    expect(last?.events).toMatchObject([{ type: 'paused', cause: 'quarantine' }])
    expect(await bad.plan()).toBeNull()
    await bad.steps()
    // Nobody takes it again, whatever is sent to it and however long it takes.
    const { epoch } = (await s.store.task('bad')) ?? {}
    await bad.signal('go')
    await s.advance('2h')
    expect(await s.store.task('bad')).toMatchObject({ epoch, lockedBy: null, quarantined: true })
    await s.kill()
  })

  it('contradicts itself is quarantined', async () => {
    const s = await harmed(
      `UPDATE triarch_history SET events = '[{"type":"planning"}]' WHERE seq = 2 AND ${recordsOf('bad')}`,
    )
    expect((await s.engine.tasks.get('bad').status()).pause?.error?.details).toEqual({ cause: 'history' })
    await s.kill()
  })

  it('cannot be read gets one more chance by an operator, and goes on once it is mended', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const early = await stage({ workflows, store })
    const task = await early.submit(waits, 7, { id: 'bad' })
    await early.leave()
    using database = new DatabaseSync(path)
    const where = `seq = 2 AND ${recordsOf('bad')}`
    const { events } = database.prepare(`SELECT events FROM triarch_history WHERE ${where}`).get() as { events: string }
    database.exec(`UPDATE triarch_history SET events = 'x' WHERE ${where}`)
    const s = await stage({ workflows, store })
    const bad = s.engine.tasks.get(task.id)
    await bad.signal('go')
    await s.settle()
    await bad.resume()
    await s.settle()
    expect(s.alerts.map(({ cause }) => cause)).toEqual(['quarantine', 'quarantine'])
    database.prepare(`UPDATE triarch_history SET events = ? WHERE ${where}`).run(events)
    await bad.resume()
    expect(await bad.result()).toBe(7)
    expect(await s.store.task('bad')).toMatchObject({ quarantined: false })
    await s.leave()
  })

  it('has a gap says so in explain() and history(), and goes on from its last whole record by an operator’s word', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const ran: string[] = []
    const long = workflow('long', {
      run: async (n: number, task) => {
        for (let i = 0; i < n; i++) {
          await task.run(`s${i}`, () => void ran.push(`s${i}`))
          if (i === 1) await task.waitForSignal('go')
        }
        await task.waitForSignal('end')
        return n
      },
    })
    const early = await stage({ workflows: [long], store })
    const task = await early.submit(long, 4, { id: 'bad' })
    await early.settle()
    await task.signal('go')
    await early.settle()
    const whole = (await task.history()).length
    await early.leave()
    expect(ran).toEqual(['s0', 's1', 's2', 's3'])
    const second = `SELECT min(seq) FROM triarch_history WHERE events LIKE '%"s2"%'`
    change(path, `DELETE FROM triarch_history WHERE seq IN ((${second}), (${second}) + 1)`)
    const s = await stage({ workflows: [long], store })
    const bad = s.engine.tasks.get('bad')
    await bad.signal('other')
    await s.settle()
    const missing = (await bad.history()).find((entry) => entry.missing)?.missing
    const { from = 0, to = 0 } = missing ?? {}
    expect([from, to]).toEqual([from, from + 1])
    expect(to).toBeLessThan(whole)
    const { reasons, text } = await s.engine.triarch.tasks.get('bad').explain()
    expect(reasons).toMatchObject([{ code: 'quarantined', cause: 'history', broken: missing }])
    expect(text).toContain(`records ${from} to ${to} are missing`)
    expect(text).toContain(`resume({ after: ${from - 1} })`)
    expect(await codeOf(bad.resume({ after: from - 2 }))).toBe('ILLEGAL_MOVE')
    expect(await codeOf(bad.resume({ after: 0 }))).toBe('INVALID_OPTION')
    await bad.resume({ after: from - 1 })
    await s.settle()
    expect(ran.slice(4)).toEqual([])
    expect(await codeOf(bad.resume({ after: from - 1 }))).toBe('ILLEGAL_MOVE')
    await bad.signal('go')
    await bad.signal('end')
    expect(await bad.result()).toBe(4)
    expect(ran.slice(4)).toEqual(['s2', 's3'])
    expect((await eventsOf(bad, 'paused')).at(-1)?.note).toContain(`after record ${from - 1} was lost`)
    await s.leave()
  })

  it('cannot be read is ended by force, and its parent hears of it', async () => {
    const path = file()
    const parent = workflow('parent', { run: (n: number, task) => task.call(waits, n) })
    const options = { workflows: [waits, parent], store: sqlite(path, { writer: 'inline' }) }
    const early = await stage(options)
    const task = await early.submit(parent, 1)
    await early.leave()
    const [child] = (
      await stage(options).then(async (it) => {
        const page = await it.engine.tasks.get(task.id).children()
        await it.leave()
        return page
      })
    ).tasks
    const id = child?.id ?? ''
    change(path, `UPDATE triarch_history SET events = 'x' WHERE seq = 2 AND ${recordsOf(id)}`)
    const s = await stage(options)
    await s.engine.tasks.get(id).signal('go')
    await s.settle()
    await s.engine.tasks.get(id).cancel({ force: true, reason: 'beyond help' })
    expect(await codeOf(s.engine.tasks.get(id).result())).toBe('TASK_CANCELLED')
    expect(await codeOf(s.engine.tasks.get(task.id).result())).toBe('TASK_FAILED')
    // Nobody can say what it did, and whether that is undone.
    const { error } = await s.engine.tasks.get(task.id).status()
    expect([error?.code, error?.cause?.code]).toEqual(['UNDO_INCOMPLETE', 'CHILD_FAILED'])
    await s.kill()
  })

  it('cannot be read takes a token’s signal and another submission as its row says: the one waits, the other is told', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const tokens: string[] = []
    const own = agent('svc')
    const wait = own.action('wait', {
      run: (n: number, step, event) => {
        tokens.push(step.token)
        return event ? n : step.suspend()
      },
    })
    const flow = workflow('flow', { run: (n: number, task) => task.run(wait, n) })
    const options = { workflows: [flow], agents: [own], store }
    const early = await stage(options)
    await early.submit(flow, 1, { id: 'bad' })
    await early.settle()
    await early.leave()
    const token = tokens[0] ?? ''
    using database = new DatabaseSync(path)
    const of = (seq: number) => `WHERE seq = ${seq} AND ${recordsOf('bad')}`
    const { events } = database.prepare(`SELECT events FROM triarch_history ${of(2)}`).get() as { events: string }
    database.exec(`UPDATE triarch_history SET events = '{' ${of(2)}`)
    const s = await stage(options)
    // Before anybody set it apart, and after.
    await s.engine.triarch.tasks.resume(token, 'a')
    await s.settle()
    expect((await s.engine.tasks.get('bad').status()).pause?.cause).toBe('quarantine')
    await s.engine.triarch.tasks.resume(token, 'b')
    expect((await s.submit(flow, 1, { id: 'bad' })).id).toBe('bad')
    database.prepare(`UPDATE triarch_history SET events = ? ${of(2)}`).run(events)
    await s.engine.tasks.get('bad').resume()
    expect(await s.engine.tasks.get('bad').result()).toBe(1)
    expect(await codeOf(s.engine.triarch.tasks.resume(token, 'c'))).toBe('TOKEN_SPENT')
    for (const text of ['{', '[]', '{}', '[null]']) {
      database.prepare(`UPDATE triarch_history SET events = ? ${of(1)}`).run(text)
      expect(await codeOf(s.submit(flow, 1, { id: 'bad' }))).toBe('TASK_EXISTS')
      expect(await codeOf(s.engine.triarch.tasks.resume(token, 'c'))).toBe('TOKEN_SPENT')
    }
    database.exec(`DELETE FROM triarch_history ${of(1)}`)
    expect(await codeOf(s.submit(flow, 1, { id: 'bad' }))).toBe('TASK_EXISTS')
    expect((await s.submit(flow, 1, { id: 'bad', ifExists: 'return' })).id).toBe('bad')
    await s.kill()
  })

  it('has a gap is refused with HISTORY_CORRUPT by every reader, as long as it is not quarantined', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const s = await stage({ workflows, store })
    const task = await s.submit(waits, 1)
    await task.signal('go')
    await task.result()
    change(path, 'DELETE FROM triarch_history WHERE seq = 2')
    for (const read of ['status', 'steps', 'plan', 'history'] as const)
      await expect(task[read](), read).rejects.toMatchObject({ code: 'HISTORY_CORRUPT', details: { record: 2, to: 2 } })
    change(path, `UPDATE triarch_history SET events = 'x' WHERE seq = 1`)
    for (const read of ['status', 'steps', 'plan', 'history'] as const)
      await expect(task[read](), read).rejects.toMatchObject({ code: 'HISTORY_CORRUPT', details: { record: 1 } })
    await s.kill()
  })
})

describe('a row that cannot be read', () => {
  it('in the inbox puts its task into quarantine, and no other; after an operator’s release the task continues without it', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const s = await stage({ workflows, store })
    const [bad, good] = [await s.submit(waits, 1, { id: 'bad' }), await s.submit(waits, 2, { id: 'good' })]
    await s.settle()
    const task = `(SELECT key FROM triarch_tasks WHERE id = 'bad')`
    change(
      path,
      `INSERT INTO triarch_inbox (task, owner, control, kind, message) SELECT key, locked_by, 0, 'event', '{"type":' FROM triarch_tasks WHERE key = ${task}`,
    )
    await good.signal('go')
    await bad.signal('go')
    expect(await good.result()).toBe(2)
    expect(s.alerts).toMatchObject([{ code: 'TASK_QUARANTINED', task: 'bad' }])
    const { reasons, text } = await s.engine.triarch.tasks.get('bad').explain()
    expect(reasons).toMatchObject([{ code: 'quarantined', cause: 'message' }])
    expect(text).toMatch(/message \d+ of the inbox cannot be read/)
    const failures = s.errors.length
    await s.advance('1h')
    expect(s.errors.length).toBe(failures)
    await bad.resume()
    expect(await bad.result()).toBe(1)
    expect(await eventsOf(bad, 'messageIgnored')).toMatchObject([{ message: 'illegible' }])
    await s.kill()
  })

  it('among the letters that come with claims sets its task apart, and is no letter any more once it is mended', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const early = await stage({ workflows, store })
    for (const id of ['bad', 'good']) await early.submit(waits, id === 'bad' ? 1 : 2, { id })
    await early.leave()
    change(path, `UPDATE triarch_tasks SET ready = 1`)
    change(
      path,
      `INSERT INTO triarch_inbox (task, owner, control, kind, message) SELECT key, NULL, 0, 'event', CASE id WHEN 'bad' THEN 'x' ELSE '{"type":"event","name":"go","payload":1}' END FROM triarch_tasks`,
    )
    const later = await stage({ workflows, store })
    expect(await later.engine.tasks.get('good').result()).toBe(2)
    expect((await later.engine.tasks.get('bad').status()).pause?.error?.details).toEqual({ cause: 'message' })
    change(path, `UPDATE triarch_inbox SET message = '{"type":"event","name":"go","payload":1}'`)
    await later.engine.tasks.get('bad').resume()
    expect(await later.engine.tasks.get('bad').result()).toBe(1)
    await later.kill()
  })

  it('in the work queue is asked for anew, and costs nobody anything', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const pay = agent('pay')
    const charge = pay.action('charge', { run: (n: number) => n * 2 })
    const pays = workflow('pays', { run: (n: number, task) => task.run(charge, n) })
    const s = await stage({ workflows: [pays], store, roles: ['scheduler'], poll: '100ms' })
    const tasks = await Promise.all([1, 2, 3].map((n) => s.submit(pays, n)))
    await s.settle()
    change(path, `UPDATE triarch_work SET request = '{' WHERE id = (SELECT max(id) FROM triarch_work)`)
    const { environment } = s.engine
    const t = await stage({ agents: [pay], store, environment, roles: ['agent'], poll: '100ms' })
    await s.advance('5s')
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([2, 4, 6])
    await t.kill()
    await s.kill()
  })

  it('among replies keeps none of the others out of the store', async () => {
    const store = sqlite(file(), { writer: 'inline' })
    let refuses = true
    const refusing: StoreFactory = (environment) => {
      const own = store(environment)
      const reply = own.reply.bind(own)
      own.reply = async (batch) => {
        if (!refuses || !JSON.stringify(batch).includes('poison')) return reply(batch)
        throw new TriarchError('STORE_FAILED', 'no such thing can be stored')
      }
      return own
    }
    const ready = Promise.withResolvers<void>()
    const pay = agent('pay')
    const charge = pay.action('charge', { run: (n: number) => ready.promise.then(() => (n === 1 ? 'poison' : `${n}`)) })
    const pays = workflow('pays', { run: (n: number, task) => task.run(charge, n) })
    const s = await stage({ workflows: [pays], store, roles: ['scheduler'], poll: '100ms' })
    const { environment } = s.engine
    const t = await stage({ agents: [pay], store: refusing, environment, roles: ['agent'], poll: '100ms' })
    const [bad, ...good] = await Promise.all([1, 2, 3].map((n) => s.submit(pays, n)))
    await s.advance('1s')
    ready.resolve()
    await s.advance('5s')
    expect(await Promise.all(good.map((task) => task.result()))).toEqual(['2', '3'])
    expect((await bad?.status())?.status).toBe('running')
    refuses = false
    await s.advance('10s')
    expect(await bad?.result()).toBe('poison')
    await t.kill()
    await s.kill()
  })

  it('in the row of a task shows as that in lists and statuses, and a lost output is no output', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const s = await stage({ workflows, store })
    const tasks = [await s.submit(waits, 1, { id: 'bad' }), await s.submit(waits, 2, { id: 'good' })]
    for (const task of tasks) await task.signal('go')
    for (const task of tasks) await task.result()
    change(path, `UPDATE triarch_tasks SET output = '{', progress = 'x' WHERE id = 'bad'`)
    const { tasks: all } = await s.engine.triarch.tasks.list()
    expect(all.map(({ id, output, broken }) => [id, output, broken])).toEqual([
      ['good', 2, undefined],
      ['bad', undefined, ['progress', 'output']],
    ])
    expect((await s.engine.tasks.get('bad').status()).broken).toEqual(['progress', 'output'])
    expect(await codeOf(s.engine.tasks.get('bad').result())).toBe('HISTORY_CORRUPT')
    await s.kill()
  })

  it('of a schedule shows among the others, and is mended by registering it again', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const s = await stage({ workflows, store })
    const options = { workflow: waits, input: 1, every: '1h' } as const
    for (const name of ['bad', 'good']) await s.engine.triarch.schedules.get(name).register(options)
    change(path, `UPDATE triarch_schedules SET definition = '{' WHERE name = 'bad'`)
    const all = await s.engine.triarch.schedules.list()
    expect(all.schedules.map(({ name, failing }) => [name, failing?.error.code])).toEqual([
      ['bad', 'HISTORY_CORRUPT'],
      ['good', undefined],
    ])
    expect(await codeOf(s.engine.triarch.schedules.get('bad').pause())).toBe('HISTORY_CORRUPT')
    await s.engine.triarch.schedules.get('bad').register(options)
    expect((await s.engine.triarch.schedules.list()).schedules.map(({ failing }) => failing)).toEqual([
      undefined,
      undefined,
    ])
    await s.kill()
  })
})

describe('a task whose writes the store refuses', () => {
  it('is quarantined after the second time, and costs its neighbours nothing more', async () => {
    let refused = 0
    const store = before((batch) => {
      if (!batch.some(({ id, events }) => id === 'bad' && events?.includes('signalReceived'))) return
      refused++
      throw new TriarchError('STORE_FAILED', 'no such thing can be stored')
    })
    const s = await stage({ workflows, store })
    const [bad, good] = [await s.submit(waits, 1, { id: 'bad' }), await s.submit(waits, 2)]
    await bad.signal('go')
    await s.advance('1m')
    const often = refused
    await good.signal('go')
    expect(await good.result()).toBe(2)
    await s.advance('1h')
    expect(refused).toBe(often)
    expect(s.alerts).toMatchObject([{ task: 'bad', cause: 'quarantine' }])
    expect((await bad.status()).pause?.error).toMatchObject({
      details: { cause: 'refused' },
      cause: { code: 'STORE_FAILED' },
    })
    await s.kill()
  })

  it.each([
    ['their records', (batch: readonly Transition[]) => batch.some(({ events }) => events?.includes('signalReceived'))],
    ['all that is theirs', () => true],
  ])(
    'is quarantined as well where it is one of two, and nobody else writes: the store refuses %s',
    async (_, refuses) => {
      let refused = 0
      let harmful = false
      const store = before((batch) => {
        if (!harmful || !batch.some(({ id }) => id.startsWith('bad')) || !refuses(batch)) return
        refused++
        throw new TriarchError('STORE_FAILED', 'no such thing can be stored')
      })
      const s = await stage({ workflows, store })
      const bad = await Promise.all(['bad1', 'bad2'].map((id) => s.submit(waits, 1, { id })))
      await s.settle()
      harmful = true
      for (const task of bad) await task.signal('go')
      await s.advance('2m')
      expect(s.alerts.map(({ task, cause }) => [task, cause]).sort()).toEqual([
        ['bad1', 'quarantine'],
        ['bad2', 'quarantine'],
      ])
      // Each has rested longer and longer, whatever its inbox holds.
      expect(refused).toBeLessThan(100)
      for (const { id } of bad) expect((await s.store.task(id))?.epoch).toBeLessThan(20)
      const often = refused
      await s.advance('1h')
      expect(refused).toBe(often)
      await s.kill()
    },
  )

  it('begins a retry that was due meanwhile once it is lifted, and loses no attempt by having been quarantined', async () => {
    let refuses = true
    const store = before((batch) => {
      if (refuses && batch.some(({ events }) => events?.includes('signalReceived')))
        throw new TriarchError('STORE_FAILED', 'no such thing can be stored')
    })
    const attempts: number[] = []
    const own = agent('svc')
    const act = own.action('act', {
      retry: { attempts: 2, backoff: { initial: '5m', max: '5m', jitter: false } },
      run: (_: null, step) => {
        attempts.push(step.attempt)
        if (step.attempt === 1) throw new Error('not yet')
      },
    })
    const retries = workflow('retries', {
      run: async (n: number, task) => {
        const acted = task.run(act, null)
        await task.waitForSignal('go')
        await acted
        return n
      },
    })
    const s = await stage({ workflows: [retries], agents: [own], store })
    const task = await s.submit(retries, 1)
    await s.settle()
    await task.signal('go')
    await s.advance('10m')
    expect(s.alerts).toMatchObject([{ task: task.id, cause: 'quarantine' }])
    expect(attempts).toEqual([1])
    refuses = false
    await task.resume()
    expect(await task.result()).toBe(1)
    expect(attempts).toEqual([1, 2])
    expect((await eventsOf(task, 'attemptFailed')).map(({ error }) => error.message)).toEqual(['not yet'])
    await s.leave()
  })

  it('after it had stopped is shown as quarantined, tried again by resume(), and at rest again by force', async () => {
    let refuses = true
    const store = before((batch) => {
      if (refuses && batch.some(({ events }) => events?.includes('"retried"') || events?.includes('"reset"')))
        throw new TriarchError('STORE_FAILED', 'no such thing can be stored')
    })
    const fails = workflow('fails', {
      run: async (_: null, task) => {
        await task.run('first', () => {
          throw new PermanentError('no')
        })
      },
    })
    const s = await stage({ workflows: [fails], store })
    const bad = await s.submit(fails, null, { id: 'bad' })
    expect(await codeOf(bad.result())).toBe('TASK_FAILED')
    const ended = await s.store.task('bad')
    const apart = async () => (await s.engine.triarch.tasks.list({ quarantined: true })).tasks.map(({ id }) => id)
    await bad.retry()
    await s.advance('2m')
    expect(await s.store.task('bad')).toMatchObject({ status: 'stopped', quarantined: true })
    expect(await apart()).toEqual(['bad'])
    expect(await bad.status()).toMatchObject({ status: 'stopped', outcome: 'error', quarantined: true })
    const { text } = await s.engine.triarch.tasks.get('bad').explain()
    expect(text).toContain('resume(), retry() or cancel({ force: true })')
    expect(text).toContain('the store refuses what it writes (no such thing can be stored)')
    // Tried once more, with the same end.
    await bad.resume()
    await s.advance('2m')
    expect(await apart()).toEqual(['bad'])
    await bad.cancel({ force: true, reason: 'never mind' })
    await s.advance('2m')
    expect(await apart()).toEqual([])
    const { result, error } = ended ?? {}
    expect(await s.store.task('bad')).toMatchObject({ status: 'stopped', result, error, quarantined: false })
    expect((await eventsOf(bad, 'messageIgnored')).at(-1)).toMatchObject({ note: 'never mind' })
    expect(await codeOf(bad.cancel({ force: true }))).toBe('TASK_STOPPED')
    expect(await codeOf(bad.resume())).toBe('TASK_NOT_PAUSED')
    refuses = false
    await bad.retry()
    await s.advance('1m')
    expect((await eventsOf(bad, 'stopped')).length).toBe(2)
    await s.leave()
  })

  it.each(['call', 'batch'] as const)(
    'that a parent waits to be undone (%s) keeps it waiting no longer than until it is given up',
    async (kind) => {
      const undone: string[] = []
      const service = agent('service')
      const book = service.action('book', { run: (n: number) => n, undo: (_, n) => void undone.push(String(n)) })
      const child = workflow('child', { run: (n: number, task) => task.run(book, n) })
      const parent = workflow('parent', {
        run: async (_: null, task) => {
          if (kind === 'call') await task.call(child, 1, { undo: true })
          else await task.batch('many', { workflow: child, items: [1, 2] })
          throw new PermanentError('no')
        },
      })
      const store = before((batch) => {
        if (batch.some(({ id, events }) => id.startsWith('p~') && events?.includes('"closing"')))
          throw new TriarchError('STORE_FAILED', 'no such thing can be stored')
      })
      const s = await stage({ workflows: [parent, child], agents: [service], store })
      const task = await s.submit(parent, null, { id: 'p' })
      await s.advance('5m')
      expect((await task.status()).status).toBe('compensating')
      const { tasks } = await s.engine.triarch.tasks.list({ quarantined: true })
      expect(tasks.map(({ status, outcome }) => [status, outcome])).toEqual(
        Array(kind === 'call' ? 1 : 2).fill(['stopped', 'success']),
      )
      for (const { id } of tasks) await s.engine.tasks.get(id).cancel({ force: true, reason: 'undone by hand' })
      await s.advance('1m')
      expect((await task.status()).status).toBe('stopped')
      expect(undone).toEqual([])
      for (const { id } of tasks) expect((await s.engine.tasks.get(id).status()).outcome).toBe('success')
      await s.leave()
    },
  )

  it('is no reason to set those apart that are written beside it, with a record or without', async () => {
    const s = await stage({ workflows })
    const { environment } = s.engine
    const nothing = () => undefined
    const own = new Quarantine({ environment, store: s.store, node: 'n', alert: nothing, failed: nothing })
    const commit = async (batch: readonly Transition[]) => {
      if (batch.some(({ id }) => id === 'bad')) throw new TriarchError('STORE_FAILED', 'no such thing can be stored')
      return batch.map((): CommitOutcome => ({ ok: true, key: 1 }))
    }
    const committer = new Committer(environment, { commit } as unknown as StateStore)
    const written = (id: string, events: string | null) =>
      new Promise<CommitOutcome | Error>((resolve) => {
        committer.commit(transition({ key: 1, id, epoch: 1 }, { events }), resolve)
      })
    for (let time = 0; time < 10; time++) {
      const all = Promise.all([written('bad', '[]'), written('records', '[]'), written('gives back', null)])
      await s.settle()
      const [bad, records, givesBack] = await all
      expect(bad).toMatchObject({ code: 'STORE_FAILED' })
      expect(records).toMatchObject({ ok: true })
      expect(own.judge('gives back', givesBack as Error, 0)).toBeNull()
      expect(own.rest('gives back')).toBe(0)
    }
    await s.kill()
  })

  it('rests longer and longer, and is quarantined in the end, although some of what it writes is taken', async () => {
    const s = await stage({ workflows })
    const { environment } = s.engine
    const nothing = () => undefined
    const own = new Quarantine({ environment, store: s.store, node: 'n', alert: nothing, failed: nothing })
    const error = new TriarchError('STORE_FAILED', 'no such thing can be stored')
    const rests: number[] = []
    for (let time = 0; time < 4; time++) {
      expect(own.judge('bad', error, 0)).toBeNull()
      rests.push(own.rest('bad'))
      own.accepted('bad')
    }
    expect(rests).toEqual([0, 400, 800, 1_600])
    expect(own.judge('bad', error, 0)).toMatchObject({ code: 'TASK_QUARANTINED', details: { cause: 'refused' } })
    // What was long ago does not count.
    expect(own.judge('other', error, 0)).toBeNull()
    await s.advance('1h')
    expect(own.judge('other', error, 0)).toBeNull()
    await s.kill()
  })

  it('is not quarantined for a store that is away, busy or full, nor for one that refuses everybody', async () => {
    let code: 'STORE_UNAVAILABLE' | 'STORE_BUSY' | 'STORE_FULL' | 'STORE_FAILED' | null = null
    const store = before((batch) => {
      if (code && batch.some(({ events }) => events !== null)) throw new TriarchError(code, 'not now')
    })
    const s = await stage({ workflows, store })
    const tasks = await Promise.all([1, 2, 3].map((n) => s.submit(waits, n)))
    await s.settle()
    for (const next of ['STORE_UNAVAILABLE', 'STORE_BUSY', 'STORE_FULL', 'STORE_FAILED'] as const) {
      code = next
      for (const task of tasks) await task.signal('go')
      await s.advance('400ms')
    }
    code = null
    await s.advance('1h')
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([1, 2, 3])
    expect(s.alerts).toEqual([])
    await s.kill()
  })
})

describe('a task that its owners die of', () => {
  const claim = (store: StateStore, node: string, trial = true) =>
    store.claim({ node, runnable: [{ workflow: 'waits', version: '1' }], limit: 10, trial })

  it('is quarantined unopened after three deaths on trial; one that came along is opened and acquitted', async () => {
    const path = file()
    const factory = sqlite(path, { writer: 'inline' })
    const early = await stage({ workflows, store: factory })
    for (const id of ['bad', 'good']) await (await early.submit(waits, 1, { id })).signal('other')
    await early.leave()
    const store = factory(early.engine.environment)
    await store.open()
    await store.post(['bad', 'good'].map((task) => ({ task, message: { type: 'tick' } as const, control: false })))
    for (const node of ['a', 'b', 'c']) {
      expect(await claim(store, node)).toHaveLength(2)
      await store.leave(node)
    }
    for (const node of ['d', 'e', 'f', 'g']) {
      for (const it of await claim(store, node)) {
        if (it.id === 'good') await store.clearSuspicion({ key: it.key, node, epoch: it.epoch })
      }
      for (const it of await claim(store, node))
        if (it.id === 'good') await store.clearSuspicion({ key: it.key, node, epoch: it.epoch })
      await store.leave(node)
    }
    await store.close()
    const s = await stage({ workflows, store: factory })
    await s.advance('2h')
    expect((await s.engine.tasks.get('bad').status()).pause?.error?.details).toEqual({ cause: 'deaths' })
    await s.engine.tasks.get('good').signal('go')
    expect(await s.engine.tasks.get('good').result()).toBe(1)
    await s.engine.tasks.get('bad').resume()
    await s.engine.tasks.get('bad').signal('go')
    expect(await s.engine.tasks.get('bad').result()).toBe(1)
    await s.kill()
  })
})

describe('bytes are bounded:', () => {
  it('a history of too many bytes is undone with HISTORY_TOO_LONG', async () => {
    const large = workflow('large', {
      run: async (_: null, task) => {
        for (;;) await task.run('x', () => 'x'.repeat(1_000))
      },
    })
    await using s = await stage({ workflows: [large], limits: { historyBytes: 20_000 } })
    const task = await s.submit(large, null)
    expect(await codeOf(task.result())).toBe('TASK_FAILED')
    expect((await task.status()).error?.code).toBe('HISTORY_TOO_LONG')
    expect((await eventsOf(task, 'stepCompleted')).length).toBeLessThan(25)
  })

  it('a fan-out of many bytes is written in several records, and survives a restart in between', async () => {
    const wide = workflow('wide', {
      run: async (n: number, task) => {
        const all = await Promise.all(
          Array.from({ length: n }, (_, i) => task.run(`x${i}`, () => `${i}`.padEnd(250_000, 'y'))),
        )
        return all.length
      },
    })
    await using s = await stage({ workflows: [wide], limits: { historyBytes: 1e9 } })
    const task = await s.submit(wide, 100)
    expect(await task.result()).toBe(100)
    const sizes = (await s.store.records(task.id, 0, 1_000)).map(({ events }) => events.length)
    expect(Math.max(...sizes)).toBeLessThan(9 * 1024 * 1024)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(25_000_000)
  })

  it('a task with more than the node can hold is quarantined, where no node can; the others go on', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const early = await stage({ workflows, store })
    const bad = await early.submit(waits, 1, { id: 'bad' })
    for (let n = 0; n < 50; n++) await bad.signal('other', `${n}`.padEnd(200_000, 'x'))
    await early.submit(waits, 2, { id: 'good' })
    await early.leave()
    const s = await stage({ workflows, store, limits: { memory: 2_000_000 } })
    await s.engine.tasks.get('bad').signal('go')
    await s.advance('1m')
    await s.engine.tasks.get('good').signal('go')
    expect(await s.engine.tasks.get('good').result()).toBe(2)
    expect((await s.engine.tasks.get('bad').status()).pause?.error?.details).toEqual({ cause: 'size' })
    await s.kill()
    const larger = await stage({ workflows, store })
    await larger.engine.tasks.get('bad').resume()
    expect(await larger.engine.tasks.get('bad').result()).toBe(1)
    await larger.leave()
  })

  it('a task with thousands of unread letters keeps no other waiting, and reads them all in portions', async () => {
    const path = file()
    const store = sqlite(path, { writer: 'inline' })
    const counts = workflow('counts', {
      run: async (n: number, task) => {
        let sum = 0
        for (let i = 0; i < n; i++) sum += ((await task.waitForSignal('n')) as { length: number }).length
        return sum
      },
    })
    const options = { workflows: [waits, counts], store }
    const s = await stage(options)
    const flooded = await s.submit(counts, 1_200)
    const good = await s.submit(waits, 3)
    const message = { type: 'event', name: 'n', payload: 'x'.repeat(20_000) } as const
    await s.store.post(Array.from({ length: 1_200 }, () => ({ task: flooded.id, message, control: false })))
    await good.signal('go')
    expect(await good.result()).toBe(3)
    expect(await flooded.result()).toBe(1_200 * 20_000)
    await s.leave()
  })
})
