import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { checkLabel } from '../value/name.ts'
import { checkSchema, type InferInput, invalid, type StandardSchema, validateSync } from '../value/schema.ts'
import type { ControlOptions } from './control.ts'

/**
 * The signals that a workflow accepts, by name, with the schemas of their payloads.
 * @example
 * const payment = workflow('payment', {
 *   signals: { paid: z.object({ by: z.string() }) },
 *   run: async (_: null, task) => (await task.waitForSignal('paid')).by,
 * })
 */
export type SignalSchemas = Readonly<Record<string, StandardSchema>>

/** No signals are declared, so any signal is accepted. */
export type NoSignals = Record<never, never>

/** Names of signals that may be sent: those declared, or any if none are declared. */
export type SignalName<E extends SignalSchemas> = [keyof E] extends [never] ? string : keyof E & string

/** The arguments after a signal's name; `options`: reason and actor. */
export type SignalPayload<E extends SignalSchemas, K extends string> = K extends keyof E
  ? null extends InferInput<E[K]>
    ? [payload?: InferInput<E[K]>, options?: ControlOptions]
    : [payload: InferInput<E[K]>, options?: ControlOptions]
  : [payload?: unknown, options?: ControlOptions]

/** Checks the declared signals. Throws INVALID_OPTION, INVALID_NAME. */
export function checkSignals(what: string, signals: unknown): void {
  if (signals === undefined) return
  if (typeof signals !== 'object' || signals === null || Array.isArray(signals))
    throw new TriarchError(
      'INVALID_OPTION',
      `${what} must have the names of signals, each with the schema of its payload`,
    )
  for (const [name, schema] of Object.entries(signals)) {
    checkLabel('a signal', name)
    checkSchema(`${what}: ${name}`, schema ?? null)
  }
}

/** The schema declared for a signal; undefined: there is none. */
export function signalSchema(signals: SignalSchemas | undefined, name: string): StandardSchema | undefined {
  return signals && Object.hasOwn(signals, name) ? signals[name] : undefined
}

/** The error for a signal that the workflow does not declare; null: it is declared, or none are. */
export function undeclared(signals: SignalSchemas | undefined, name: string): TriarchError | null {
  if (signals === undefined || Object.hasOwn(signals, name)) return null
  const names = Object.keys(signals)
  if (names.length === 0) return null
  return new TriarchError('UNKNOWN_SIGNAL', `signal "${name}": the workflow declares ${names.join(', ')}`)
}

/** The payload after the schema, as JSON; an Error if the schema refuses it. */
export function acceptSignal(
  name: string,
  schema: StandardSchema | undefined,
  payload: Json,
): { value: unknown } | TriarchError {
  if (!schema) return { value: payload }
  const what = `payload of signal "${name}"`
  const checked = validateSync(schema, payload)
  if (checked === 'async') return new TriarchError('INVALID_OPTION', `${what}: its schema is asynchronous`)
  return 'issues' in checked ? invalid(checked, 'INVALID_INPUT', what) : checked
}
