import { type Agent, type AgentOptions, agent, type TriarchOptions, type Workflow, workflow } from 'triarch'
import type { Count } from './subject.ts'

const SLOTS = 100_000
const fairness = { key: () => 'one' }

/** Policies of an agent, each by itself, that have nothing to do, and let a step begin where its task is. */
export const policies = {
  'circuit breaker': { circuitBreaker: {} },
  'rate limit': { rateLimit: { limit: 1_000_000, per: '1s', burst: 100_000 } },
  'adaptive concurrency': { concurrency: { each: SLOTS, adaptive: { least: 1_000 } } },
  fairness: { fairness },
  ageing: { ageing: '10m' },
  pools: { pools: { high: SLOTS / 2, rest: SLOTS / 2 } },
} as const satisfies Record<string, AgentOptions>

const { pools, 'circuit breaker': breaker, 'rate limit': rate, 'adaptive concurrency': slots } = policies

/** All that an agent can have together: its queue has one order, and pools have slots of their own. With what the engine has of it. */
export const together = {
  'all, fair': [{ ...breaker, ...rate, ...slots, fairness }, { fairness }],
  'all, aged': [{ ...breaker, ...rate, ...slots, ageing: '10m' }, { ageing: '10m' }],
  'all, in pools': [{ ...breaker, ...rate, ...pools, fairness }, { fairness }],
} as const satisfies Record<string, [AgentOptions, Partial<TriarchOptions>]>

/** An agent of three-step tasks, and their workflow, which is bounded as well. Another action has a cache. */
export function policedSteps(name: string, options: AgentOptions): { agent: Agent; workflow: Workflow<Count, Count> } {
  const own = agent(name, { ...(options.pools === undefined && { concurrency: SLOTS }), ...options })
  own.action('look', { cache: { key: ({ n }: Count) => `${n}`, ttl: '1m' }, run: async ({ n }: Count) => ({ n }) })
  const add = own.action('add', { run: async ({ n }: Count) => ({ n: n + 1 }) })
  const of = workflow(`three-${name}`, {
    ...{ maxQueued: 1_000_000, whenFull: 'wait' },
    async run(input: Count, task) {
      const first = await task.run(add, input)
      const second = await task.run(add, first)
      return task.run(add, second)
    },
  })
  return { agent: own, workflow: of }
}

/** What a process that only runs actions has in `queue`, with what bounds over all nodes besides: it sends each step through the queue. */
export const bounded: ReturnType<typeof policedSteps> = policedSteps('bounded', {
  ...together['all, fair'][0],
  concurrency: { each: SLOTS, shared: SLOTS, adaptive: { least: 1_000 } },
})
