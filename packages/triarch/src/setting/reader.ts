import { OWN_SETTINGS } from '../definition/setting.ts'
import { Backoff } from '../environment/backoff.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { messageOf, TriarchError } from '../error/error.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { SettingReader } from '../policy/setting.ts'
import type { SettingRow, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import type { SettingFile } from './file.ts'
import type { Values } from './values.ts'

export interface ReaderOptions {
  environment: Environment
  store: Pick<StateStore, 'settings'>
  values: Values
  /** Null: no values are kept on this machine. */
  file: SettingFile | null
  labels: Readonly<Record<string, string>>
  /** Called after each change in this process. */
  taken: () => void
  telemetry: Telemetry
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

/** The mark of a store without settings. */
const NO_SETTINGS = '0:0:0'
/** Number of names in one query. */
const PORTION = 500
/** Wait after a failure before the store is queried again: the first, and the longest (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 2_000

/** Reads the store's settings into this process: when it opens, and when a poll finds another mark. */
export class SettingsReader {
  readonly #options: ReaderOptions
  readonly labels: Readonly<Record<string, string>>
  /** Called after a change, so that the node reports its versions. */
  changed: () => void = () => undefined
  /** Called after each reading. */
  seen: () => void = () => undefined
  /** The node of this process; null: it has none. */
  #node: string | null = null
  #mark: string | null = null
  #wanted: string | null = null
  #reading: Promise<void> | null = null
  #again = false
  #busy = false
  #retry: Timer | null = null
  readonly #backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  #readAt = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(options: ReaderOptions) {
    this.#options = options
    this.labels = options.labels
  }

  /** Time since the store was last queried, by the monotonic clock (ms). */
  get age(): number {
    return this.#options.environment.monotonic() - this.#readAt
  }

  /** Uses the values of the local file until the store has answered. */
  recall(): void {
    const { file, values, alert, failed } = this.#options
    try {
      const recalled = values.recall(file?.read() ?? {})
      if (recalled.length === 0) return
      const message = `${recalled.length} settings are as the local file has them, until the store answers: ${recalled.slice(0, 5).join(', ')}`
      // Deferred, so that the creator of this process can subscribe to alerts first.
      void Promise.resolve().then(() => {
        if (!this.#read) alert({ code: 'SETTINGS_RECALLED', cause: 'setting', message })
      })
    } catch (error) {
      failed(typed('the settings that were kept on this machine could not be read', error))
    }
  }

  get #read(): boolean {
    return this.#readAt !== Number.NEGATIVE_INFINITY
  }

  /** Sets the node of this process; null: it is none. */
  become(node: string | null): void {
    this.#node = node
    const { values } = this.#options
    if (this.#read) this.#tell(values.judge(this.#me))
  }

  /** Takes the mark that a poll returned, and reads the settings if it changed. Without a mark, something seems to have changed. */
  look(mark?: string): void {
    if (mark !== undefined && this.#isKnown(mark)) return
    if (mark !== undefined) this.#wanted = mark
    this.wake()
  }

  /** Resolves when the settings are as of the mark. Rejects with STORE_*. */
  async meet(mark: string): Promise<void> {
    if (this.#isKnown(mark)) return
    this.#wanted = mark
    await this.read()
  }

  #isKnown(mark: string): boolean {
    if (this.#mark === null && mark === NO_SETTINGS) {
      this.#mark = mark
      this.#took([])
    }
    if (mark !== this.#mark) return false
    this.#readAt = this.#options.environment.monotonic()
    return true
  }

  wake(): void {
    if (this.#closed) return
    this.#again = true
    if (this.#reading !== null || this.#busy || this.#retry !== null) return
    this.#busy = true
    void this.#rounds().finally(() => {
      this.#busy = false
    })
  }

  /** Reads the settings now. Rejects with STORE_*. */
  async read(): Promise<void> {
    while (this.#reading !== null) await this.#reading.catch(() => undefined)
    await this.#once()
  }

  close(): void {
    this.#closed = true
    this.#retry?.cancel()
  }

  async #rounds(): Promise<void> {
    const { environment, failed } = this.#options
    while (this.#again && !this.#closed) {
      this.#again = false
      try {
        await this.#once()
        this.#backoff.reset()
      } catch (error) {
        if (this.#closed) return
        failed(error)
        this.#retry = environment.timer(this.#backoff.next(), () => {
          this.#retry = null
          this.wake()
        })
        return
      }
    }
  }

  #once(): Promise<void> {
    this.#reading = this.#all().finally(() => {
      this.#reading = null
      if (this.#again) this.wake()
    })
    return this.#reading
  }

  async #all(): Promise<void> {
    const { environment, store, values } = this.#options
    const asked = environment.monotonic()
    // Taken before the rows are read: a change during the reading leads to another mark.
    const mark = this.#wanted
    const names = values.names.filter((name) => !name.startsWith(OWN_SETTINGS))
    const rows = await this.#own()
    for (let from = 0; from < names.length; from += PORTION)
      rows.push(...(await store.settings({ names: names.slice(from, from + PORTION) })))
    this.#mark = mark
    this.#readAt = asked
    this.#took(rows)
  }

  #took(rows: readonly SettingRow[]): void {
    this.#tell(this.#options.values.take(rows, this.#me))
    this.seen()
  }

  /** All of the engine's own settings. Unlike others, they are not known by name before, because any agent may have one. */
  async #own(): Promise<SettingRow[]> {
    const { store } = this.#options
    const found: SettingRow[] = []
    for (let after = OWN_SETTINGS; ; ) {
      const rows = await store.settings({ after, limit: PORTION })
      found.push(...rows.filter(({ name }) => name.startsWith(OWN_SETTINGS)))
      after = rows.at(-1)?.name ?? ''
      if (rows.length < PORTION || !after.startsWith(OWN_SETTINGS)) return found
    }
  }

  get #me(): SettingReader | null {
    return this.#node === null ? null : { id: this.#node, labels: this.labels }
  }

  #tell({ changed, refused }: ReturnType<Values['take']>): void {
    const { environment, values, telemetry, alert, file, failed } = this.#options
    const { setting } = telemetry
    for (const { name, version, error } of refused) {
      const message = `version ${version} of setting "${name}" cannot be run here, and the value before it is kept: ${messageOf(error)}`
      alert({ code: 'SETTING_REFUSED', ...(this.#node !== null && { node: this.#node }), cause: 'setting', message })
    }
    if (setting.open)
      for (const name of changed) {
        const known = values.known(name)
        const { version = 0, origin = 'default' } = known ? values.reading(known) : {}
        setting.tell({ at: environment.now(), node: this.#node, setting: name, version, origin })
      }
    if (changed.length === 0) return
    try {
      file?.write(values.remembered)
    } catch (error) {
      failed(typed('the settings could not be kept on this machine', error))
    }
    this.#options.taken()
    this.changed()
  }
}

/** An error of the file system as a typed one. */
function typed(message: string, error: unknown): TriarchError {
  return error instanceof TriarchError ? error : new TriarchError('INVALID_SETTING', message, { cause: error })
}
