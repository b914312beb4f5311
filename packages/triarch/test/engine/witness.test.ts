import { describe, expect, it } from 'vitest'
import { workflow } from '../../src/index.ts'
import type { TaskRunner } from '../../src/scheduler/runner.ts'
import { Strays } from '../../src/scheduler/stray.ts'
import { UNCHANGED } from '../../src/scheduler/transition.ts'
import { Witness } from '../../src/scheduler/witness.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { OwnedTask, RecordMark } from '../../src/store/port.ts'
import { memory } from '../../src/testing/index.ts'
import { stage } from './harness.ts'

const EVERY = 60_000

/** A witness that sees one record of each task, and what it asks the store about. */
function witness() {
  let now = 0
  const asked: RecordMark[][] = []
  const lost = async (marks: readonly RecordMark[]) => {
    asked.push([...marks])
    return []
  }
  const options = { store: { lost }, environment: { monotonic: () => now }, alert: () => {}, every: EVERY }
  const it = new Witness({ ...options, wentBack: () => {} }, new Map())
  let key = 0
  return {
    see: (id: string) => {
      const runner = { id, key: ++key, state: { workflow: 'w' } } as TaskRunner
      it.see(runner, { ...UNCHANGED, key, id, node: 'a', epoch: 1, seq: 2, at: now })
    },
    later: (ms: number) => {
      now += ms
    },
    witness: it,
    asked: async () => {
      await it.isBehind()
      return asked.pop()?.map(({ id }) => id) ?? []
    },
  }
}

describe('what a node remembers of its records', () => {
  it('reaches back behind the look before, however much is written since', async () => {
    const w = witness()
    for (let n = 0; n < 4_000; n++) {
      w.later(EVERY / 1_000)
      w.see(`${n}`)
    }
    const asked = (await w.asked()).map(Number)
    expect(Math.min(...asked)).toBeLessThan(3_000)
    expect(Math.max(...asked)).toBe(3_999)
    expect(asked.length).toBeLessThanOrEqual(16)
  })

  it('is said of each task whose commit was refused, however many were at once', async () => {
    const told: unknown[] = []
    let back = 0
    const lost = async (marks: readonly RecordMark[]) => marks.map(({ id }) => ({ id, last: 1 }))
    const options = { store: { lost }, environment: { monotonic: () => 0 }, every: EVERY, wentBack: () => back++ }
    const it = new Witness({ ...options, alert: ({ task }) => told.push(task) }, new Map())
    for (const id of ['a', 'b', 'c'])
      it.judge({ id, key: id.charCodeAt(0), recorded: 3, state: { workflow: 'w' } } as TaskRunner)
    await it.report()
    expect(told).toEqual(['a', 'b', 'c'])
    expect(back).toBe(3)
  })

  it('is forgotten after a while, and lasts while nothing is written', async () => {
    const w = witness()
    w.see('early')
    w.later(100 * EVERY)
    expect(await w.asked()).toEqual(['early'])
    for (let n = 0; n < 16; n++) {
      w.later(EVERY)
      w.see(`t${n}`)
    }
    expect(await w.asked()).not.toContain('early')
  })
})

describe('a task that the store says is this node’s', () => {
  it('is looked for a while after one was given back by no record of it', () => {
    const w = witness()
    expect(w.witness.fresh).toBe(false)
    w.witness.givenBack()
    expect(w.witness.fresh).toBe(true)
    w.later(5 * EVERY)
    expect(w.witness.fresh).toBe(false)
  })

  it('goes on although the store forgot that it was given back, and nothing else', async () => {
    const waits = workflow('waits', { run: (_: null, task) => task.waitForSignal('go') })
    let forgotten = 0
    const store: StoreFactory = (environment) => {
      const inner = memory()(environment)
      const commit = inner.commit.bind(inner)
      inner.commit = async (batch) => {
        const [only] = batch
        if (forgotten > 0 || batch.length > 1 || !only?.release || only.events !== null) return commit(batch)
        forgotten++
        return [{ ok: true, key: only.key ?? 0 }]
      }
      return inner
    }
    await using s = await stage({ store, workflows: [waits], lease: '10s', poll: '1s' })
    const task = await s.submit(waits, null, { id: 't' })
    await s.advance('30s') // it was idle for long
    expect(forgotten).toBe(1)
    await task.signal('go', 1)
    await s.advance('1m')
    expect(await task.status()).toMatchObject({ status: 'stopped', output: 1 })
  })

  function strays(rows: OwnedTask[]) {
    const here = new Set<string>()
    const given: string[] = []
    const state = { claiming: false }
    let asked = 0
    const owned = async ({ after, limit }: { after: number; limit: number }) => {
      asked++
      return rows.filter(({ key }) => key > after).slice(0, limit)
    }
    const it = new Strays({
      store: { owned },
      node: 'a',
      has: (id) => here.has(id),
      claiming: () => state.claiming,
      giveBack: ({ id }) => given.push(id),
    })
    return { look: (fresh = true) => it.look(fresh), here, given, state, asked: () => asked }
  }

  it('is given back when it is not here at two looks', async () => {
    const s = strays(['here', 'astray', 'comes'].map((id, index) => ({ id, key: index + 1, epoch: 1 })))
    s.here.add('here')
    await s.look()
    expect(s.given).toEqual([])
    s.here.add('comes')
    await s.look()
    expect(s.given).toEqual(['astray'])
  })

  it('is left alone while a claim is under way', async () => {
    const s = strays([{ id: 'claimed', key: 1, epoch: 1 }])
    await s.look()
    s.state.claiming = true
    await s.look()
    expect(s.given).toEqual([])
  })

  it('is found wherever it is among many', async () => {
    const s = strays(Array.from({ length: 1_200 }, (_, index) => ({ id: `t${index}`, key: index + 1, epoch: 1 })))
    for (let index = 0; index < 1_199; index++) s.here.add(`t${index}`)
    for (let look = 0; look < 4; look++) await s.look()
    expect(s.given).toEqual(['t1199'])
  })

  it('is found wherever it is, though nothing has been written for long', async () => {
    const s = strays(Array.from({ length: 5_000 }, (_, index) => ({ id: `t${index}`, key: index + 1, epoch: 1 })))
    for (let index = 0; index < 4_999; index++) s.here.add(`t${index}`)
    await s.look()
    for (let look = 0; look < 12; look++) await s.look(false)
    expect(s.given).toEqual(['t4999'])
    // It is somebody else's now; and when all have been compared once more, nobody asks any more.
    s.here.add('t4999')
    for (let look = 0; look < 60; look++) await s.look(false)
    const asked = s.asked()
    await s.look(false)
    expect(s.asked()).toBe(asked)
  })

  it('brings all the others at once when there is one', async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => ({ id: `t${index}`, key: index + 1, epoch: 1 }))
    const s = strays(rows)
    const kept = () =>
      s.given.splice(0).map((id) =>
        rows.splice(
          rows.findIndex((row) => row.id === id),
          1,
        ),
      )
    for (let look = 0; look < 4; look++) {
      await s.look()
      kept()
    }
    expect(rows).toEqual([])
  })
})
