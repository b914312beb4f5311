import { describe, expect, it } from 'vitest'
import type { AuditEntry, AuditQuery } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { newTask } from './samples.ts'

const entry = (id: string, given: Partial<AuditEntry> = {}): AuditEntry => {
  return { id, at: 1, actor: 'ada', action: 'task.pause', subject: 'task:a', outcome: 'done', text: '{}', ...given }
}

const all: AuditQuery = {
  ...{ actor: null, action: null, subject: null, since: null, limit: 100 },
  before: { at: Number.MAX_SAFE_INTEGER, seq: 0 },
}

export function auditSuite(bench: Bench): void {
  const kept = async (query: Partial<AuditQuery> = {}) => bench.store.audit({ ...all, ...query })
  const texts = async (query: Partial<AuditQuery> = {}) => (await kept(query)).map(({ text }) => text)

  describe('the audit', () => {
    it('has each entry once, the last first, and by who, what, on what and when', async () => {
      const { store } = bench
      await store.writeAudit([
        entry('1', { text: '"1"' }),
        entry('2', { text: '"2"', actor: '', at: 2 }),
        entry('3', { text: '"3"', action: 'task.cancel', at: 2, outcome: 'refused' }),
        entry('4', { text: '"4"', subject: 'task:b', at: 3 }),
      ])
      await store.writeAudit([entry('1', { text: '"again"' })])
      expect(await texts()).toEqual(['"4"', '"3"', '"2"', '"1"'])
      expect(await texts({ actor: '' })).toEqual(['"2"'])
      expect(await texts({ actor: 'ada', action: 'task.pause' })).toEqual(['"4"', '"1"'])
      expect(await texts({ subject: 'task:a', since: 2 })).toEqual(['"3"', '"2"'])
      expect(await texts({ before: { at: 2, seq: 0 } })).toEqual(['"1"'])
      const [, third] = await kept({ limit: 2 })
      expect(third).toMatchObject({ at: 2, actor: 'ada', action: 'task.cancel', subject: 'task:a', outcome: 'refused' })
      expect(await texts({ before: third as { at: number; seq: number } })).toEqual(['"2"', '"1"'])
    })

    it('is trimmed by age and by number, the oldest first, so many at a time', async () => {
      const { store } = bench
      await store.writeAudit(Array.from({ length: 9 }, (_, at) => entry(`${at}`, { at, text: `"${at}"` })))
      expect(await store.trimAudit({ before: null, entries: 9, surplus: 99, limit: 5 })).toBe(0)
      expect(await store.trimAudit({ before: 3, entries: 9, surplus: 99, limit: 2 })).toBe(2)
      expect(await store.trimAudit({ before: 3, entries: 9, surplus: 99, limit: 2 })).toBe(1)
      expect(await store.trimAudit({ before: null, entries: 4, surplus: 99, limit: 10 })).toBe(2)
      expect(await texts()).toEqual(['"8"', '"7"', '"6"', '"5"'])
    })

    it('loses no entry for its number that is younger than it is kept at least', async () => {
      const { store } = bench
      await store.writeAudit(Array.from({ length: 9 }, (_, at) => entry(`${at}`, { at, text: `"${at}"` })))
      expect(await store.trimAudit({ before: null, entries: 2, surplus: 3, limit: 10 })).toBe(3)
      expect(await store.trimAudit({ before: null, entries: 2, surplus: 3, limit: 10 })).toBe(0)
      expect(await texts()).toEqual(['"8"', '"7"', '"6"', '"5"', '"4"', '"3"'])
      // Age counts all the same.
      expect(await store.trimAudit({ before: 5, entries: 2, surplus: 3, limit: 10 })).toBe(2)
    })

    it('has an entry exactly when what it goes with was done', async () => {
      const { store } = bench
      await store.submit([newTask('a')])
      const message = { type: 'pause', outside: true } as const
      const terms = (fits: string[]) => ({ fits, room: null })
      const post = (id: string, task: string, fits = ['pending']) => {
        return { task, message, control: true, terms: terms(fits), audit: entry(id, { text: `"post ${id}"` }) }
      }
      const outcomes = await store.post([
        post('1', 'a'),
        post('2', 'none'),
        post('3', 'a', ['stopped']),
        post('4', 'a'),
      ])
      expect(outcomes).toEqual(['posted', 'unknown', 'unfit', 'posted'])
      const written = async (what: string, write: (audit: AuditEntry) => Promise<unknown>) => {
        await write(entry(what, { text: `"${what}"` }))
      }
      const setting = { name: 's', at: 1, state: '{}', change: '{}' }
      await written('set', (audit) => store.writeSetting({ ...setting, expected: 0, audit }))
      await written('set again', (audit) => store.writeSetting({ ...setting, expected: 1, audit }))
      await written('not set', (audit) => store.writeSetting({ ...setting, expected: 0, audit }))
      await written('opened', (audit) =>
        store.writeBreaker({ kind: 'breaker', name: 'b', expected: 0, state: '{}', audit }),
      )
      await written('changed', (audit) =>
        store.writeBreaker({ kind: 'breaker', name: 'b', expected: 1, state: '{}', audit }),
      )
      await written('gone', (audit) =>
        store.writeBreaker({ kind: 'breaker', name: 'b', expected: 2, state: null, audit }),
      )
      await written('not opened', (audit) =>
        store.writeBreaker({ kind: 'breaker', name: 'b', expected: 7, state: '{}', audit }),
      )
      const key = { name: 'k', at: 1, endsAt: null }
      await written('made', (audit) => store.writeKey({ ...key, expected: 0, state: '{}', audit }))
      await written('not made', (audit) => store.writeKey({ ...key, expected: 0, state: '{}', audit }))
      await written('rotated', (audit) => store.writeKey({ ...key, expected: 1, state: '{}', audit }))
      await written('dropped', (audit) => store.writeKey({ ...key, expected: 2, state: null, audit }))
      const schedule = { name: 'n', definition: '{}', state: '{}', nextAt: null, tasks: [], fence: null }
      await written('registered', (audit) => store.writeSchedule({ ...schedule, expected: null, audit }))
      await written('not registered', (audit) => store.writeSchedule({ ...schedule, expected: null, audit }))
      await written('removed', (audit) => store.dropSchedule('n', { audit }))
      await written('not removed', (audit) => store.dropSchedule('n', { audit }))
      await written('not lifted', (audit) => store.releaseQuarantine('a', { audit }))
      await written('invalidated', (audit) => store.invalidate(['x'], { audit }))
      await written('submitted', (audit) => store.submit([newTask('b')], { audit }))
      await written('not submitted', (audit) => store.submit([newTask('b')], { audit }))
      expect(await texts()).toEqual(
        ['post 1', 'post 4', 'set', 'set again', 'opened', 'changed', 'gone', 'made', 'rotated', 'dropped']
          .concat('registered', 'removed', 'invalidated', 'submitted')
          .map((it) => `"${it}"`)
          .reverse(),
      )
    })
  })
}
