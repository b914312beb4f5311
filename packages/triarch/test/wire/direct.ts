import { type Agent, agent, type TriarchOptions, type Workflow, workflow } from '../../src/index.ts'

/** Short, so that a node that is killed is missed soon. */
export const pace = { lease: '1500ms', sweep: '100ms', notices: false, direct: true } satisfies Partial<TriarchOptions>

export interface Own {
  agent: Agent
  flow: Workflow<number, number>
}

/** An agent whose attempts wait where the number is negative: `began` is called, and they go on once what it returns has resolved. */
export function own(began: (n: number) => Promise<unknown>, concurrency = 10): Own {
  const it = agent('own', { concurrency })
  const act = it.action('act', {
    run: async (n: number) => {
      if (n < 0) await began(n)
      return n + 1
    },
  })
  return { agent: it, flow: workflow('flow', { run: async (n: number, task) => task.run(act, n) }) }
}
