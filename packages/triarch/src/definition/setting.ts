import { TriarchError } from '../error/error.ts'
import { readJson } from '../value/json.ts'
import { encode } from '../value/payload.ts'
import { invalid, isSchema, type StandardSchema, validateSync } from '../value/schema.ts'

/**
 * Where a value comes from: the code, an environment variable, the store, or the local file with the last value read from the store.
 * @example const isOperators = (origin: SettingOrigin) => origin === 'store' || origin === 'file'
 */
export type SettingOrigin = 'default' | 'environment' | 'store' | 'file'

/**
 * A named, typed value that all nodes share, and that changes while they run.
 * @example
 * const limits = setting('payments.limits', schema, { amount: 10_000, perNode: 20 })
 * if (order.amount > limits.value.amount) throw new PermanentError('too much')
 */
export interface Setting<T = unknown> {
  /** Its name in the store. */
  readonly name: string
  /**
   * The current value, frozen. If there are several `Triarch` in one process, the one that was notified of a change last wins. Code of a
   * workflow must read it in a step, because a replay would get another value.
   */
  readonly value: T
  /** The version of the store's value; 0: the store has none. */
  readonly version: number
  /** The highest layer that has a value. */
  readonly origin: SettingOrigin
  /** The origin of each property of an object. */
  readonly origins: Readonly<Record<string, SettingOrigin>>
  /**
   * A policy of an agent or a workflow that is computed from the value, again with each change.
   * @example
   * const policy = limits.as(({ perNode }) => ({ concurrency: perNode }))
   * const payments = agent('payments', { policy })
   */
  as<P>(of: (value: T) => P): SettingPolicy<P>
}

/**
 * A policy that follows a setting.
 * @example const policy: SettingPolicy<AgentPolicy> = limits.as(({ perNode }) => ({ concurrency: perNode }))
 */
export interface SettingPolicy<P> {
  /** The setting that it follows. */
  readonly setting: Setting
  /** Computes the policy from a value. */
  readonly of: (value: never) => P
}

/**
 * The value of one layer.
 * @example const isCoded = ({ origin }: SettingLayer) => origin === 'default'
 */
export interface SettingLayer {
  /** Which layer it is. */
  readonly origin: SettingOrigin
  /** Its value; of an object, the properties that it sets. */
  readonly value: unknown
}

/** A value merged from its layers. */
export interface Reading<T = unknown> extends Omit<Setting<T>, 'name' | 'as'> {
  /** The layers, lowest first: each overrides those before it. */
  readonly layers: readonly SettingLayer[]
  /** The store's value, the last one that this process found valid. */
  readonly said: StoredValue | null
}

/** A value as read from the store. */
export interface StoredValue {
  readonly version: number
  readonly value: unknown
  readonly from: 'store' | 'file'
}

/** Largest value of a setting, in bytes of JSON: 65,536. */
export const LARGEST_SETTING = 65_536
const LONGEST_NAME = 150
/** Prefix of the engine's own settings. */
export const OWN_SETTINGS = 'triarch.'
/** Prefixes of the settings of agents and of workflows, before their names. */
export const AGENT_SETTING = 'triarch.agent.'
export const WORKFLOW_SETTING = 'triarch.workflow.'

const namePattern = /^[A-Za-z0-9][\w-]*(?:\.[\w-]+)*$/

/**
 * Defines a setting. An environment variable that is named after it (docs/concepts/settings.md) holds JSON that overrides the defaults. If
 * the setting is passed to `Triarch` in `settings`, the store's value overrides both. Throws INVALID_NAME; INVALID_SETTING, if the schema
 * refuses the defaults with the environment's values; INVALID_OPTION, if it is not a synchronous schema.
 * @example const limits = setting('payments.limits', schema, { amount: 10_000, perNode: 20 })
 */
export function setting<I, O>(name: string, schema: StandardSchema<I, O>, defaults: NoInfer<I>): Setting<O> {
  checkSettingName(name)
  if (name.startsWith(OWN_SETTINGS))
    throw new TriarchError('INVALID_NAME', `setting: names that begin with "${OWN_SETTINGS}" are the engine's own`)
  return new KnownSetting<O>(name, schema as StandardSchema<unknown, O>, defaults, process.env)
}

/** Returns the name of a setting if it is valid. Throws INVALID_NAME. */
export function checkSettingName(name: unknown): string {
  if (typeof name === 'string' && name.length <= LONGEST_NAME && namePattern.test(name)) return name
  throw new TriarchError(
    'INVALID_NAME',
    `a setting is named by up to ${LONGEST_NAME} letters, digits, "-" or "_", in parts with "." between them`,
  )
}

/** The definition of a setting, which merges its layers into a value. */
export class KnownSetting<T = unknown> implements Setting<T> {
  readonly name: string
  readonly #schema: StandardSchema<unknown, T>
  readonly #defaults: unknown
  readonly #environment: unknown
  /** The value in this process. */
  current: Reading<T>

  constructor(
    name: string,
    schema: StandardSchema<unknown, T> | StandardSchema<never, T>,
    defaults: unknown,
    environment: Readonly<Record<string, string | undefined>> = {},
  ) {
    if (!isSchema(schema))
      throw new TriarchError('INVALID_OPTION', `setting "${name}": give it a Standard Schema (zod, valibot, arktype …)`)
    this.name = name
    this.#schema = schema as StandardSchema<unknown, T>
    this.#defaults = encode(defaults, `setting "${name}": defaults`, LARGEST_SETTING)
    this.#environment = fromEnvironment(name, this.#defaults, environment)
    this.current = this.resolve(null)
  }

  get value(): T {
    return this.current.value
  }

  get version(): number {
    return this.current.version
  }

  get origin(): SettingOrigin {
    return this.current.origin
  }

  get origins(): Readonly<Record<string, SettingOrigin>> {
    return this.current.origins
  }

  as<P>(of: (value: T) => P): SettingPolicy<P> {
    return Object.freeze({ setting: this as Setting, of: of as (value: never) => P })
  }

  /** Merges the layers and checks the result. Throws INVALID_SETTING, INVALID_OPTION, UNSERIALISABLE, PAYLOAD_TOO_LARGE. */
  resolve(said: StoredValue | null): Reading<T> {
    const layers: [SettingOrigin, unknown][] = [['default', this.#defaults]]
    if (this.#environment !== undefined) layers.push(['environment', this.#environment])
    if (said) layers.push([said.from, encode(said.value, `setting "${this.name}"`, LARGEST_SETTING)])
    let merged: unknown
    let origins: Record<string, SettingOrigin> = {}
    let origin: SettingOrigin = 'default'
    for (const [from, layer] of layers) {
      const over = isObject(merged) && isObject(layer)
      merged = isObject(merged) && isObject(layer) ? { ...merged, ...layer } : layer
      const own = isObject(layer) ? Object.fromEntries(Object.keys(layer).map((key) => [key, from])) : {}
      origins = over ? { ...origins, ...own } : own
      origin = from
    }
    const what = `setting "${this.name}"`
    const verdict = validateSync(this.#schema, merged)
    if (verdict === 'async') throw new TriarchError('INVALID_OPTION', `${what}: its schema must answer at once`)
    if ('issues' in verdict) throw invalid(verdict, 'INVALID_SETTING', what)
    const value = frozen(verdict.value)
    const shown = layers.map(([from, layer]) => ({ origin: from, value: layer }))
    return { value, version: said?.version ?? 0, origin, origins: Object.freeze(origins), layers: shown, said }
  }
}

/** The definition of a setting. Throws INVALID_OPTION. */
export function knownSetting(what: string, given: unknown): KnownSetting {
  if (given instanceof KnownSetting) return given
  throw new TriarchError('INVALID_OPTION', `${what}: give what setting() returned`)
}

/** Returns the policy if it is one. Throws INVALID_OPTION. */
export function checkSettingPolicy<P>(what: string, policy: SettingPolicy<P>): SettingPolicy<P> {
  if (policy?.setting instanceof KnownSetting && typeof policy.of === 'function') return policy
  throw new TriarchError('INVALID_OPTION', `${what} must be what the as() of a setting returned`)
}

/** Reads the layer of the environment. Throws INVALID_SETTING if a variable is not JSON, or names no property of the defaults. */
function fromEnvironment(
  name: string,
  defaults: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  const variable = variableOf(name)
  const whole = environment[variable]
  let layer = whole === undefined || whole === '' ? undefined : jsonOf(variable, whole)
  const prefix = `${variable}__`
  const properties = new Map(
    isObject(defaults) ? Object.keys(defaults).map((key) => [prefix + constant(key), key]) : [],
  )
  for (const [one, text] of Object.entries(environment)) {
    if (!one.startsWith(prefix) || text === undefined || text === '') continue
    const property = properties.get(one)
    if (property === undefined) throw unknownProperty(name, one, [...properties.keys()])
    layer = { ...(isObject(layer) ? layer : {}), [property]: lenientJson(one, text) }
  }
  return layer
}

function unknownProperty(name: string, one: string, known: readonly string[]): TriarchError {
  const rule = known.length > 0 ? `known: ${known.join(', ')}` : 'its defaults are not an object'
  return new TriarchError(
    'INVALID_SETTING',
    `the environment variable ${one} names no property in the defaults of setting "${name}" (${rule})`,
  )
}

/** The environment variable of a setting. */
export function variableOf(name: string): string {
  return `TRIARCH_SETTING_${constant(name)}`
}

function constant(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]/g, '_')
    .toUpperCase()
}

function jsonOf(variable: string, text: string): unknown {
  const read = readJson(text)
  if (!('problem' in read)) return read.value
  throw new TriarchError('INVALID_SETTING', `the environment variable ${variable} must hold JSON: it ${read.message}`)
}

/** Parses JSON; a text that is not JSON is taken as a string. */
function lenientJson(variable: string, text: string): unknown {
  const read = readJson(text)
  if (!('problem' in read)) return read.value
  if (read.problem === 'syntax') return text
  throw new TriarchError('INVALID_SETTING', `the environment variable ${variable} ${read.message}`)
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return value
  for (const key of Object.keys(value)) frozen((value as Record<string, unknown>)[key])
  return Object.freeze(value)
}
