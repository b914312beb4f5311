import { AGENT_SETTING, isObject, WORKFLOW_SETTING } from '../definition/setting.ts'
import type { SettingVersion } from '../policy/setting.ts'
import type { NodeRow, PausedThere, SettingChangeRow, SettingRow, StateStore } from '../store/port.ts'
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
  /** Who said so first; `code`: nobody, for it is what the defaults or the environment of nodes make. */
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

/** A pause as the nodes have it that could do what it is about. */
export interface NodePause {
  pause: SettingPause
  /** All of them, and not only some: nothing of it begins. */
  everywhere: boolean
  /** How many nodes say so, and of how many. */
  on: number
  of: number
}

/** What is looked for: its name, its key in what nodes tell of themselves, and the nodes that could do it. */
interface Pausable {
  name: string
  key: string
  able: readonly NodeRow[]
}

/**
 * What is paused of these, by their keys. For all by the engine's own setting, as the store has it; else as nodes say of themselves: by what
 * their code makes of a setting, by their environment, or by what is on trial there.
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

/** Of these agents, by their names. */
export function agentPauses(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  names: readonly string[],
  nodes: readonly NodeRow[],
): Promise<ReadonlyMap<string, NodePause>> {
  const wanted = names.map((name) => ({ name, key: name, able: nodes.filter((node) => serves(node, `${name}.`)) }))
  return pausesAmong(store, AGENT_SETTING, wanted)
}

/** Of these versions of workflows, by `name@version`. */
export function workflowPauses(
  store: Pick<StateStore, 'settings' | 'settingChanges'>,
  versions: readonly { workflow: string; version: string }[],
  nodes: readonly NodeRow[],
): Promise<ReadonlyMap<string, NodePause>> {
  const wanted = new Map(
    versions.map(({ workflow, version }) => {
      const key = `${workflow}@${version}`
      return [key, { name: workflow, key, able: nodes.filter((node) => schedules(node, key)) }]
    }),
  )
  return pausesAmong(store, WORKFLOW_SETTING, [...wanted.values()])
}

/** A node that does not say what it runs may well run it. */
export function schedules({ roles, runs }: NodeRow, key: string): boolean {
  return roles.includes('scheduler') && (runs?.workflows.includes(key) ?? true)
}

function serves({ roles, runs }: NodeRow, agent: string): boolean {
  return roles.includes('agent') && (runs?.actions.some((action) => action.startsWith(agent)) ?? true)
}

/** Who brought the version that nodes run; where the store says nothing of it, it has been so since they began. */
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

/** Who brought this version of a setting, and when; null: the store says nothing of it, so it is what the code makes. */
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

/** That only some nodes keep it from beginning; nothing where none do. */
export function partlyText(what: 'agent' | 'workflow', paused: NodePause | undefined): string {
  if (!paused || paused.everywhere) return ''
  return ` (on ${paused.on} of ${paused.of} nodes ${pauseText(what, paused.pause)})`
}
