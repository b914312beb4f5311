import type { Agent } from '../../packages/triarch/src/index.ts'
import { type Saboteur, sabotagedAgent } from '../../packages/triarch/src/testing/sabotage.ts'

/** The agent under watch: `exceeded` hears when more of its attempts run at once in this process than it allows. */
export function counted(agent: Agent, exceeded: (running: number) => void): Agent {
  let running = 0
  const meet: Saboteur = async (_, work) => {
    if (++running > agent.concurrency) exceeded(running)
    try {
      return await work()
    } finally {
      running--
    }
  }
  return sabotagedAgent(agent, meet)
}
