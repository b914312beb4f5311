// A process that judges mutants by the simulation: argv tells the target and the number of seeds. It is sent one mutant at
// a time and answers what noticed it, or null.
import { mutated } from '../simulation/mutation/mutant.ts'
import { oracleOf } from '../simulation/oracle.ts'
import type { Plan } from '../simulation/plan.ts'
import { scenarios } from '../simulation/scenario.ts'
import { swarm } from '../simulation/swarm.ts'
import { course, embedded, mostOf } from './embed.ts'
import { mutantsByFile, type Target, targets } from './target.ts'

/** One run of the simulation, what it costs (ms), and which mutants it comes by, how often. */
interface Case {
  name: string
  plan: Plan
  ms: number
  asked: number
  reached: Set<number>
}

const [name = '', seeds = '0'] = process.argv.slice(2)
const engine = 'packages/triarch/src/'
const state = course()
let thrown: unknown = null
// A mutated engine may break anywhere: whatever is thrown is noticed.
for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error) => {
    thrown ??= error
  })
}

const files = mutantsByFile(targets[name] as Target)
const { Campaign } = await mutated(name, (file, source) => {
  const mutants = files.get(engine + file)
  return mutants ? embedded(source, mutants) : source
})
const cases: Case[] = []
const plans = Array.from({ length: Number(seeds) }, (_, index) => [`seed ${index + 1}`, swarm(index + 1)] as const)
for (const [name, plan] of [...Object.entries(scenarios), ...plans]) {
  state.reached = new Set()
  state.asked = 0
  const started = performance.now()
  const noticed = await run(name, plan)
  if (noticed !== null) throw new Error(`the simulation fails without any mutant: ${noticed}`)
  cases.push({ name, plan, ms: performance.now() - started, asked: state.asked, reached: state.reached })
}
state.reached = null
cases.sort((a, b) => a.ms - b.ms)
process.on('message', (mutant: number) => {
  void judge(mutant).then((noticed) => process.send?.({ noticed }))
})
process.send?.({ reached: [...new Set(cases.flatMap(({ reached }) => [...reached]))] })

async function judge(mutant: number): Promise<string | null> {
  for (const { name, plan, asked, reached } of cases) {
    if (!reached.has(mutant)) continue
    Object.assign(state, { active: mutant, asked: 0, most: mostOf(asked) })
    const noticed = await run(name, plan)
    Object.assign(state, { active: null, most: Number.POSITIVE_INFINITY })
    if (noticed !== null) return noticed
  }
  return null
}

async function run(name: string, plan: Plan): Promise<string | null> {
  thrown = null
  try {
    const campaign = new Campaign()
    await campaign.plan(name, plan, false)
    const violation = campaign.failures[0]?.violations[0]
    if (violation !== undefined) return `${name}: ${oracleOf(violation)}`
    return thrown === null ? null : `${name}: thrown: ${String(thrown)}`
  } catch (error) {
    return `${name}: error: ${error instanceof Error ? error.message : String(error)}`
  }
}
