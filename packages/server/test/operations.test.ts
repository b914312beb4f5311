import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Shop, shop } from './shop.ts'

let here: Shop
beforeAll(async () => {
  here = await shop({ authenticate: ({ headers }) => ({ id: headers.get('x-user') ?? 'nobody' }) })
  await here.triarch.start()
})
afterAll(() => here[Symbol.asyncDispose]())

const order = (body: object, headers?: Record<string, string>) => here.ask('POST', '/operations', body, headers)
const waiting = async (desk: string, many: number) => {
  for (let n = 0; n < many; n++)
    await here.ask('POST', '/tasks', { workflow: 'approval', id: `${desk}-${n}`, tags: { desk } })
}
const over = (id: string, state: object) =>
  expect.poll(() => here.json('GET', `/operations/${id}`)).toMatchObject(state)

describe('an operation, from outside', () => {
  it('is counted, confirmed, done to all that fit, and tells who, what, why and how many', async () => {
    await waiting('a', 3)
    const all = { filter: 'tag.desk:a', action: 'cancel', options: { compensate: false } }
    const dry = await order({ ...all, dryRun: true })
    expect(dry.status).toBe(200)
    expect(await dry.json()).toEqual({ count: 3 })
    const said = { ...all, reason: 'the desk is closed' }
    const begun = await order(
      { ...said, confirm: 3, actor: 'somebody else' },
      { 'x-user': 'anna', 'idempotency-key': 'op/1' },
    )
    expect(begun.status).toBe(201)
    expect(begun.headers.get('location')).toBe('operations/op%2F1')
    expect(await begun.json()).toEqual({ id: 'op/1', created: true })
    await over('op%2F1', {
      ...{ ...said, status: 'stopped', outcome: 'success', actor: 'anna', confirm: 3 },
      ...{ matched: 3, done: 3, failed: 0, cancelled: 0, pending: 0 },
    })
    for (const n of [0, 1, 2])
      await expect.poll(() => here.json('GET', `/tasks/a-${n}`)).toMatchObject({ outcome: 'cancelled' })
    const again = await order({ ...said, confirm: 3 }, { 'x-user': 'anna', 'idempotency-key': 'op/1' })
    expect(await again.json()).toEqual({ id: 'op/1', created: false })
    expect(await here.json('GET', '/operations')).toMatchObject({
      operations: [{ id: 'op/1', done: 3, actor: 'anna' }],
    })
  })

  it('is refused where it was not confirmed, or for fewer than there are', async () => {
    await waiting('b', 2)
    const all = { filter: 'tag.desk:b', action: 'pause' }
    expect((await order(all)).status).toBe(400)
    const few = await order({ ...all, confirm: 1 })
    expect(few.status).toBe(409)
    expect(await few.json()).toMatchObject({ code: 'MORE_THAN_CONFIRMED' })
  })

  it('is cancelled, and is found by nobody where it is none', async () => {
    await waiting('c', 1)
    const begun = await order({ filter: 'tag.desk:c', action: 'pause', confirm: 1, id: 'op-c' })
    expect(begun.status).toBe(201)
    expect([202, 409]).toContain((await here.ask('POST', '/operations/op-c/cancel', { reason: 'no' })).status)
    await over('op-c', { status: 'stopped' })
    expect((await here.ask('GET', '/operations/c-0')).status).toBe(404)
    expect((await here.ask('POST', '/operations/c-0/cancel')).status).toBe(404)
    expect((await here.ask('GET', '/operations/nobody')).status).toBe(404)
  })

  it.each([
    [{ action: 'cancel' }],
    [{ filter: '', action: 'skip', confirm: 1 }],
    [{ filter: '', action: 'cancel', confirm: 10_001 }],
    [{ filter: '', action: 'cancel', confirm: 1, options: { why: 1 } }],
    [{ filter: '', action: 'signal', confirm: 1 }],
    [{ filter: 'nonsense:1', action: 'cancel', dryRun: true }],
  ])('is refused: %j', async (body) => {
    expect((await order(body)).status).toBe(400)
  })

  it('is refused where nobody would carry it out', async () => {
    await using idle = await shop()
    const refused = await idle.ask('POST', '/operations', { filter: '', action: 'cancel', confirm: 1 })
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'NO_OPERATIONS' })
  })
})

describe('an operation whose process is killed', () => {
  const TASKS = 60

  /** Serves, and kills itself when it has asked so many tasks. */
  function serve(file: string, kill: number) {
    const args = [join(import.meta.dirname, 'operations.process.ts'), file, String(kill)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    return { child, lines: createInterface({ input: child.stdout }) }
  }

  it('is completed by the next one, over the confirmed tasks and no other, each asked once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triarch-operation-'))
    const file = join(folder, 'store.db')
    const first = serve(file, TASKS / 2)
    const ended = once(first.child, 'exit')
    const [url] = (await once(first.lines, 'line')) as [string]
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' }
      return fetch(`${url}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    }
    const submit = (id: string, kind: string) => ask('POST', '/tasks', { workflow: 'listener', id, tags: { kind } })
    await Promise.all(Array.from({ length: TASKS }, (_, n) => submit(`in-${n}`, 'meant')))
    await submit('out', 'other')
    const options = { name: 'note', payload: 1 }
    const body = { filter: 'tag.kind:meant', action: 'signal', options, confirm: TASKS, id: 'op' }
    expect((await ask('POST', '/operations', body)).status).toBe(201)
    expect(await ended).toEqual([null, 'SIGKILL'])

    const second = serve(file, 0)
    await once(second.lines, 'line')
    await using eye = new Triarch({ store: sqlite(file), roles: [], notices: false })
    await using _ = { [Symbol.asyncDispose]: async () => void second.child.kill('SIGKILL') }
    const report = await eye.tasks.get('op').result({ timeout: '90s' })
    expect(report).toMatchObject({ matched: TASKS, done: TASKS, failed: 0 })
    const heard = async (id: string) => {
      const records = await eye.tasks.get(id).history()
      return records.flatMap(({ events }) => events).filter(({ type }) => type === 'signalReceived').length
    }
    for (let n = 0; n < TASKS; n++) await expect.poll(() => heard(`in-${n}`), { timeout: 20_000 }).toBe(1)
    expect(await heard('out')).toBe(0)
    second.child.kill('SIGKILL')
    await once(second.child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }, 180_000)
})
