import { TriarchError } from '../error/error.ts'
import { formatPath } from './path.ts'

/**
 * The Standard Schema interface, version 1 (https://standardschema.dev): zod, valibot, arktype and others implement it.
 * @example const schema: StandardSchema<{ id: string }> = z.object({ id: z.string() })
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The properties that the standard requires. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The result of a schema: a value, or the issues for which it refuses the value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One issue that a schema found. */
export interface SchemaIssue {
  /** The issue, for people. */
  readonly message: string
  /** Path of the issue in the value; absent: it concerns the whole value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The input type of a schema. */
export type InferInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input']

/** The output type of a schema. */
export type InferOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

/** Most issues kept in an error's details. */
const MOST_ISSUES = 50

/** True for anything that implements Standard Schema version 1. */
export function isSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false
  const standard: unknown = (value as Partial<StandardSchema>)['~standard']
  if (typeof standard !== 'object' || standard === null) return false
  const { version, validate } = standard as { version?: unknown; validate?: unknown }
  return version === 1 && typeof validate === 'function'
}

/** Throws INVALID_OPTION for anything but a schema or nothing. */
export function checkSchema(what: string, schema: unknown): void {
  if (schema === undefined || isSchema(schema)) return
  throw new TriarchError('INVALID_OPTION', `${what} must be a Standard Schema (zod, valibot, arktype …)`)
}

/**
 * The schema's verdict, or `'async'` if it is asynchronous (its promise is then ignored). A schema that throws, or returns no valid result,
 * counts as refusing the value.
 */
export function validateSync<O>(schema: StandardSchema<unknown, O>, value: unknown): Verdict<O> | 'async' {
  try {
    const result = schema['~standard'].validate(value)
    if (!isThenable(result)) return verdict(result)
    result.then(undefined, () => undefined)
    return 'async'
  } catch (cause) {
    return broken(cause)
  }
}

/**
 * Validates a value, synchronously if the schema is synchronous, else as a promise. `what` names the value in the error. Throws (or rejects
 * with) the given code, with every issue in its details.
 */
export function validate<O>(
  schema: StandardSchema<unknown, O>,
  value: unknown,
  code: 'INVALID_INPUT' | 'INVALID_OUTPUT',
  what: string,
): O | Promise<O> {
  const decide = (checked: Verdict<O>): O => {
    if ('value' in checked) return checked.value
    throw invalid(checked, code, what)
  }
  let result: SchemaResult<O> | Promise<SchemaResult<O>>
  try {
    result = schema['~standard'].validate(value)
    if (isThenable(result))
      return Promise.resolve(result)
        .then((answer) => verdict(answer), broken)
        .then(decide)
    return decide(verdict(result))
  } catch (error) {
    if (error instanceof TriarchError) throw error
    return decide(broken(error))
  }
}

/** Why a value is refused; `cause`: the error that the schema threw. */
export interface RefusedValue {
  issues: readonly SchemaIssue[]
  cause?: unknown
}

type Verdict<O> = { value: O } | RefusedValue

/** The verdict in a schema's result, which may be anything. */
function verdict<O>(result: SchemaResult<O>): Verdict<O> {
  try {
    if (result.issues === undefined) return 'value' in result ? { value: result.value } : broken()
    return Array.isArray(result.issues) ? { issues: result.issues } : broken()
  } catch (cause) {
    return broken(cause)
  }
}

/** The verdict on a value for which the schema itself failed. */
function broken(cause?: unknown): RefusedValue {
  return { issues: [{ message: 'the schema itself failed on this value' }], cause }
}

/** The typed error for the issues a schema found. */
export function invalid(
  { issues, cause }: RefusedValue,
  code: 'INVALID_INPUT' | 'INVALID_OUTPUT' | 'INVALID_SETTING',
  what: string,
): TriarchError {
  const list = issues.slice(0, MOST_ISSUES).map(issueOf)
  const shown = list.slice(0, 3).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const more = issues.length > shown.length ? ` (and ${issues.length - shown.length} more)` : ''
  const details = { details: { issues: list }, ...(cause !== undefined && { cause }) }
  return new TriarchError(code, `${what} is invalid: ${shown.join('; ')}${more}`, details)
}

function issueOf(issue: SchemaIssue): { path: string; message: string } {
  try {
    return { path: formatPath('', (issue.path ?? []).map(keyOf)), message: String(issue.message) }
  } catch {
    return { path: '', message: 'an issue that cannot be read' }
  }
}

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  return typeof segment === 'object' ? segment.key : segment
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null)?.then === 'function'
}
