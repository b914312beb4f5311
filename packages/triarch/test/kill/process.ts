import { type AgentOptions, agent, type StepContext, TransientError, Triarch, workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'

export const pace = { lease: '1s', sweep: '100ms', poll: '20ms', notices: false } as const

export const [SHARED, EACH] = [4, 3]
export const [LIMIT, BURST, PER] = [40, 8, 1_000]
export const PROBES = 2

const url = process.argv[3] ?? ''

async function call(_: null, { taskId, signal }: StepContext): Promise<null> {
  const at = Number(process.hrtime.bigint()) / 1e6
  const body = JSON.stringify({ pid: process.pid, at, task: taskId })
  const answer = await fetch(url, { method: 'POST', body, signal })
  await answer.arrayBuffer()
  if (!answer.ok) throw new TransientError(`the service said ${answer.status}`)
  return null
}

/** An agent of the service, and a task that calls it once. */
function calling(name: string, options: AgentOptions) {
  const of = agent(name, options)
  const retry = { attempts: 1_000, backoff: { initial: 10, max: 50 } }
  const action = of.action('call', { retry, run: call })
  return { agent: of, workflow: workflow(name, { run: (_: null, task) => task.run(action, null) }) }
}

export const seats = calling('seats', { concurrency: { shared: SHARED, each: EACH } })
export const rate = calling('rate', { rateLimit: { limit: LIMIT, per: PER, burst: BURST } })
export const breaker = calling('breaker', {
  circuitBreaker: { minimum: 4, open: 100, openMax: 200, probes: PROBES },
})
export const plain = calling('plain', {})

const bomb = plain.agent.action('bomb', {
  run: async (input: null, step) => {
    await call(input, step)
    process.exit(7)
  },
})
export const poison = workflow('poison', { run: (_: null, task) => task.run(bomb, null) })

export const workflows = [...[seats, rate, breaker, plain].map((it) => it.workflow), poison]
export const agents = [seats, rate, breaker, plain].map((it) => it.agent)

/** A process that works for others until it is killed, or they are gone. */
export async function works(store: StoreFactory): Promise<void> {
  const triarch = new Triarch({ store, ...pace, roles: ['agent'], agents, onError: () => undefined })
  process.once('disconnect', () => process.exit())
  await triarch.start()
  process.send?.('ready')
}
