import { createHash } from 'node:crypto'
import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { atOnce } from '../value/answer.ts'
import { type Duration, milliseconds, positiveMilliseconds } from '../value/duration.ts'
import type { StatedInvalidation } from '../value/invalidation.ts'
import { checkFunction, checkOptions } from '../value/options.ts'
import { encode } from '../value/payload.ts'
import { isIdentifier } from '../value/text.ts'

/**
 * How long the answers of an action are reused, and by which processes.
 * @example
 * const cache: CacheOptions<string> = { ttl: '10m', staleWhileRevalidate: '1h', negative: '30s' }
 */
export interface CacheOptions<I = unknown> {
  /** How long an answer is fresh: a millisecond to ten years. */
  ttl: Duration
  /**
   * The part of the input that identifies the answer; inputs are the same if they are equal as JSON, whatever the order of their fields;
   * the whole input. Must answer synchronously, with a JSON value: an attempt with anything else (undefined, NaN, a promise) fails.
   */
  key?(input: I): unknown
  /** How long after its `ttl` an answer is still used while a new one is requested; 0. */
  staleWhileRevalidate?: Duration
  /** Share of the `ttl` that is at most taken off at random, so that answers of one moment do not expire together: 0 to 1; 0.1. */
  jitter?: number
  /** How long a permanent error is reused as an answer; 0: never. */
  negative?: Duration
  /**
   * `process`: answers are kept in the memory of this process; `shared`: all nodes share them. Data that the action marks as secret is
   * never shared.
   */
  scope?: 'process' | 'shared'
  /** Names by which answers are invalidated together, besides that of the action: up to 20 strings of 1 to 200 characters; none. */
  tags?(input: I): readonly string[]
}

/** The checked options. */
export interface CachePolicy {
  readonly ttl: number
  readonly stale: number
  readonly jitter: number
  readonly negative: number
  readonly shared: boolean
  /**
   * The key under which the answer to an input is kept. Throws what the user's functions throw, INVALID_OPTION, UNSERIALISABLE,
   * PAYLOAD_TOO_LARGE.
   */
  keyOf(input: Json): CacheKey
}

/** Identifies an answer without revealing the input. */
export interface CacheKey {
  readonly digest: string
  /** Names by which the answer is invalidated: its own, its action's and its tags'. */
  readonly names: readonly string[]
}

const MOST_TAGS = 20

/** Checks the options of a cache. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function toCachePolicy(action: string, options: CacheOptions, secrets: readonly string[] = []): CachePolicy {
  const what = `${action}: cache`
  const names = ['ttl', 'key', 'staleWhileRevalidate', 'jitter', 'negative', 'scope', 'tags'] as const
  checkOptions(what, options ?? null, names)
  const { key, jitter = 0.1, scope = 'shared', tags } = options
  if (key !== undefined) checkFunction(`${what}.key`, key)
  if (tags !== undefined) checkFunction(`${what}.tags`, tags)
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1))
    throw new TriarchError('INVALID_OPTION', `${what}.jitter must be a number from 0 to 1`)
  if (scope !== 'shared' && scope !== 'process')
    throw new TriarchError('INVALID_OPTION', `${what}.scope must be 'shared' or 'process'`)
  return {
    ttl: positiveMilliseconds(options.ttl, `${what}.ttl`),
    stale: milliseconds(options.staleWhileRevalidate ?? 0, `${what}.staleWhileRevalidate`),
    jitter,
    negative: milliseconds(options.negative ?? 0, `${what}.negative`),
    shared: scope === 'shared' && secrets.length === 0,
    keyOf(input) {
      const own = key === undefined ? input : keyIn(what, key.call(options, input))
      const found = tags === undefined ? [] : tagsOf(what, atOnce(tags.call(options, input)))
      const { digest, name } = cacheName(action, own)
      return { digest, names: [name, actionName(action), ...found] }
    },
  }
}

/** Largest key, in bytes of JSON. */
const LARGEST_KEY = 1024 * 1024

/** Refuses keys that JSON would drop or distort, because all callers would get the same answer. */
function keyIn(what: string, key: unknown): Json {
  if (key === undefined) throw new TriarchError('INVALID_OPTION', `${what}.key must return something: null is a key`)
  return encode(key, `${what}.key`, LARGEST_KEY)
}

/** The digest of a key, and the name by which its answer is invalidated. Throws INVALID_OPTION. */
export function cacheName(action: string, key: unknown): { digest: string; name: string } {
  const digest = createHash('sha256')
    .update(`${action}\0${canonical(action, key, 0)}`)
    .digest('base64url')
  return { digest, name: `k:${digest}` }
}

/** The name by which all answers of the action are invalidated. */
export function actionName(action: string): string {
  return `a:${action}`
}

/** The name by which all answers with the tag are invalidated. Throws INVALID_OPTION. */
export function tagName(tag: string): string {
  if (isIdentifier(tag)) return `t:${tag}`
  throw new TriarchError('INVALID_OPTION', 'cache: a tag must be a string of 1 to 200 characters')
}

function tagsOf(what: string, tags: unknown): string[] {
  if (!Array.isArray(tags) || tags.length > MOST_TAGS)
    throw new TriarchError('INVALID_OPTION', `${what}.tags must return an array of up to ${MOST_TAGS} strings`)
  return tags.map(tagName)
}

const DEEPEST = 100

/** The value as JSON with the fields of objects in sorted order. */
function canonical(action: string, value: unknown, depth: number): string {
  if (depth > DEEPEST) throw new TriarchError('INVALID_OPTION', `${action}: cache.key is nested too deeply`)
  if (typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function')
    return canonical(action, value.toJSON(), depth + 1)
  if (Array.isArray(value)) return `[${value.map((it) => canonical(action, it, depth + 1)).join()}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, it]) => it !== undefined)
    const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${sorted.map(([name, it]) => `${JSON.stringify(name)}:${canonical(action, it, depth + 1)}`).join()}}`
  }
  if (value === undefined) return 'null'
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    throw new TriarchError('INVALID_OPTION', `${action}: cache.key must return what JSON can hold`)
  return JSON.stringify(value)
}

/** The name that an `invalidate` call addresses. Throws INVALID_OPTION. */
export function invalidName(what: StatedInvalidation): string {
  if (what.by === 'tag') return tagName(what.tag)
  return what.by === 'action' ? actionName(what.action) : cacheName(what.action, what.key[0]).name
}
