import { type KnownSetting, OWN_SETTINGS, type Reading, type StoredValue } from '../definition/setting.ts'
import { TriarchError } from '../error/error.ts'
import { type SettingReader, type SettingState, versionFor } from '../policy/setting.ts'
import type { SettingRow } from '../store/port.ts'
import { storedSetting } from '../store/version.ts'
import { ownSetting } from './own.ts'

/** A version that this process cannot use. */
export interface RefusedVersion {
  name: string
  version: number
  error: unknown
}

/** The values of the settings that this process knows. */
export class Values {
  /** The last valid result of each policy that follows a setting. */
  readonly followed: WeakMap<object, object> = new WeakMap()
  readonly #known = new Map<string, KnownSetting>()
  readonly #readings = new Map<string, Reading>()
  readonly #states = new Map<string, SettingState>()
  /** Versions that were refused, by setting. */
  readonly #refused = new Map<string, number>()
  /** Revisions of settings whose row cannot be read, by setting. */
  readonly #illegible = new Map<string, number>()

  add(setting: KnownSetting): void {
    const known = this.#known.get(setting.name)
    if (known === setting) return
    if (known?.name.startsWith(OWN_SETTINGS)) return
    if (known) throw new TriarchError('DUPLICATE_DEFINITION', `setting "${setting.name}" is defined twice`)
    this.#known.set(setting.name, setting)
    this.#readings.set(setting.name, setting.resolve(null))
  }

  get names(): string[] {
    return [...this.#known.keys()]
  }

  known(name: string): KnownSetting | undefined {
    return this.#known.get(name)
  }

  /** The current value of a setting in this process. */
  reading<T>(setting: KnownSetting<T>): Reading<T> {
    return (this.#readings.get(setting.name) as Reading<T> | undefined) ?? setting.resolve(null)
  }

  /** The same by name; undefined: this process does not know the setting. */
  here(name: string): Omit<Reading, 'said'> | undefined {
    const setting = this.#known.get(name)
    if (!setting) return undefined
    const { said: _, ...reading } = this.reading(setting)
    return reading
  }

  state(name: string): SettingState | undefined {
    return this.#states.get(name)
  }

  /** Versions of the store that this process uses. */
  get versions(): Record<string, number> {
    const running = [...this.#readings].filter(([, { version }]) => version > 0)
    return Object.fromEntries(running.map(([name, { version }]) => [name, version]))
  }

  /** Settings with a canary value. */
  get tried(): [string, NonNullable<SettingState['trial']>][] {
    return [...this.#states].flatMap(([name, { trial }]) => (trial ? [[name, trial]] : []))
  }

  /** Takes the store's rows of all settings. A version that cannot be used leaves the last good value in place, and is reported once. */
  take(rows: readonly SettingRow[], reader: SettingReader | null): { changed: string[]; refused: RefusedVersion[] } {
    this.#states.clear()
    this.#illegible.clear()
    for (const { name, revision, state: text } of rows) {
      const stored = storedSetting(text)
      if (stored) this.#states.set(name, stored.state)
      else this.#illegible.set(name, revision)
      const own = ownSetting(name)
      if (own) this.add(own)
    }
    return this.judge(reader)
  }

  /** Chooses the values again, for another reader. */
  judge(reader: SettingReader | null): { changed: string[]; refused: RefusedVersion[] } {
    const changed: string[] = []
    const refused: RefusedVersion[] = []
    for (const [name, setting] of this.#known) {
      // A row that cannot be read was written by a newer version or is damaged; the last good value stays valid.
      const illegible = this.#illegible.get(name)
      if (illegible !== undefined) {
        const error = new TriarchError('INVALID_SETTING', 'what the store has of it cannot be read here')
        if (this.#refused.get(name) !== illegible) refused.push({ name, version: illegible, error })
        this.#refused.set(name, illegible)
        continue
      }
      const version = versionFor(this.#states.get(name) ?? { live: null, trial: null }, reader)
      const said: StoredValue | null = version && { version: version.version, value: version.value, from: 'store' }
      const had = this.#readings.get(name)
      if (had?.said?.from !== 'file' && (had?.version ?? 0) === (said?.version ?? 0) && sameValue(had?.said, said)) {
        this.#refused.delete(name)
        continue
      }
      try {
        this.#set(setting, setting.resolve(said))
        this.#refused.delete(name)
        changed.push(name)
      } catch (error) {
        if (this.#refused.get(name) !== said?.version) refused.push({ name, version: said?.version ?? 0, error })
        this.#refused.set(name, said?.version ?? 0)
      }
    }
    return { changed, refused }
  }

  /** Uses the values of the local file. A value that cannot be used is left out. */
  recall(said: Readonly<Record<string, { version: number; value: unknown }>>): string[] {
    const recalled: string[] = []
    for (const [name, setting] of this.#known) {
      const own = said[name]
      if (!own) continue
      try {
        this.#set(setting, setting.resolve({ version: own.version, value: own.value, from: 'file' }))
        recalled.push(name)
      } catch {
        // the layers below count
      }
    }
    return recalled
  }

  /** The values to be stored in the local file. */
  get remembered(): Record<string, { version: number; value: unknown }> {
    const said = [...this.#readings].flatMap(([name, { said }]): [string, { version: number; value: unknown }][] =>
      said ? [[name, { version: said.version, value: said.value }]] : [],
    )
    return Object.fromEntries(said)
  }

  #set(setting: KnownSetting, reading: Reading): void {
    this.#readings.set(setting.name, reading)
    setting.current = reading
  }
}

/** Compared by value, because a store that was restored from a backup issues version numbers twice. */
function sameValue(one: StoredValue | null | undefined, other: StoredValue | null): boolean {
  return JSON.stringify(one?.value) === JSON.stringify(other?.value)
}
