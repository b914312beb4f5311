import { describe, expect, it } from 'vitest'
import type { SecretWrite } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'

const write = (number: number, given: Partial<SecretWrite> = {}): SecretWrite => {
  return { number, secret: `s${number}`, madeAt: number * 10, overlapsUntil: null, keepFrom: 0, ...given }
}

export function secretSuite(bench: Bench): void {
  describe('a secret of the store', () => {
    it('is added once under its number, whoever else adds one', async () => {
      const { store } = bench
      expect(await store.secrets()).toEqual([])
      const added = await Promise.all([store.writeSecret(write(1)), store.writeSecret(write(1, { secret: 'other' }))])
      expect(added.filter(Boolean)).toHaveLength(1)
      expect(await store.writeSecret(write(1, { secret: 'late' }))).toBe(false)
      const [row, ...more] = await store.secrets()
      expect(more).toEqual([])
      expect(['s1', 'other']).toContain(row?.secret)
      expect(row).toMatchObject({ number: 1, madeAt: 10, overlapsUntil: null })
    })

    it('is listed before older ones, and drops those that are not to be kept', async () => {
      const { store } = bench
      for (const it of [write(1), write(2, { overlapsUntil: 99 }), write(10)]) await store.writeSecret(it)
      expect((await store.secrets()).map(({ number, overlapsUntil }) => [number, overlapsUntil])).toEqual([
        [10, null],
        [2, 99],
        [1, null],
      ])
      expect(await store.writeSecret(write(10, { keepFrom: 11 }))).toBe(false)
      expect(await store.secrets()).toHaveLength(3)
      expect(await store.writeSecret(write(11, { keepFrom: 10 }))).toBe(true)
      expect((await store.secrets()).map(({ number }) => number)).toEqual([11, 10])
    })

    it('is written with its entry of the audit, or not at all', async () => {
      const { store } = bench
      const audit = {
        id: 'a',
        at: 1,
        actor: 'ada',
        action: 'secret.rotate',
        subject: 'secret:2',
        outcome: 'done',
      } as const
      expect(await store.writeSecret(write(2, { audit: { ...audit, text: '{}' } }))).toBe(true)
      expect(await store.writeSecret(write(2, { audit: { ...audit, id: 'b', text: '{}' } }))).toBe(false)
      const acts = await store.audit({
        actor: null,
        action: null,
        subject: null,
        since: null,
        before: { at: Number.MAX_SAFE_INTEGER, seq: 0 },
        limit: 10,
      })
      expect(acts.map(({ actor, action, subject }) => [actor, action, subject])).toEqual([
        ['ada', 'secret.rotate', 'secret:2'],
      ])
    })
  })
}
