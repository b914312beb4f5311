import { TriarchError } from '../error/error.ts'
import { checkFunction, nearestOf } from '../value/options.ts'
import { type TelemetryListeners, telemetryNames } from './catalogue.ts'

/** Checks the listeners. Throws UNKNOWN_OPTION for an event that does not exist, INVALID_OPTION. */
export function checkTelemetry(what: string, given: TelemetryListeners | undefined): TelemetryListeners {
  if (given === undefined) return {}
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TriarchError('INVALID_OPTION', `${what} must be an object with a function for each event`)
  for (const [name, listener] of Object.entries(given)) {
    if (!telemetryNames.some((known) => known === name)) throw unknown(what, name)
    if (listener !== undefined) checkFunction(`${what}: "${name}"`, listener)
  }
  return { ...given }
}

function unknown(what: string, name: string): TriarchError {
  const nearest = nearestOf(name, telemetryNames)
  const hint = nearest === undefined ? `use one of ${telemetryNames.join(', ')}` : `did you mean "${nearest}"?`
  const details = { option: name.slice(0, 100), ...(nearest !== undefined && { nearest }) }
  return new TriarchError('UNKNOWN_OPTION', `${what}: there is no event "${name.slice(0, 100)}", ${hint}`, { details })
}
