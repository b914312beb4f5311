import { AgentExchange, requestOf, ServerExchange } from '../wire/agent.ts'
import { type Route, reply, route } from './route.ts'

const exchange = route({
  method: 'POST',
  path: '/agents/exchange',
  id: 'exchangeWithAgents',
  right: 'agents',
  summary: "What an agent's process has to say, and what it is to hear: docs/protocol.md.",
  body: AgentExchange,
  answers: { 200: { description: 'What was not seen yet; after `wait` ms at the latest', schema: ServerExchange } },
  async run({ body, signal, principal }, { agents, patience }) {
    const request = requestOf(body)
    const wait = patience(`${request.wait ?? 0}ms`)
    const by = principal && { by: principal.id }
    const { messages } = await agents.exchange({ ...request, wait, ...by }, signal)
    return reply(200, { messages })
  },
})

/** Agents in processes without a store. */
export const agents: readonly Route[] = [exchange]
