import type {
  SettingChange,
  SettingChangeOptions,
  SettingHistory,
  SettingHistoryOptions,
  SettingInfo,
  SettingPage,
  SettingSetOptions,
} from 'triarch'
import { type SettingCollection, type SettingHandle, TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { pageQuery } from './page.ts'
import { array, dated, object, text } from './shape.ts'
import { duration, encode, query, segment } from './value.ts'

/**
 * A setting on a server. A change whose answer was lost is not sent again, for it would be another version: SERVER_UNREACHABLE,
 * STORE_UNANSWERED.
 */
class RemoteSetting<T> implements SettingHandle<T> {
  readonly name: string
  readonly #exchange: Exchange
  readonly #path: string

  constructor(exchange: Exchange, of: string | { readonly name: string }) {
    const name = typeof of === 'string' ? of : of?.name
    if (typeof name !== 'string' || name === '')
      throw new TriarchError('INVALID_OPTION', 'setting: give a setting, or its name')
    this.name = name
    this.#exchange = exchange
    this.#path = `/settings/${segment('the name of a setting', name)}`
  }

  info(): Promise<SettingInfo<Partial<T>>> {
    return this.#exchange.ask({ method: 'GET', path: this.#path, read: (body) => settingInfo<T>(body) })
  }

  async history(options: SettingHistoryOptions = {}): Promise<SettingHistory> {
    const { cursor, limit, ...rest } = options
    known('history', rest)
    return this.#exchange.ask({
      ...{ method: 'GET', path: `${this.#path}/history${query({ cursor, limit })}` },
      read(body) {
        const page = object(body)
        return { ...page, changes: array(page.changes, settingChange) }
      },
    })
  }

  async set(value: Partial<T> | T, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>> {
    return this.#ask('PUT', '', { value, ...setOptions('set', options) })
  }

  async change(part: { [K in keyof T]?: T[K] | null }, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>> {
    return this.#ask('POST', '/change', { part, ...setOptions('change', options) })
  }

  async advance(options: SettingChangeOptions & { all?: boolean }): Promise<SettingInfo<Partial<T>>> {
    const { all, ...rest } = options ?? {}
    return this.#ask('POST', '/advance', { all, ...word('advance', rest) })
  }

  async rollback(options: SettingChangeOptions & { to?: number }): Promise<SettingInfo<Partial<T>>> {
    const { to, ...rest } = options ?? {}
    return this.#ask('POST', '/rollback', { to, ...word('rollback', rest) })
  }

  async clear(options: SettingChangeOptions): Promise<SettingInfo<Partial<T>>> {
    return this.#ask('POST', '/clear', word('clear', options))
  }

  #ask(method: 'PUT' | 'POST', path: string, body: object): Promise<SettingInfo<Partial<T>>> {
    const what = `setting "${this.name}"`
    const call = { method, path: this.#path + path, body: encode(what, body), once: true }
    return this.#exchange.ask({ ...call, read: (answer) => settingInfo<T>(answer) })
  }
}

export function settingCollection(exchange: Exchange): SettingCollection {
  return {
    get: (of) => new RemoteSetting(exchange, of),
    list: async (options = {}) => exchange.get(`/settings${pageQuery('settings.list', options)}`, settingPage),
  }
}

function word(what: string, options: Partial<SettingChangeOptions>): object {
  const { reason, actor, expected, ...rest } = options ?? {}
  known(what, rest)
  return { reason, actor, expected }
}

function setOptions(what: string, options: SettingSetOptions): object {
  const { stages, guards, ...rest } = options ?? {}
  if (stages !== undefined && !Array.isArray(stages))
    throw new TriarchError('INVALID_OPTION', `${what}: stages must be an array`)
  const sent = stages?.map((stage) => ({
    ...stage,
    ...(stage?.lasts !== undefined && { lasts: duration(`${what}: lasts`, stage.lasts) }),
  }))
  return { ...word(what, rest), guards, stages: sent }
}

/** Undefined is not said in JSON. */
function settingPage(value: unknown): SettingPage {
  const page = object(value)
  return { ...page, settings: array(page.settings, settingInfo) }
}

function settingInfo<T>(value: unknown): SettingInfo<Partial<T>> {
  const { live, trial, here, ...rest } = object(value)
  text(rest.name)
  array(rest.nodes, object)
  return {
    ...rest,
    here: here === undefined ? undefined : object(here),
    live: live === undefined ? undefined : dated(live, 'at'),
    trial: trial === undefined ? undefined : { until: undefined, ...dated(trial, 'at', 'since', 'until') },
  } as unknown as SettingInfo<Partial<T>>
}

function settingChange(value: unknown): SettingChange {
  const change = dated(value, 'at')
  text(change.move)
  return { version: undefined, ...change } as unknown as SettingChange
}
