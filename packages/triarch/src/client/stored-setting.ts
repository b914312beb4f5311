import { isObject, KnownSetting, type Setting } from '../definition/setting.ts'
import type { Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import {
  advanced,
  NEW_SETTING,
  proposed,
  type SettingReader,
  type SettingState,
  type SettingVersion,
  withdrawn,
} from '../policy/setting.ts'
import { changeSetting, type Decided, type ReadSetting } from '../setting/change.ts'
import { ownSetting } from '../setting/own.ts'
import type { Values } from '../setting/values.ts'
import type { NodeRow, StateStore } from '../store/port.ts'
import { storedChange, storedSetting } from '../store/version.ts'
import { checkInteger, checkOptions, HIGHEST_NUMBER } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { changeInfo, type SettingInfo, settingNodes, trialInfo, versionInfo } from '../view/setting.ts'
import { actor as acting, entryOf } from './act.ts'
import type { Connection } from './connection.ts'
import { livingNodes } from './inventory.ts'
import type {
  SettingChangeOptions,
  SettingCollection,
  SettingHandle,
  SettingHistory,
  SettingHistoryOptions,
  SettingSetOptions,
} from './setting.ts'
import { checkGuards, stagesOf } from './stage.ts'

/** What a handle needs from its process. */
interface SettingDeps {
  store: StateStore
  opened: () => Promise<void>
  /** The definition; undefined: this process does not know it. */
  known: (name: string) => KnownSetting | undefined
  here: (name: string) => SettingInfo['here']
  living: () => Promise<NodeRow[]>
  id: () => string
  environment: Pick<Environment, 'now'>
  /** Called after a change by this process. */
  changed: () => Promise<void>
}

const LONGEST_REASON = 1_000
const MOST_CHANGES = 1_000

/** A setting in the store, by name. */
class StoredSettingHandle<T = unknown> implements SettingHandle<T> {
  readonly name: string
  readonly #means: SettingDeps

  constructor(means: SettingDeps, given: string | Setting<T>) {
    this.name = checkText('setting: name', given instanceof KnownSetting ? given.name : given, 200)
    this.#means = means
  }

  async info(): Promise<SettingInfo<Partial<T>>> {
    const { opened, store, living, here } = this.#means
    await opened()
    const [row] = await store.settings({ names: [this.name] })
    const known = here(this.name)
    if (!row && known === undefined) throw this.#unknown()
    return settingInfo(this.name, row, known, await living()) as SettingInfo<Partial<T>>
  }

  async history(options: SettingHistoryOptions = {}): Promise<SettingHistory> {
    checkOptions('history', options, ['cursor', 'limit'])
    const { cursor = null, limit = 100 } = options
    checkInteger('history: limit', limit, 1, MOST_CHANGES)
    if (cursor !== null) checkInteger('history: cursor', cursor, 1, HIGHEST_NUMBER)
    await this.#means.opened()
    const rows = await this.#means.store.settingChanges({ name: this.name, before: cursor, limit: limit + 1 })
    const last = rows[limit - 1]
    const changes = rows.slice(0, limit).flatMap((row) => changeInfo(row) ?? [])
    return { changes, ...(rows.length > limit && last && { next: last.revision }) }
  }

  set(value: Partial<T> | T, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>> {
    return this.#propose('set', options, () => value)
  }

  change(part: { [K in keyof T]?: T[K] | null }, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>> {
    return this.#propose('change', options, ({ live }, isIllegible) => {
      if (isIllegible) {
        const message = `what the store has of setting "${this.name}" cannot be read here: set all of it`
        throw new TriarchError('INVALID_SETTING', message)
      }
      const before = live && isObject(live.value) ? live.value : {}
      return Object.fromEntries(
        Object.entries({ ...before, ...part }).filter(([, one]) => one !== null && one !== undefined),
      )
    })
  }

  async advance({
    all = false,
    ...options
  }: SettingChangeOptions & { all?: boolean }): Promise<SettingInfo<Partial<T>>> {
    return this.#write('advance', options, async ({ state: stored, now, living }) => {
      if (!stored.trial) throw new TriarchError('SETTING_CHANGED', `nothing of setting "${this.name}" is on trial`)
      const state = advanced(stored, now, living, all)
      const { version } = stored.trial.candidate
      return { state, move: state.trial ? 'advanced' : 'completed', version }
    })
  }

  async rollback({ to, ...options }: SettingChangeOptions & { to?: number }): Promise<SettingInfo<Partial<T>>> {
    if (to !== undefined) checkInteger('rollback: to', to, 1, HIGHEST_NUMBER)
    return this.#write('rollback', options, async ({ state: stored, revision, now }) => {
      if (to === undefined && stored.trial)
        return { state: withdrawn(stored), move: 'withdrawn', version: stored.trial.candidate.version }
      const { value } = await this.#earlier(stored, to)
      const version: SettingVersion = { version: revision + 1, value, at: now, ...wordOf(options) }
      this.#checked(value, version.version)
      return { state: { live: version, trial: null }, move: 'rolled-back', version: version.version, value }
    })
  }

  clear(options: SettingChangeOptions): Promise<SettingInfo<Partial<T>>> {
    return this.#write('clear', options, async () => ({ state: NEW_SETTING, move: 'cleared', version: null }))
  }

  async #propose(
    what: string,
    { stages = [], guards = [], ...options }: SettingSetOptions,
    make: (state: SettingState, isIllegible: boolean) => unknown,
  ): Promise<SettingInfo<Partial<T>>> {
    const plan = { stages: stagesOf(what, stages), guards: checkGuards(what, guards) }
    return this.#write(what, options, async ({ state: stored, isIllegible, revision, now, living }) => {
      const value = this.#checked(make(stored, isIllegible), revision + 1)
      const version: SettingVersion = { version: revision + 1, value, at: now, ...wordOf(options) }
      const state = proposed(stored, version, plan, living)
      return { state, move: state.trial ? 'staged' : 'set', version: version.version, value }
    })
  }

  /** Checks the value and returns it in the form in which it is stored. */
  #checked(value: unknown, version: number): unknown {
    const known = this.#means.known(this.name) ?? ownSetting(this.name)
    if (!known) throw this.#unknown()
    return known.resolve({ version, value, from: 'store' }).said?.value
  }

  /** The value of version `to`, or of the version before the present one. */
  async #earlier({ live }: SettingState, to: number | undefined): Promise<{ value: unknown }> {
    const before = to === undefined ? (live?.version ?? null) : to + 1
    for (let last = before; ; ) {
      const rows = await this.#means.store.settingChanges({ name: this.name, before: last, limit: 100 })
      for (const { change: text } of rows) {
        const change = storedChange(text)
        if (change && 'value' in change && (to === undefined || change.version === to)) return { value: change.value }
      }
      last = rows.at(-1)?.revision ?? 0
      if (rows.length < 100 || (to !== undefined && last <= to)) break
    }
    const missing = to === undefined ? 'earlier version: clear() goes back to what the code says' : `version ${to}`
    throw new TriarchError('UNKNOWN_SETTING', `setting "${this.name}" has no ${missing}`)
  }

  async #write(
    what: string,
    options: SettingChangeOptions,
    decide: (seen: ReadSetting & { living: readonly SettingReader[] }) => Promise<Decided>,
  ): Promise<SettingInfo<Partial<T>>> {
    const { expected } = checkWord(what, options)
    const { store, opened, living, id, environment, changed } = this.#means
    await opened()
    const { by: actor, reason } = wordOf(options)
    const act = { action: `setting.${what}`, subject: `setting:${this.name}`, reason, actor }
    const audit = (details: { move: string; version: number | null; revision: number }) =>
      entryOf({ now: () => environment.now(), id }, { ...act, details })
    await changeSetting(store, { name: this.name, by: actor, reason, id, audit }, async (seen) => {
      const { revision } = seen
      if (expected === undefined || expected === revision) return decide({ ...seen, living: readersOf(await living()) })
      const message = `setting "${this.name}" is at revision ${revision}, not ${expected}`
      throw new TriarchError('SETTING_CHANGED', message, { details: { revision } })
    })
    await changed()
    return this.info()
  }

  #unknown(): TriarchError {
    return new TriarchError('UNKNOWN_SETTING', `this process knows no setting "${this.name}"`)
  }
}

export function settingInfo(
  name: string,
  row: { revision: number; state: string } | undefined,
  here: SettingInfo['here'],
  living: readonly NodeRow[],
): SettingInfo {
  const state = (row && storedSetting(row.state)?.state) ?? NEW_SETTING
  const nodes = settingNodes(name, state, living)
  return {
    ...{ name, revision: row?.revision ?? 0, live: state.live ? versionInfo(state.live) : undefined },
    ...{ trial: trialInfo(state), here, nodes },
    drift: nodes.some(({ version, expected }) => version !== expected),
  }
}

/** The settings in the store, and those that this process knows. `changed`: called after a change by this process. */
export function settingCollection(
  connection: Connection,
  values: Values,
  changed: () => Promise<void>,
): SettingCollection {
  const { store, environment } = connection
  const means: SettingDeps = {
    store,
    opened: () => connection.opened(),
    known: (name) => values.known(name),
    here: (name) => values.here(name),
    living: () => livingNodes(connection),
    id: () => environment.id(),
    environment,
    changed,
  }
  return {
    get: (of) => new StoredSettingHandle(means, of),
    async list(options = {}) {
      checkOptions('settings.list', options, ['cursor', 'limit'])
      const { cursor: after = '', limit = 100 } = options
      checkInteger('settings.list: limit', limit, 1, MOST_CHANGES)
      checkText('settings.list: cursor', after, 200)
      await connection.opened()
      const [rows, nodes] = await Promise.all([store.settings({ after, limit: limit + 1 }), means.living()])
      const byName = new Map(rows.map((row) => [row.name, row]))
      const last = rows.length > limit ? rows.at(-1)?.name : undefined
      const others = values.names.filter((name) => name > after && (last === undefined || name <= last))
      const names = [...new Set([...byName.keys(), ...others])].sort()
      const settings = names.slice(0, limit).map((name) => {
        return settingInfo(name, byName.get(name), values.here(name), nodes)
      })
      const next = names.length > limit ? settings.at(-1)?.name : undefined
      return { settings, ...(next !== undefined && { next }) }
    },
  }
}

/** Living nodes as readers of settings. */
function readersOf(nodes: readonly NodeRow[]): SettingReader[] {
  return nodes.map(({ id, runs }) => ({ id, labels: runs?.labels ?? {} }))
}

function wordOf({ reason, actor = acting() ?? 'operator' }: SettingChangeOptions): { by: string; reason: string } {
  return { by: actor, reason }
}

function checkWord(what: string, options: SettingChangeOptions): SettingChangeOptions {
  checkOptions(what, options ?? null, ['reason', 'actor', 'expected'])
  const { reason, actor, expected } = options
  if (reason === undefined || reason === '') throw new TriarchError('INVALID_OPTION', `${what}: give a reason`)
  checkText(`${what}: reason`, reason, LONGEST_REASON)
  if (actor !== undefined) checkText(`${what}: actor`, actor, 200)
  if (expected !== undefined) checkInteger(`${what}: expected`, expected, 0, HIGHEST_NUMBER)
  return options
}
