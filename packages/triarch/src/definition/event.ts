import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import { checkLabel } from '../value/name.ts'
import { checkSchema, type InferInput, invalid, type StandardSchema, validateSync } from '../value/schema.ts'

/**
 * The events that a workflow takes, by name, with the schemas of their payloads.
 * @example
 * const payment = workflow('payment', {
 *   events: { paid: z.object({ by: z.string() }) },
 *   run: async (_: null, task) => (await task.event('paid')).by,
 * })
 */
export type EventSchemas = Readonly<Record<string, StandardSchema>>

/** Nothing is said about events: any may come, with anything. */
export type NoEvents = Record<never, never>

/** Names of events that may be sent: those declared, or any where none is. */
export type EventName<E extends EventSchemas> = [keyof E] extends [never] ? string : keyof E & string

/** What is sent with an event, after its name. */
export type EventPayload<E extends EventSchemas, K extends string> = K extends keyof E
  ? null extends InferInput<E[K]>
    ? [payload?: InferInput<E[K]>]
    : [payload: InferInput<E[K]>]
  : [payload?: unknown]

/** Throws INVALID_OPTION, INVALID_NAME. */
export function checkEvents(what: string, events: unknown): void {
  if (events === undefined) return
  if (typeof events !== 'object' || events === null || Array.isArray(events))
    throw new TriarchError(
      'INVALID_OPTION',
      `${what} must have the names of events, each with the schema of its payload`,
    )
  for (const [name, schema] of Object.entries(events)) {
    checkLabel('an event', name)
    checkSchema(`${what}: ${name}`, schema ?? null)
  }
}

/** The schema declared for it; undefined: there is none. */
export function eventSchema(events: EventSchemas | undefined, name: string): StandardSchema | undefined {
  return events && Object.hasOwn(events, name) ? events[name] : undefined
}

/** What the schema makes of the payload, as JSON has it; an Error: it refuses it, and why. */
export function acceptEvent(
  name: string,
  schema: StandardSchema | undefined,
  payload: Json,
): { value: unknown } | TriarchError {
  if (!schema) return { value: payload }
  const what = `payload of event "${name}"`
  const checked = validateSync(schema, payload)
  if (checked === 'async') return new TriarchError('INVALID_OPTION', `${what}: its schema is asynchronous`)
  return 'issues' in checked ? invalid(checked, 'INVALID_INPUT', what) : checked
}
