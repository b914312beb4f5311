import type { AgentOptions, TriarchOptions } from 'triarch'
import { Child } from '../child/process.ts'
import type { Bench, Figure, Measure } from '../measure.ts'
import { bounded, policedSteps, policies as single, together } from '../policed.ts'
import { drive, start, threeSteps } from '../subject.ts'
import { compared, type Share } from './pairs.ts'

/** Share of the speed without any (%). */
const TARGET = 90
const PAIRS = 11
const QUICK_PAIRS = 1

export const policies: Measure = {
  name: 'policies',
  about:
    'three-step tasks with policies that have nothing to do, beside the same without: steps of this process, and of another',
  async run(bench) {
    const figures: Figure[] = []
    const alone = Object.entries(bench.quick ? {} : single).map(([what, options]) => [what, [options, {}]] as const)
    for (const [what, [options, engine]] of [...Object.entries(together), ...alone])
      figures.push({
        what: `steps, ${what}`,
        ...(await local(bench, what.replace(/\W+/g, '-'), options, engine)),
        target: TARGET,
      })
    return [...figures, { what: 'queue, all', ...(await queued(bench)), target: TARGET }]
  },
}

async function local(
  bench: Bench,
  name: string,
  options: AgentOptions,
  engine: Partial<TriarchOptions>,
): Promise<Share> {
  const { agent, workflow } = policedSteps(name, options)
  await using bare = await start(await bench.place(`bare-${name}`))
  await using own = await start(await bench.place(`policies-${name}`), {
    ...engine,
    agents: [agent],
    workflows: [workflow],
  })
  return await compared(bench.quick ? [20, QUICK_PAIRS] : [1_000, PAIRS], {
    bare: (tasks) => drive(bare.engine, threeSteps, tasks, bench.inFlight),
    own: (tasks) => drive(own.engine, workflow, tasks, bench.inFlight),
  })
}

async function queued(bench: Bench): Promise<Share> {
  const places = [await bench.place('queue-bare'), await bench.place('queue-policies')] as const
  const roles = { agents: [], roles: ['scheduler', 'supervisor'] as const }
  await using bare = await start(places[0], { ...roles, roles: [...roles.roles] })
  await using own = await start(places[1], {
    ...{ ...together['all, fair'][1], roles: [...roles.roles] },
    ...{ agents: [bounded.agent], workflows: [bounded.workflow] },
  })
  await using first = new Child('./agent.ts', [places[0]])
  await using second = new Child('./agent.ts', [places[1], 'policed'])
  await Promise.all([first.line(), second.line()])
  return await compared(bench.quick ? [20, QUICK_PAIRS] : [1_000, PAIRS], {
    bare: (tasks) => drive(bare.engine, threeSteps, tasks, bench.inFlight),
    own: (tasks) => drive(own.engine, bounded.workflow, tasks, bench.inFlight),
  })
}
