import type { TelemetryListeners, TelemetryName } from 'triarch'

type Listener = (event: unknown) => unknown

/**
 * Listeners that tell each of these, in this order. What one throws, the others hear all the same; the first error is thrown on, to the
 * engine's `onError`.
 * @example const telemetry = listeners(otel.telemetry, { 'task:stopped': ({ task }) => console.log(task) })
 */
export function listeners(...many: readonly TelemetryListeners[]): TelemetryListeners {
  const names = new Set(many.flatMap((one) => Object.keys(one) as TelemetryName[]))
  const entries = [...names].map((name) => {
    const told = many.flatMap((one) => (one[name] ? [one[name] as Listener] : []))
    return [name, told.length === 1 ? told[0] : (event: unknown) => tellAll(told, event)]
  })
  return Object.fromEntries(entries) as TelemetryListeners
}

/** Promises that reject are the engine's to hear of, like errors. */
function tellAll(told: readonly Listener[], event: unknown): unknown {
  const errors: unknown[] = []
  const promises: unknown[] = []
  for (const listener of told) {
    try {
      promises.push(listener(event))
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return promises.some((it) => it instanceof Promise) ? Promise.all(promises) : undefined
}
