// A process that judges mutants by the simulation. It is sent one at a time and answers what noticed it, or null.
import { mutated } from '../simulation/mutation/mutant.ts'
import { scenarios } from '../simulation/scenario.ts'
import { oracleOf } from '../simulation/shrink.ts'
import { type Mutant, mutate } from './mutant.ts'

export interface Question {
  mutant: Mutant
  seeds: number
}

const engine = 'packages/triarch/src/'
let thrown: unknown = null
// A mutated engine may break anywhere: whatever is thrown is noticed.
for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error) => {
    thrown ??= error
  })
}

process.on('message', ({ mutant, seeds }: Question) => {
  void judge(mutant, seeds).then((noticed) => process.send?.({ noticed }))
})

async function judge(mutant: Mutant, seeds: number): Promise<string | null> {
  thrown = null
  try {
    const place = mutant.file.slice(engine.length)
    const copy = await mutated(mutant.key, (file, source) => (file === place ? mutate(source, mutant) : source))
    const campaign = new copy.Campaign()
    for (const [name, plan] of Object.entries(scenarios)) {
      await campaign.plan(name, plan, false)
      if (found(campaign.failures)) return found(campaign.failures)
    }
    for (let seed = 1; seed <= seeds; seed++) {
      await campaign.seed(seed)
      if (found(campaign.failures)) return found(campaign.failures)
    }
    return null
  } catch (error) {
    return `error: ${error instanceof Error ? error.message : String(error)}`
  }
}

function found(failures: readonly { name: string; violations: string[] }[]): string | null {
  const [failure] = failures
  if (failure) return `${failure.name}: ${oracleOf(failure.violations[0] ?? '')}`
  return thrown === null ? null : `thrown: ${String(thrown)}`
}
