import { describe, expect, it } from 'vitest'
import { LOG_KEPT, type LogQuery, type LogWrite } from '../../src/store/log.ts'
import type { Bench } from './conformance.ts'
import { claimAll, flow, newTask, released, stopped, transition } from './samples.ts'

const text = (message: string) => JSON.stringify({ message })

function write(
  task: string,
  ns: readonly number[],
  change: Partial<LogWrite> & { level?: number; size?: number } = {},
) {
  const { level = 1, size = 0, ...rest } = change
  const entries = ns.map((n) => ({
    n,
    at: 1_000 + n,
    level,
    text: text(`${rest.source ?? rest.run ?? 'a'} ${n}${'x'.repeat(size)}`),
  }))
  return {
    task,
    source: 'a',
    run: 0,
    step: 1,
    operation: 'run',
    attempt: 1,
    node: 'n',
    ...rest,
    entries,
  } satisfies LogWrite
}
const byCode = (task: string, run: number, ns: readonly number[]) =>
  write(task, ns, { source: null, run, step: 0, operation: null, attempt: null })

export function logSuite(bench: Bench): void {
  describe('the log of a task', () => {
    async function read(task: string, query: Partial<LogQuery> = {}) {
      const all = { after: 0, limit: 1_000, level: 0, step: null, attempt: null }
      const { lines, ...rest } = await bench.store.logs({ task, ...all, ...query })
      return { ...rest, lines, texts: lines.map((it) => (JSON.parse(it.text).message as string).slice(0, 6)) }
    }

    it('has the lines in the order in which they were written, with what they are about', async () => {
      const { store } = bench
      await store.submit([newTask('t'), newTask('u')])
      await store.writeLogs([write('t', [1, 2]), write('u', [1])])
      await store.writeLogs([
        write('t', [1], { source: 'b', step: 2, operation: 'undo', attempt: 3, level: 3, node: null }),
      ])
      const { lines, last, shed } = await read('t')
      expect({ last, shed }).toEqual({ last: 3, shed: 0 })
      expect(lines).toEqual([
        { seq: 1, at: 1_001, level: 1, step: 1, operation: 'run', attempt: 1, node: 'n', text: text('a 1') },
        { seq: 2, at: 1_002, level: 1, step: 1, operation: 'run', attempt: 1, node: 'n', text: text('a 2') },
        { seq: 3, at: 1_001, level: 3, step: 2, operation: 'undo', attempt: 3, node: null, text: text('b 1') },
      ])
      expect((await read('u')).texts).toEqual(['a 1'])
    })

    it('has each line once, however often it is written', async () => {
      const { store } = bench
      await store.submit([newTask('t')])
      for (const ns of [
        [1, 2],
        [1, 2],
        [2, 3],
      ])
        await store.writeLogs([write('t', ns)])
      expect(await read('t')).toMatchObject({ texts: ['a 1', 'a 2', 'a 3'], last: 3 })
    })

    it('passes over what code says again when it is replayed, also once the lines had to go', async () => {
      const { store } = bench
      await store.submit([newTask('t')])
      await store.writeLogs([byCode('t', 1, [10, 20])])
      const size = Math.ceil(LOG_KEPT.bytes / 4)
      await store.writeLogs([write('t', [1, 2, 3, 4, 5], { size })])
      await store.writeLogs([byCode('t', 1, [10, 20, 30])])
      await store.writeLogs([byCode('t', 4, [5])])
      await store.writeLogs([byCode('t', 1, [40])])
      const { texts, shed } = await read('t')
      expect(texts.slice(-3)).toEqual(['a 5xxx', '1 30', '4 5'])
      expect(shed).toBeGreaterThanOrEqual(3)
    })

    it('keeps the latest lines, and says how many had to go', async () => {
      const { store } = bench
      await store.submit([newTask('t'), newTask('u')])
      const all = Array.from({ length: LOG_KEPT.lines + 50 }, (_, index) => index + 1)
      for (let from = 0; from < all.length; from += 2_000)
        await store.writeLogs([write('t', all.slice(from, from + 2_000))])
      const page = await read('t', { limit: 2 })
      expect(page).toMatchObject({ texts: ['a 51', 'a 52'], shed: 50, last: LOG_KEPT.lines + 50 })
      await store.writeLogs([write('u', [1, 2, 3], { size: LOG_KEPT.bytes / 2 })])
      const { texts, shed } = await read('u')
      expect({ texts, shed }).toEqual({ texts: ['a 2xxx', 'a 3xxx'], shed: 1 })
    })

    it('is read a page at a time, by step, attempt and level', async () => {
      const { store } = bench
      await store.submit([newTask('t')])
      await store.writeLogs([
        write('t', [1, 2, 3]),
        write('t', [1], { source: 'b', attempt: 2, level: 3 }),
        write('t', [1], { source: 'c', step: 2, level: 2 }),
        byCode('t', 1, [1]),
      ])
      expect((await read('t', { after: 1, limit: 2 })).texts).toEqual(['a 2', 'a 3'])
      expect((await read('t', { level: 2 })).texts).toEqual(['b 1', 'c 1'])
      expect((await read('t', { step: 1, attempt: 2 })).texts).toEqual(['b 1'])
      expect((await read('t', { step: 0 })).texts).toEqual(['1 1'])
      expect(await read('t', { after: 6 })).toMatchObject({ texts: [], last: 6 })
    })

    it('is empty where there is no task, and says nothing of it', async () => {
      const { store } = bench
      await store.writeLogs([write('none', [1])])
      expect(await read('none')).toMatchObject({ texts: [], last: 0, shed: 0 })
      await store.submit([newTask('none')])
      expect(await read('none')).toMatchObject({ texts: [], last: 0 })
    })

    it('goes with its task', async () => {
      const { store, clock } = bench
      await store.submit([newTask('t')])
      const [claim] = await claimAll(store, 'a', [flow])
      if (!claim) return expect.fail('nothing to claim')
      await store.writeLogs([write('t', [1])])
      await store.commit([transition(claim, { at: clock.now(), snapshot: stopped, release: released })])
      const token = (await store.lead({ name: 'supervisor', node: 'leader', ttl: 1_000 })) ?? 0
      const rules = [{ workflow: null, result: 'success' as const, age: 0 }]
      expect(await store.prune({ name: 'supervisor', token, rules, limit: 10, records: 10, except: [] })).toMatchObject(
        { dropped: 1 },
      )
      await store.submit([newTask('t')])
      await store.writeLogs([write('t', [1])])
      expect(await read('t')).toMatchObject({ texts: ['a 1'], last: 1 })
    })
  })
}
