import type { NodeRow } from '../store/port.ts'
import { type Demand, type DemandOptions, demandOf, demandTerms } from '../view/demand.ts'
import {
  type AgentPage,
  agentPage,
  type LockPage,
  lockPage,
  type NamedPage,
  namedPage,
  type WorkflowPage,
  workflowPage,
} from '../view/inventory.ts'
import { type NodeInfo, nodeInfo } from '../view/node.ts'
import type { Connection } from './connection.ts'

/**
 * The workflows that nodes run.
 * @example const { workflows }: WorkflowPage = await triarch.workflows.list()
 */
export interface WorkflowCollection {
  /**
   * Workflows by name, with their versions and the living nodes that run each, a page at a time: those that living nodes run, and those
   * that the answering process knows. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { workflows } = await triarch.workflows.list()
   * for (const { name, versions } of workflows) console.log(name, versions.length)
   */
  list(options?: NamedPage): Promise<WorkflowPage>
}

/**
 * The agents.
 * @example const { agents }: AgentPage = await triarch.agents.list()
 */
export interface AgentCollection {
  /**
   * Agents by name, with their actions, the living nodes that run them, and the work that waits for them, a page at a time: those that
   * living nodes have, those that the answering process knows, and those for which work waits. Reads the history of the longest-waiting
   * task of each. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example for (const { name, queue } of (await triarch.agents.list()).agents) console.log(name, queue.depth)
   */
  list(options?: NamedPage): Promise<AgentPage>
}

/**
 * The locks that tasks hold.
 * @example const { locks }: LockPage = await triarch.locks.list()
 */
export interface LockCollection {
  /**
   * Locks held by tasks, by name: the holder of each, since when, and the tasks that wait for it, a page at a time. Throws
   * UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { locks } = await triarch.locks.list()
   * for (const { name, holder, waiting } of locks) console.log(name, holder, waiting)
   */
  list(options?: NamedPage): Promise<LockPage>
}

/**
 * The nodes: the processes that play a role.
 * @example const nodes: NodeInfo[] = await triarch.nodes.list()
 */
export interface NodeCollection {
  /**
   * The living nodes, and where they run (`place`: host and pid, if the machine provides them).
   * @example for (const { id, roles, place } of await triarch.nodes.list()) console.log(id, roles, place?.host)
   */
  list(): Promise<NodeInfo[]>

  /**
   * How many processes the waiting and running work needs, for each agent and each version of a workflow: the input of an autoscaler.
   * Costs a few indexed reads, and for each agent with waiting work the history of its longest-waiting task. Throws INVALID_OPTION,
   * INVALID_DURATION, UNKNOWN_OPTION.
   * @example
   * const { agents } = await triarch.nodes.demand({ within: '10s' })
   * for (const { agent, has, wanted } of agents) console.log(agent, has.processes, wanted.processes)
   */
  demand(options?: DemandOptions): Promise<Demand>
}

/** The nodes whose lease lasts and whose process is not known to be gone. */
export async function livingNodes({ store, opened, isGone }: Connection): Promise<NodeRow[]> {
  await opened()
  const [now, nodes] = await Promise.all([store.now(), store.nodes()])
  return nodes.filter((node) => node.leaseUntil >= now && !isGone(node))
}

/** What a store and a process know of workflows, agents, locks and nodes. */
export function inventoryOf(connection: Connection): {
  workflows: WorkflowCollection
  agents: AgentCollection
  locks: LockCollection
  nodes: NodeCollection
} {
  const { store, registry } = connection
  const living = () => livingNodes(connection)
  const agents = () => [...registry.agents.values()]
  return {
    workflows: {
      async list(options = {}) {
        const page = namedPage('workflows.list', options)
        return workflowPage(store, registry.workflows, await living(), page)
      },
    },
    agents: {
      async list(options = {}) {
        const page = namedPage('agents.list', options)
        return agentPage(store, agents(), await living(), page)
      },
    },
    locks: {
      async list(options = {}) {
        const page = namedPage('locks.list', options)
        await connection.opened()
        return lockPage(store, page)
      },
    },
    nodes: {
      list: async () => (await living()).map(nodeInfo),
      async demand(options = {}) {
        const within = demandTerms(options)
        return demandOf(store, agents(), await living(), within)
      },
    },
  }
}
