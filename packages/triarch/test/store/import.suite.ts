import { describe, expect, it } from 'vitest'
import type { AuditEntry, ImportedTask } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { flow, newTask, snapshot, stopped } from './samples.ts'

const AT = 1_700_000_000_000
const record = (seq: number, type: string) => ({ seq, at: AT + seq, events: JSON.stringify([2, { type }]) })
const text = JSON.stringify([2, { type: 'submitted', ...flow, input: 1 }])
const rest = { priority: 3, tags: { shop: 'a', 'strange"\\': 'ü' }, at: AT, parent: null, base: 1, children: [] }

function task(id: string, change: Partial<ImportedTask> = {}): ImportedTask {
  const records = [{ seq: 1, at: AT, events: text }, record(2, 'started')]
  return { id, ...flow, ...rest, snapshot: snapshot(), ready: true, orphaned: true, records, ...change }
}

/** Tasks that come from other stores. */
export function importSuite(bench: Bench): void {
  describe('a task of another store', () => {
    it('is here as it was there, and is taken as one whose owner died', async () => {
      const { store, clock } = bench
      expect(await store.importTask(task('t', { share: { key: 'x', weight: 2 } }))).toBe(true)
      expect(await store.task('t')).toMatchObject({
        ...flow,
        ...{ id: 't', priority: 3, tags: rest.tags, status: 'running', submittedAt: AT, updatedAt: clock.now() },
        ...{ lockedBy: null, epoch: 0, ready: true, control: false, wakeAt: null, parent: null, parentStep: null },
      })
      expect(await store.records('t', 0, 10)).toMatchObject([
        { seq: 1, at: AT, events: text },
        { seq: 2, at: AT + 2 },
      ])
      const tagged = { column: 'tag', tag: 'shop', test: { type: 'text', oneOf: ['a'] } } as const
      expect((await store.list({ where: [tagged], limit: 9, order: 'newest' })).rows).toMatchObject([{ id: 't' }])
      const [claim] = await store.claim({ node: 'a', limit: 1, runnable: [flow] })
      expect(claim).toMatchObject({ id: 't', orphaned: true, epoch: 1, records: [{ seq: 1 }, { seq: 2 }] })
    })

    it('that rests is taken by nobody, and one that has stopped is kept from now on', async () => {
      const { store, clock } = bench
      const paused = snapshot({ status: 'paused', pause: '{"reason":"operator"}' })
      await store.importTask(task('p', { snapshot: paused, ready: false }))
      await store.importTask(task('s', { snapshot: stopped, ready: false, orphaned: false }))
      expect(await store.claim({ node: 'a', limit: 9, runnable: [flow] })).toEqual([])
      expect(await store.task('s')).toMatchObject({ status: 'stopped', result: 'success', output: '"done"' })
      const token = (await store.lead({ name: 's', node: 'a', ttl: 60_000 })) as number
      const rule = { workflow: 'flow', result: 'success', age: 1_000 } as const
      const prune = { name: 's', token, rules: [rule], limit: 9, records: 99 }
      expect(await store.prune(prune)).toMatchObject({ dropped: 0 })
      clock.advance(1_001)
      expect(await store.prune(prune)).toMatchObject({ dropped: 1 })
    })

    it('is replayed from its last new beginning', async () => {
      const { store } = bench
      const records = [{ seq: 1, at: AT, events: text }, record(70, 'continuedAsNew'), record(71, 'started')]
      await store.importTask(task('t', { base: 70, records }))
      expect((await store.replay('t')).map(({ seq }) => seq)).toEqual([1, 70, 71])
      await store.importTask(task('u', { base: 2, records: [...task('u').records, record(3, 'x')] }))
      expect((await store.replay('u')).map(({ seq }) => seq)).toEqual([1, 2, 3])
    })

    it('whose id is taken changes nothing, and is not in the audit', async () => {
      const { store, clock } = bench
      await store.submit([newTask('t')])
      const act: AuditEntry = {
        ...{ id: 'act', at: clock.now(), actor: 'ada', action: 'task.import', subject: 'task:t' },
        ...{ outcome: 'done', text: '{}' },
      }
      const query = { actor: null, action: null, subject: null, since: null, limit: 9 }
      const page = { ...query, before: { at: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER } }
      expect(await store.importTask(task('t', { audit: act }))).toBe(false)
      expect(await store.records('t', 0, 10)).toHaveLength(1)
      expect(await store.audit(page)).toEqual([])
      expect(await store.importTask(task('u', { audit: act }))).toBe(true)
      expect(await store.audit(page)).toMatchObject([{ actor: 'ada', subject: 'task:t' }])
    })

    it('has its children again, and is listed with its parent where that is here', async () => {
      const { store } = bench
      await store.importTask(task('c', { parent: 'p', parentStep: 4 }))
      await store.importTask(task('other', { parent: 'q', parentStep: 4 }))
      expect(await store.task('c')).toMatchObject({ parent: null, parentStep: 4 })
      const children = [
        { task: 'c', step: 4 },
        { task: 'other', step: 5 },
      ]
      await store.importTask(task('p', { children }))
      expect(await store.task('c')).toMatchObject({ parent: 'p' })
      expect(await store.task('other')).toMatchObject({ parent: null })
      await store.importTask(task('d', { parent: 'p', parentStep: 6 }))
      expect(await store.task('d')).toMatchObject({ parent: 'p', parentStep: 6 })
    })
  })
}
