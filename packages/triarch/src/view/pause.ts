import { AGENT_SETTING, isObject, WORKFLOW_SETTING } from '../definition/setting.ts'
import type { SettingVersion } from '../policy/setting.ts'
import type { NodeRow, PausedThere, SettingChangeRow, SettingRow, StateStore } from '../store/port.ts'
import { storedChange, storedSetting } from '../store/version.ts'
import { clock } from './reason.ts'

/**
 * A pause or closure that an operator has made by a setting.
 * @example
 * const { pausedBy = [] } = await task.status()
 * for (const { name, reason, actor, since } of pausedBy) console.log(name, reason, actor, since)
 */
export interface SettingPause {
  /** The setting that contains it. */
  setting: string
  /** The name of the paused agent, workflow or schedule. */
  name: string
  /** The operator's reason. */
  reason: string
  /** Who set it first; `code`: it comes from the defaults or the environment of nodes. */
  actor: string
  /** When it was set. */
  since: Date
}

/** The reason of a pause in a setting's value; undefined: there is none. */
type PauseReason = (value: unknown) => string | undefined

/** Reads the reason from the property `paused`, or `closed`, of a value. */
export const saidBy =
  (property: 'paused' | 'closed'): PauseReason =>
  (value) => {
    const reason = isObject(value) ? value[property] : undefined
    return typeof reason === 'string' ? reason : undefined
  }

/** Number of changes that are searched for the first one with the pause. */
const LOOKED_BACK = 100

/** Finds pauses in the live value of a setting's row; null: none. The changes are read once for all calls, and only if there is a pause. */
export function pausesIn(
  store: Pick<StateStore, 'settingChanges'>,
  { name: setting, state }: SettingRow,
): (name: string, said?: PauseReason) => Promise<SettingPause | null> {
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

/** The first of the consecutive versions up to this one with the same pause; later ones may have changed other properties. */
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
    // A canary value that was never completed did not apply everywhere.
    const counted = change.move === 'staged' ? completed.get(revision) : 'value' in change ? change.at : undefined
    if (counted === undefined) continue
    if (!same(change.value)) break
    first = { at: counted, by: change.by }
  }
  return first
}

/** The rows of these settings, as far as they exist. */
export async function rowsOf(
  store: Pick<StateStore, 'settings'>,
  prefix: string,
  names: readonly string[],
): Promise<SettingRow[]> {
  return names.length === 0 ? [] : store.settings({ names: names.map((name) => `${prefix}${name}`) })
}

/** Pauses in the store, by name. */
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

/** A pause together with the nodes on which it applies. */
export interface NodePause {
  pause: SettingPause
  /** The pause applies to all nodes concerned, so nothing begins. */
  everywhere: boolean
  /** Number of nodes on which it applies, and of nodes concerned. */
  on: number
  of: number
}

/** A subject that may be paused: its name, its key in the reports of nodes, and the nodes that could run it. */
interface Pausable {
  name: string
  key: string
  able: readonly NodeRow[]
}

/**
 * Pauses by key. A pause in the engine's own setting in the store applies to all nodes; otherwise nodes report their pauses, which may come
 * from a setting that their code follows, from their environment, or from a canary value.
 */
async function pausesAmong(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  prefix: string,
  wanted: readonly Pausable[],
): Promise<ReadonlyMap<string, NodePause>> {
  const live = await pausesOf(store, prefix, [...new Set(wanted.map(({ name }) => name))])
  const pauses = new Map<string, NodePause>()
  for (const { name, key, able } of wanted) {
    const own = live.get(name)
    const told = able.flatMap(({ runs, startedAt }) => {
      const said = runs?.paused?.[key]
      return said ? [{ ...said, startedAt }] : []
    })
    const [first] = told
    if (!own && !first) continue
    const pause = own ?? (await toldPause(store, name, first as (typeof told)[number], told))
    const counts = own ? { on: able.length, of: able.length } : { on: told.length, of: able.length }
    pauses.set(key, { pause, ...counts, everywhere: counts.on === counts.of })
  }
  return pauses
}

/** Pauses of these agents, by name. */
export function agentPauses(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  names: readonly string[],
  nodes: readonly NodeRow[],
): Promise<ReadonlyMap<string, NodePause>> {
  const wanted = names.map((name) => ({ name, key: name, able: nodes.filter((node) => serves(node, `${name}.`)) }))
  return pausesAmong(store, AGENT_SETTING, wanted)
}

/** Pauses of these versions of workflows, by `name@version`. */
export function workflowPauses(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  versions: readonly { workflow: string; version: string }[],
  nodes: readonly NodeRow[],
): Promise<ReadonlyMap<string, NodePause>> {
  const wanted = new Map(
    versions.map(({ workflow, version }) => {
      const key = `${workflow}@${version}`
      return [key, { name: workflow, key, able: nodes.filter((node) => mayRun(node, key)) }]
    }),
  )
  return pausesAmong(store, WORKFLOW_SETTING, [...wanted.values()])
}

/** Whether a node may run the workflow; a node that does not report its workflows is taken to. */
export function mayRun({ roles, runs }: NodeRow, key: string): boolean {
  return roles.includes('scheduler') && (runs?.workflows.includes(key) ?? true)
}

function serves({ roles, runs }: NodeRow, agent: string): boolean {
  return roles.includes('agent') && (runs?.actions.some((action) => action.startsWith(agent)) ?? true)
}

/** The pause that nodes report, with the author of its version; without a version in the store, it exists since the nodes began. */
async function toldPause(
  store: Pick<StateStore, 'settingChanges'>,
  name: string,
  { reason, setting, version }: PausedThere,
  told: readonly { startedAt: number }[],
): Promise<SettingPause> {
  const brought = await broughtBy(store, { setting, version })
  const began = Math.min(...told.map(({ startedAt }) => startedAt))
  return { setting, name, reason, actor: brought?.by ?? 'code', since: new Date(brought?.at ?? began) }
}

/** The author and time of a version of a setting; null: the store has none, so the value comes from code. */
export async function broughtBy(
  store: Pick<StateStore, 'settingChanges'>,
  { setting, version }: Pick<PausedThere, 'setting' | 'version'>,
): Promise<{ by: string; at: number } | null> {
  const [row] = version > 0 ? await store.settingChanges({ name: setting, before: version + 1, limit: 1 }) : []
  return row ? storedChange(row.change) : null
}

export function pauseText(what: 'agent' | 'workflow', { name, reason, since, actor }: SettingPause): string {
  return `${what} ${name} is paused since ${clock(since)} by ${actor}: ${reason}`
}

/** Text for a pause that applies to some of the nodes only; '' if it applies to none or all. */
export function partlyText(what: 'agent' | 'workflow', paused: NodePause | undefined): string {
  if (!paused || paused.everywhere) return ''
  return ` (on ${paused.on} of ${paused.of} nodes ${pauseText(what, paused.pause)})`
}
