import type {
  AgentCollection,
  LeaderCollection,
  LockCollection,
  NodeCollection,
  WorkflowCollection,
} from 'triarch/contract'
import { demand, demandPath } from './demand.ts'
import type { Exchange } from './exchange.ts'
import { pageQuery } from './page.ts'
import { agentPage, leaderPage, lockPage, nodeInfos, workflowPage } from './view.ts'

/** What a server's engine knows of workflows, agents, locks, leaderships and nodes. */
export function inventoryOf(exchange: Exchange): {
  workflows: WorkflowCollection
  agents: AgentCollection
  locks: LockCollection
  leaders: LeaderCollection
  nodes: NodeCollection
} {
  return {
    workflows: {
      list: async (options = {}) => exchange.get(`/workflows${pageQuery('workflows.list', options)}`, workflowPage),
    },
    agents: { list: async (options = {}) => exchange.get(`/agents${pageQuery('agents.list', options)}`, agentPage) },
    locks: { list: async (options = {}) => exchange.get(`/locks${pageQuery('locks.list', options)}`, lockPage) },
    leaders: {
      list: async (options = {}) => exchange.get(`/leaders${pageQuery('leaders.list', options)}`, leaderPage),
    },
    nodes: {
      list: () => exchange.get('/nodes', nodeInfos),
      demand: async (options = {}) => exchange.get(demandPath(options), demand),
    },
  }
}
