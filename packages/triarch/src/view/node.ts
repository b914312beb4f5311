import type { NodeRow } from '../store/port.ts'

/**
 * A node that lives.
 * @example const supervisors = (await triarch.nodes()).filter(({ roles }) => roles.includes('supervisor'))
 */
export interface NodeInfo {
  /** Another one for each life of a node. */
  id: string
  /** Its roles: `scheduler`, `agent`, `supervisor`. */
  roles: string[]
  /** When it registered. */
  startedAt: Date
  /** Until when it is taken for alive, unless it says so again. */
  leaseUntil: Date
  /** What it runs: `workflow@version`, `agent.action`; undefined: it never said so. */
  runs: { workflows: readonly string[]; actions: readonly string[] } | undefined
  /** What it is told apart by; none. */
  labels: Readonly<Record<string, string>>
  /** Versions of settings that it runs, by name; those that the store says nothing of are not named. */
  settings: Readonly<Record<string, number>>
  /** Where it is; undefined: its machine does not tell. */
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
