import { AGENT_SETTING, isObject, WORKFLOW_SETTING } from '../definition/setting.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { QueuedRow, StateStore } from '../store/port.ts'
import { storedSetting } from '../store/version.ts'
import { clock } from './reason.ts'

/** That something is paused by a setting. */
export interface SettingPause {
  /** The name of the agent, or of the workflow. */
  of: string
  reason: string
  since: Date
  actor: string
}

/** What operators have paused of what the task needs: by the names of the settings. */
export async function settingPauses(
  store: StateStore,
  { work }: QueuedRow,
  { workflow, ready }: { workflow: string; ready: boolean },
): Promise<ReadonlyMap<string, SettingPause>> {
  const agents = work.filter(({ node }) => node === null).map(({ queue }) => `${AGENT_SETTING}${agentOfQueue(queue)}`)
  const names = [...new Set([...agents, ...(ready ? [`${WORKFLOW_SETTING}${workflow}`] : [])])]
  if (names.length === 0) return new Map()
  const rows = await store.settings({ names })
  return new Map(
    rows.flatMap(({ name, state }): [string, SettingPause][] => {
      const version = storedSetting(state)?.state.live
      const reason = version && isObject(version.value) ? version.value.paused : undefined
      if (!version || typeof reason !== 'string') return []
      const of = name.slice((name.startsWith(AGENT_SETTING) ? AGENT_SETTING : WORKFLOW_SETTING).length)
      return [[name, { of, reason, since: new Date(version.at), actor: version.by }]]
    }),
  )
}

export function pauseText(what: 'agent' | 'workflow', { of, reason, since, actor }: SettingPause): string {
  return `${what} ${of} is paused since ${clock(since)} by ${actor}: ${reason}`
}
