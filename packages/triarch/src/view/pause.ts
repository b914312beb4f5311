import { AGENT_SETTING, isObject, WORKFLOW_SETTING } from '../definition/setting.ts'
import type { SettingVersion } from '../policy/setting.ts'
import { agentOfQueue } from '../store/breaker.ts'
import type { QueuedRow, SettingChangeRow, SettingRow, StateStore, TaskRow } from '../store/port.ts'
import { storedChange, storedSetting } from '../store/version.ts'
import { clock } from './reason.ts'

/**
 * That an operator has paused something by a setting, or closed it.
 * @example
 * const { pausedBy = [] } = await task.status()
 * for (const { name, reason, actor, since } of pausedBy) console.log(name, reason, actor, since)
 */
export interface SettingPause {
  /** The setting that says so. */
  setting: string
  /** The name of what is paused: of an agent, a workflow or a schedule. */
  name: string
  /** Why, in the operator's words. */
  reason: string
  /** Who said so first. */
  actor: string
  /** Since when. */
  since: Date
}

/** What a value of a setting says of a pause; undefined: there is none. */
type Said = (value: unknown) => string | undefined

/** Of a setting whose `paused`, or `closed`, is the reason itself. */
export const saidBy =
  (property: 'paused' | 'closed'): Said =>
  (value) => {
    const reason = isObject(value) ? value[property] : undefined
    return typeof reason === 'string' ? reason : undefined
  }

/** Changes that are looked back at for who said so first. */
const LOOKED_BACK = 100
/** Settings of agents that are looked at, and tasks of a page. */
const MOST_AGENTS = 1_000
const MOST_TASKS = 100

/**
 * What a row says is paused where nothing is on trial, by what is asked of it; null: nothing. Who said so first is read once, however many ask, and
 * only if something is.
 */
export function pausesIn(
  store: Pick<StateStore, 'settingChanges'>,
  { name: setting, state }: SettingRow,
): (name: string, said?: Said) => Promise<SettingPause | null> {
  const live = storedSetting(state)?.state.live
  let before: Promise<SettingChangeRow[]> | undefined
  return async (name, said = saidBy('paused')) => {
    const reason = live ? said(live.value) : undefined
    if (!live || reason === undefined) return null
    if (live.version > 1) before ??= store.settingChanges({ name: setting, before: live.version, limit: LOOKED_BACK })
    const { at, by } = firstSaid(live, (await before) ?? [], (value) => said(value) === reason)
    return { setting, name, reason, actor: by, since: new Date(at) }
  }
}

/** The version that said it first of those that say the same up to this one: something else may have been changed since. */
function firstSaid(
  live: SettingVersion,
  before: readonly SettingChangeRow[],
  same: (value: unknown) => boolean,
): { at: number; by: string } {
  let first = { at: live.at, by: live.by }
  const completed = new Map<number, number>()
  for (const { revision, change: text } of before) {
    const change = storedChange(text)
    if (!change || change.move === 'cleared') break
    if (change.move === 'completed' && change.version !== null) completed.set(change.version, change.at)
    // What was only on trial never counted everywhere.
    const counted = change.move === 'staged' ? completed.get(revision) : 'value' in change ? change.at : undefined
    if (counted === undefined) continue
    if (!same(change.value)) break
    first = { at: counted, by: change.by }
  }
  return first
}

/** The settings of these, as far as there are any. */
export async function rowsOf(
  store: Pick<StateStore, 'settings'>,
  prefix: string,
  names: readonly string[],
): Promise<SettingRow[]> {
  return names.length === 0 ? [] : store.settings({ names: names.map((name) => `${prefix}${name}`) })
}

/** What is paused of these, by their names. */
export async function pausesOf(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  prefix: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, SettingPause>> {
  return found(store, await rowsOf(store, prefix, names), prefix)
}

async function found(
  store: Pick<StateStore, 'settingChanges'>,
  rows: readonly SettingRow[],
  prefix: string,
): Promise<ReadonlyMap<string, SettingPause>> {
  const pauses = new Map<string, SettingPause>()
  for (const row of rows) {
    const name = row.name.slice(prefix.length)
    const pause = await pausesIn(store, row)(name)
    if (pause) pauses.set(name, pause)
  }
  return pauses
}

/** What operators have paused of what the task needs: by the names of the settings. */
export async function settingPauses(
  store: StateStore,
  { work }: QueuedRow,
  { workflow, ready }: { workflow: string; ready: boolean },
): Promise<ReadonlyMap<string, SettingPause>> {
  const agents = await pausesOf(store, AGENT_SETTING, [...agentsOf(work)])
  const workflows = await pausesOf(store, WORKFLOW_SETTING, ready ? [workflow] : [])
  return new Map([...agents.values(), ...workflows.values()].map((pause) => [pause.setting, pause]))
}

/** The agents in whose queues it waits. */
function agentsOf(work: QueuedRow['work']): Set<string> {
  return new Set(work.filter(({ node }) => node === null).map(({ queue }) => agentOfQueue(queue)))
}

/**
 * The same of some tasks, by their ids: their workflows, while nobody has taken them up, and the agents for which their steps wait. Which those
 * are is asked only where an agent is paused at all, and of the first 100 tasks.
 */
export async function pausesOfTasks(
  store: StateStore,
  rows: readonly TaskRow[],
): Promise<ReadonlyMap<string, SettingPause[]>> {
  const ready = rows.filter((row) => row.ready && row.lockedBy === null && row.status !== 'stopped')
  const running = rows.filter(({ status }) => status === 'running' || status === 'compensating').slice(0, MOST_TASKS)
  const [workflows, agents] = await Promise.all([
    pausesOf(store, WORKFLOW_SETTING, [...new Set(ready.map(({ workflow }) => workflow))]),
    running.length > 0 ? pausedAgents(store) : new Map<string, SettingPause>(),
  ])
  const pauses = new Map<string, SettingPause[]>()
  const add = (id: string, pause: SettingPause) => pauses.set(id, [...(pauses.get(id) ?? []), pause])
  for (const { id, workflow } of ready) {
    const pause = workflows.get(workflow)
    if (pause) add(id, pause)
  }
  if (agents.size === 0) return pauses
  for (const { id } of running)
    for (const agent of agentsOf((await store.queued(id)).work)) {
      const pause = agents.get(agent)
      if (pause) add(id, pause)
    }
  return pauses
}

/** The same of one, as it is shown. */
export async function pausedBy(store: StateStore, row: TaskRow): Promise<{ pausedBy?: SettingPause[] }> {
  const found = (await pausesOfTasks(store, [row])).get(row.id)
  return found ? { pausedBy: found } : {}
}

async function pausedAgents(store: StateStore): Promise<ReadonlyMap<string, SettingPause>> {
  const rows = await store.settings({ after: AGENT_SETTING, limit: MOST_AGENTS })
  const own = rows.filter(({ name }) => name.startsWith(AGENT_SETTING))
  return found(store, own, AGENT_SETTING)
}

export function pauseText(what: 'agent' | 'workflow', { name, reason, since, actor }: SettingPause): string {
  return `${what} ${name} is paused since ${clock(since)} by ${actor}: ${reason}`
}
