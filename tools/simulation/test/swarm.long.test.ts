import { describe, expect, it } from 'vitest'
import { Campaign } from '../campaign.ts'
import { callFaults, hurtKinds } from '../plan.ts'
import { regressions } from '../regression.ts'
import { run } from '../run.ts'
import { summary } from '../summary.ts'
import { swarm } from '../swarm.ts'

/** A start; `npm run simulate` goes on from there. */
const SEEDS = 100

describe('random programs under random faults', () => {
  it('keep every rule, and a seed is the same course of events each time', { timeout: 600_000 }, async () => {
    const campaign = new Campaign()
    for (let seed = 1; seed <= SEEDS; seed++) await campaign.seed(seed)
    expect(campaign.failures).toEqual([])
    expect(campaign.repeated).toBe(SEEDS / 25)
    // A kind of fault that never fires proves nothing.
    for (const kind of [...callFaults, ...hurtKinds]) expect(campaign.fired[kind], kind).toBeGreaterThan(0)
    expect(summary(campaign, 1)).toMatch(`${SEEDS} runs`)
    expect(campaign.coverage.states.get('task paused')).toBeGreaterThan(0)
    expect(campaign.coverage.moves.get('step compensating → compensated')).toBeGreaterThan(0)
  })

  it('are different programs for different seeds', async () => {
    const hashes = await Promise.all([1, 2, 3].map(async (seed) => JSON.stringify(swarm(seed).tasks)))
    expect(new Set(hashes).size).toBe(3)
  })
})

describe('what broke a rule once breaks none any more:', () => {
  it.each(Object.entries(regressions))('%s', async (_, plan) => {
    expect((await run(plan)).violations).toEqual([])
  })
})
