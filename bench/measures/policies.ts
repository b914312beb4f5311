import { type Agent, type AgentOptions, agent, type Workflow, workflow } from 'triarch'
import { Child } from '../child/process.ts'
import type { Bench, Figure, Measure } from '../measure.ts'
import { policed } from '../policed.ts'
import { type Count, drive, service, start, threeSteps } from '../subject.ts'
import { compared, type Share } from './pairs.ts'

/** Share of the speed without any (%). */
const TARGET = 90
const PAIRS = 15
const QUICK_PAIRS = 1

/** Each by itself, and together: those that let a step begin where its task is. What bounds over all nodes sends it through the queue. */
const alone: Readonly<Record<string, AgentOptions>> = {
  'all that are idle': policed,
  'circuit breaker': { circuitBreaker: {} },
  ageing: { ageing: '10m' },
  fairness: { fairness: { key: () => 'one' } },
}

export const policies: Measure = {
  name: 'policies',
  about:
    'three-step tasks with policies that have nothing to do, beside the same without: steps of this process, and of another',
  async run(bench) {
    const figures: Figure[] = []
    for (const [what, options] of Object.entries(alone)) {
      const [agents, of] = threeStepsOf(options)
      const share = await local(bench, agents, of)
      figures.push({ what: `steps, ${what}`, ...share, target: TARGET })
    }
    return [...figures, { what: 'queue, all that are idle', ...(await queued(bench)), target: TARGET }]
  },
}

async function local(bench: Bench, own: Agent, of: Workflow<Count, Count>): Promise<Share> {
  await using bare = await start(await bench.place(`bare-${own.name}`))
  await using with_ = await start(await bench.place(`policies-${own.name}`), { agents: [own], workflows: [of] })
  return await compared(bench.quick ? [20, QUICK_PAIRS] : [3_000, PAIRS], {
    bare: (tasks) => drive(bare.engine, threeSteps, tasks, bench.inFlight),
    own: (tasks) => drive(with_.engine, of, tasks, bench.inFlight),
  })
}

async function queued(bench: Bench): Promise<Share> {
  const places = [await bench.place('queue-bare'), await bench.place('queue-policies')] as const
  const roles = { agents: [], roles: ['scheduler', 'supervisor'] as const }
  await using bare = await start(places[0], { ...roles, roles: [...roles.roles] })
  await using own = await start(places[1], { ...roles, roles: [...roles.roles] })
  await using first = new Child('./agent.ts', [places[0]])
  await using second = new Child('./agent.ts', [places[1], 'policed'])
  await Promise.all([first.line(), second.line()])
  return await compared(bench.quick ? [20, QUICK_PAIRS] : [1_500, PAIRS], {
    bare: (tasks) => drive(bare.engine, threeSteps, tasks, bench.inFlight),
    own: (tasks) => drive(own.engine, threeSteps, tasks, bench.inFlight),
  })
}

let made = 0

function threeStepsOf(options: AgentOptions): [Agent, Workflow<Count, Count>] {
  const name = `service-${++made}`
  const own = agent(name, { concurrency: service.concurrency, ...options })
  const add = own.action('add', { run: async ({ n }: Count) => ({ n: n + 1 }) })
  const of = workflow(`three-${name}`, {
    async run(input: Count, task) {
      const first = await task.run(add, input)
      const second = await task.run(add, first)
      return task.run(add, second)
    },
  })
  return [own, of]
}
