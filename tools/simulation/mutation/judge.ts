import type { Campaign } from '../campaign.ts'
import { oracleOf } from '../oracle.ts'
import { regressions } from '../regression.ts'
import { scenarios } from '../scenario.ts'
import { mutant } from './mutant.ts'
import type { Mutation } from './mutations.ts'

/** What became of one mutation. */
export interface Verdict {
  name: string
  /** The oracles that caught it, in the first run in which one of those did that must. */
  caught: string[]
  /** That run; null: there was none. */
  at: string | null
  runs: number
  /** What was said. */
  violation: string
}

/** Seeds without an answer after which a mutation is taken for uncaught. */
const MOST_SEEDS = 400

/** Runs the simulation over the mutated engine until an oracle that must catch the mutation does. */
export async function judge(name: string, mutation: Mutation): Promise<Verdict> {
  const { Campaign: Mutant } = await mutant(name)
  const campaign = new Mutant(undefined, mutation.by.includes('determinism') ? 1 : Number.POSITIVE_INFINITY)
  const expected = (violation: string) => mutation.by.includes(oracleOf(violation))
  for await (const _ of work(campaign, mutation)) {
    const failure = campaign.failures.find(({ violations }) => violations.some(expected))
    if (failure) return verdict(name, campaign, failure.name, failure.violations, failure.violations.find(expected))
  }
  const others = campaign.failures.flatMap(({ violations }) => violations)
  return verdict(name, campaign, null, others, others[0])
}

/** Of a mutation that could not be put into the engine. */
export function unjudged(name: string, { message }: Error): Verdict {
  return { name, caught: [], at: null, runs: 0, violation: message }
}

async function* work(campaign: Campaign, { at = 1, world }: Mutation): AsyncGenerator<void> {
  if (typeof at === 'string') {
    const [scenario, regression] = [scenarios[at], regressions[at]]
    const plan = scenario ?? regression
    if (!plan) throw new Error(`there is no scenario and no regression "${at}"`)
    await campaign.plan(at, plan, false)
    yield
    if (!scenario) return
    await campaign.scenario(at, scenario)
    yield
    return
  }
  for (let seed = at; seed < at + MOST_SEEDS; seed++) {
    await campaign.seed(seed, world)
    yield
  }
}

function verdict(name: string, { runs }: Campaign, at: string | null, all: string[], violation = ''): Verdict {
  return { name, caught: [...new Set(all.map(oracleOf))].sort(), at, runs, violation: violation.slice(0, 200) }
}
