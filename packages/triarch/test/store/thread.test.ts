import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { packed } from '../../src/store/sqlite/parcel.ts'
import type { Request, Response } from '../../src/store/sqlite/worker.ts'
import { creation, newTask } from './samples.ts'

const side = vi.hoisted(() => ({ parentPort: null as unknown, workerData: {} as unknown }))
vi.mock('node:worker_threads', () => side)

type Unnumbered<R> = R extends Request ? Omit<R, 'id' | 'now'> : never
type Asked = Unnumbered<Request>

/** The thread's code, loaded here with the other side of its port in our hands. */
describe('the thread of a SQLite store', () => {
  let root: string
  let path: string
  let ask: (request: Asked) => Response
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'triarch-'))
    path = join(root, 'store.db')
    const answers: Response[] = []
    const port = Object.assign(new EventEmitter(), { postMessage: (it: Response) => answers.push(it) })
    side.parentPort = port
    side.workerData = { path, block: 5 }
    let id = 0
    ask = (request) => {
      port.emit('message', { id: ++id, now: 1_800_000_000_000, ...request })
      const answer = answers.pop()
      if (!answer) return expect.fail('there is no answer')
      expect([answer.id, answers]).toEqual([id, []])
      return answer
    }
    vi.resetModules()
    await import('../../src/store/sqlite/thread.ts')
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const said = (response: Response) =>
    'error' in response ? response.error : response.value && JSON.parse(response.value)
  const task = { name: 'task', args: '["t"]' } as const
  const [open, close] = [
    { name: 'open', args: '[]' },
    { name: 'close', args: '[]' },
  ] as const

  it('answers each request once it is open, and refuses all before and after', () => {
    expect(said(ask(task))).toMatchObject({ code: 'STORE_CLOSED' })
    expect(said(ask(open))).toBeUndefined()
    expect(said(ask({ name: 'commit', batch: packed([creation(newTask('t'))]) }))).toMatchObject([{ ok: true }])
    expect(said(ask(task))).toMatchObject({ id: 't', lockedBy: 'a' })
    expect(said(ask({ name: 'task', args: '["none"]' }))).toBeNull()
    expect(said(ask(close))).toBeUndefined()
    // The last connection takes its log with it.
    expect(existsSync(`${path}-wal`)).toBe(false)
    expect(said(ask(task))).toMatchObject({ code: 'STORE_CLOSED' })
    expect(said(ask(close))).toBeUndefined()
  })
})
