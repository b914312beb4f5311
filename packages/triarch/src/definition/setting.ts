import { TriarchError } from '../error/error.ts'
import { readJson } from '../value/json.ts'
import { encode } from '../value/payload.ts'
import { invalid, isSchema, type StandardSchema, validateSync } from '../value/schema.ts'

/**
 * Where a value comes from: the code, an environment variable, the store; or the local file with what the store had when it was last in reach.
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
   * What it is now, frozen. Of several `Triarch` in one process the one that heard of a change last counts. In the code of a workflow it is read in a
   * step, since a replay would find another one.
   */
  readonly value: T
  /** Which version of the store it is; 0: the store says nothing. */
  readonly version: number
  /** The highest layer that says anything. */
  readonly origin: SettingOrigin
  /** The same for each property of an object. */
  readonly origins: Readonly<Record<string, SettingOrigin>>
  /**
   * What an agent, or a workflow, makes of it: evaluated anew with each change.
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
  /** What a value of it means. */
  readonly of: (value: never) => P
}

/**
 * What one layer says.
 * @example const isCoded = ({ origin }: SettingLayer) => origin === 'default'
 */
export interface SettingLayer {
  /** Which layer it is. */
  readonly origin: SettingOrigin
  /** What it says: of an object, what it says of its properties. */
  readonly value: unknown
}

/** A value with its layers put together. */
export interface Reading<T = unknown> extends Omit<Setting<T>, 'name' | 'as'> {
  /** The layers, the lowest first: each lies over those before it. */
  readonly layers: readonly SettingLayer[]
  /** As the store has it: what this process last knew to be good. */
  readonly said: Said | null
}

/** What a store said. */
export interface Said {
  readonly version: number
  readonly value: unknown
  readonly from: 'store' | 'file'
}

/** Bytes of JSON of a value: 65,536. */
export const LARGEST_SETTING = 65_536
const LONGEST_NAME = 150
/** What the engine's own begin with. */
export const OWN_SETTINGS = 'triarch.'
/** Before the name of an agent, or of a workflow. */
export const AGENT_SETTING = 'triarch.agent.'
export const WORKFLOW_SETTING = 'triarch.workflow.'

const namePattern = /^[A-Za-z0-9][\w-]*(?:\.[\w-]+)*$/

/**
 * Defines a setting. An environment variable that is named after it (docs/concepts/settings.md) holds JSON that is laid over the defaults. Give the setting to `Triarch` as one of its `settings`, and the store counts as well.
 * Throws INVALID_NAME; INVALID_SETTING, if the schema refuses what defaults and environment make; INVALID_OPTION, if it is no schema that
 * answers at once.
 * @example const limits = setting('payments.limits', schema, { amount: 10_000, perNode: 20 })
 */
export function setting<I, O>(name: string, schema: StandardSchema<I, O>, defaults: NoInfer<I>): Setting<O> {
  checkSettingName(name)
  if (name.startsWith(OWN_SETTINGS))
    throw new TriarchError('INVALID_NAME', `setting: names that begin with "${OWN_SETTINGS}" are the engine's own`)
  return new KnownSetting<O>(name, schema as StandardSchema<unknown, O>, defaults, process.env)
}

/** Throws INVALID_NAME. */
export function checkSettingName(name: unknown): string {
  if (typeof name === 'string' && name.length <= LONGEST_NAME && namePattern.test(name)) return name
  throw new TriarchError(
    'INVALID_NAME',
    `a setting is named by up to ${LONGEST_NAME} letters, digits, "-" or "_", in parts with "." between them`,
  )
}

/** A definition: what makes a value of its layers. */
export class KnownSetting<T = unknown> implements Setting<T> {
  readonly name: string
  readonly #schema: StandardSchema<unknown, T>
  readonly #defaults: unknown
  readonly #environment: unknown
  /** What the process as a whole takes for its value. */
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

  /** The layers put together, and checked. Throws INVALID_SETTING, INVALID_OPTION, UNSERIALISABLE, PAYLOAD_TOO_LARGE. */
  resolve(said: Said | null): Reading<T> {
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

/** The definition behind it. Throws INVALID_OPTION. */
export function knownSetting(what: string, given: unknown): KnownSetting {
  if (given instanceof KnownSetting) return given
  throw new TriarchError('INVALID_OPTION', `${what}: give what setting() returned`)
}

/** The policy itself. Throws INVALID_OPTION. */
export function checkSettingPolicy<P>(what: string, policy: SettingPolicy<P>): SettingPolicy<P> {
  if (policy?.setting instanceof KnownSetting && typeof policy.of === 'function') return policy
  throw new TriarchError('INVALID_OPTION', `${what} must be what the as() of a setting returned`)
}

/** Throws INVALID_SETTING: what stands there is no JSON, or names a property that the defaults do not have. */
function fromEnvironment(
  name: string,
  defaults: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  const variable = variableOf(name)
  const whole = environment[variable]
  let layer = whole === undefined || whole === '' ? undefined : jsonOf(variable, whole)
  if (!isObject(defaults)) return layer
  for (const property of Object.keys(defaults)) {
    const one = `${variable}__${constant(property)}`
    const text = environment[one]
    if (text === undefined || text === '') continue
    layer = { ...(isObject(layer) ? layer : {}), [property]: lenientJson(one, text) }
  }
  return layer
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

/** A text that is no JSON stands for itself. */
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
