import { resolve } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { KeepAlive, LifelineReport } from '../../src/store/lifeline.ts'
import { Lifeline } from '../../src/store/lifeline.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { lifeline } from '../../src/store/sqlite/lifeline.ts'
import { REGISTER } from '../../src/store/sqlite/nodes.ts'
import { handClock } from './clock.ts'

const node = { id: 'n', roles: ['scheduler'], lease: 1_000 }

describe('the lease of a node on a SQLite file', () => {
  const clock = handClock()
  const reports: LifelineReport[] = []
  const options: KeepAlive = { node, stall: 1, quiet: true, report: (it) => reports.push(it) }
  const line = {} as Lifeline
  const start = vi.spyOn(Lifeline, 'start')
  beforeEach(() => {
    reports.length = 0
    start.mockReset().mockReturnValue(line)
  })

  it('is renewed in the row that the node registered', () => {
    const path = resolve('store.db')
    expect(lifeline(clock, path, options)).toBe(line)
    const row = { path, register: REGISTER, node: 'n', roles: '["scheduler"]' }
    expect(start.mock.calls[0]?.[2].data).toEqual({ ...row, runs: null, place: null })
    const runs = { workflows: ['flow@1'], actions: [] }
    const place = { machine: 'm' } as never
    expect(sqlite('store.db')(clock).keepAlive?.({ ...options, node: { ...node, runs, place } })).toBe(line)
    expect(start.mock.calls[1]?.[2].data).toEqual({ ...row, runs: JSON.stringify(runs), place: '{"machine":"m"}' })
  })

  it('is told of with the words of the store', () => {
    lifeline(clock, 'store.db', options)
    const report = start.mock.calls[0]?.[1].report
    report?.({ type: 'failed', error: new Error('locked'), code: 'ERR_SQLITE_ERROR', errcode: 5 })
    report?.({ type: 'failed', error: new Error('lost') })
    const renewed = { type: 'renewed', asked: 1, now: 2, answered: 3, lease: 1_000 } as const
    report?.(renewed)
    report?.({ type: 'ended' })
    expect(reports).toMatchObject([
      { type: 'failed', error: { code: 'STORE_BUSY' } },
      { type: 'failed', error: { message: 'lost' } },
      renewed,
      { type: 'ended' },
    ])
  })
})
