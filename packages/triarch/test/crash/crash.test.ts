import { describe, expect, it } from 'vitest'
import { run } from './run.ts'

const first = Number(process.env.TRIARCH_CRASH_SEED ?? 1)
const count = Number(process.env.TRIARCH_CRASH_SEEDS ?? 2)
const seconds = Number(process.env.TRIARCH_CRASH_SECONDS ?? 6)
const settle = 15_000

describe('nodes on one store, killed, frozen and drained at random moments', () => {
  for (let seed = first; seed < first + count; seed++) {
    it(`keep every rule (seed ${seed})`, { timeout: seconds * 1_000 + settle + 300_000 }, async () => {
      const { evidence, faults, violations, stuck } = await run({ seed, chaos: seconds * 1_000, settle })
      expect(stuck).toBe('')
      expect(violations).toEqual([])
      expect(evidence.accepted.length).toBeGreaterThan(seconds)
      for (const fired of Object.values(faults)) expect(fired).toBeGreaterThan(0)
    })
  }
})
