import type { NodeRow } from '../store/port.ts'

/**
 * A living node.
 * @example const supervisors = (await triarch.nodes.list()).filter(({ roles }) => roles.includes('supervisor'))
 */
export interface NodeInfo {
  /** Unique for each start of a node. */
  id: string
  /** Its roles: `scheduler`, `agent`, `supervisor`. */
  roles: string[]
  /** When it registered. */
  startedAt: Date
  /** Until when it counts as alive, unless it renews its lease. */
  leaseUntil: Date
  /** The workflows and actions that it runs, as `workflow@version` and `agent.action`; undefined: it never reported them. */
  runs: { workflows: readonly string[]; actions: readonly string[] } | undefined
  /** Its labels; none. */
  labels: Readonly<Record<string, string>>
  /** Versions of settings that it uses, by name; settings without a value in the store are left out. */
  settings: Readonly<Record<string, number>>
  /** Its machine and process; undefined: the machine does not provide the data. */
  place: { host: string; pid: number } | undefined
}

export function nodeInfo({ id, roles, startedAt, leaseUntil, runs, place }: NodeRow): NodeInfo {
  return {
    ...{ id, roles, startedAt: new Date(startedAt), leaseUntil: new Date(leaseUntil) },
    runs: runs ? { workflows: runs.workflows, actions: runs.actions } : undefined,
    labels: runs?.labels ?? {},
    settings: runs?.settings ?? {},
    place: place ? { host: place.host, pid: place.pid } : undefined,
  }
}
