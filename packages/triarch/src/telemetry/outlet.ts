import { type Channel, channel } from 'node:diagnostics_channel'
import { CallContext } from '../environment/context.ts'
import { type TelemetryEvents, type TelemetryListeners, type TelemetryName, telemetryNames } from './catalogue.ts'
import { guarded } from './guarded.ts'
import type { Log } from './logger.ts'

/** The outlet of one telemetry event. Callers check `open` first, so that no event object is created without a listener. */
export class Outlet<E> {
  readonly #channel: Channel
  readonly #listener: ((event: E) => void) | null
  readonly #line: Lined<E> | null

  constructor(published: Channel, listener: ((event: E) => void) | null, line: Lined<E> | null = null) {
    this.#channel = published
    this.#listener = listener
    this.#line = line
  }

  get open(): boolean {
    return this.#listener !== null || this.#channel.hasSubscribers || this.#line?.wanted() === true
  }

  /** Publishes the event without an async context. Node turns an error of a channel's subscriber into an uncaught exception. */
  tell(event: E): void {
    CallContext.none.run(() => {
      this.#listener?.(event)
      this.#channel.publish(event)
      this.#line?.tell(event)
    })
  }
}

/** The log's side of an event. */
interface Lined<E> {
  wanted(): boolean
  tell(event: E): void
}

export type Telemetry = { readonly [N in TelemetryName]: Outlet<TelemetryEvents[N]> }

/**
 * The channels of the process, the same for each engine in it. They are kept here, because an unreferenced channel may be collected and
 * created again.
 */
const channels: readonly (readonly [TelemetryName, Channel])[] = telemetryNames.map((name) => [
  name,
  channel(`triarch:${name}`),
])

/** `failed` gets errors of listeners, and must not publish telemetry itself. `log` null: nothing is logged. */
export function telemetryOf(
  listeners: TelemetryListeners,
  failed: (error: unknown) => void,
  log: Log | null = null,
): Telemetry {
  const outlets = channels.map(([name, published]) => {
    const listener = listeners[name] as ((event: unknown) => unknown) | undefined
    const line = log && {
      wanted: () => log.wants(name),
      tell: (event: unknown) => log.tell(name, event as never),
    }
    return [name, new Outlet(published, listener ? guarded<[unknown]>(listener, failed) : null, line)]
  })
  return Object.fromEntries(outlets) as Telemetry
}

/** For parts that are used without an engine. */
export const noTelemetry: Telemetry = telemetryOf({}, () => undefined)
