import { type Channel, channel } from 'node:diagnostics_channel'
import { CallContext } from '../environment/context.ts'
import { guarded } from '../error/guarded.ts'
import { type TelemetryEvents, type TelemetryListeners, type TelemetryName, telemetryNames } from './catalogue.ts'

/** Where one event leaves the engine. Who tells asks first whether it is `open`: nothing is made that nobody hears. */
export class Outlet<E> {
  readonly #channel: Channel
  readonly #listener: ((event: E) => void) | null

  constructor(published: Channel, listener: ((event: E) => void) | null) {
    this.#channel = published
    this.#listener = listener
  }

  get open(): boolean {
    return this.#listener !== null || this.#channel.hasSubscribers
  }

  /** In nobody's context, as all that the engine tells. Node makes an uncaught exception of what a subscriber throws. */
  tell(event: E): void {
    CallContext.none.run(() => {
      this.#listener?.(event)
      this.#channel.publish(event)
    })
  }
}

export type Telemetry = { readonly [N in TelemetryName]: Outlet<TelemetryEvents[N]> }

/** All of a process's: they are the same for each engine in it. Held, so that who subscribes by name finds these. */
const channels: readonly (readonly [TelemetryName, Channel])[] = telemetryNames.map((name) => [
  name,
  channel(`triarch:${name}`),
])

/** `failed` is told what a listener throws, and must not lead back here. */
export function telemetryOf(listeners: TelemetryListeners, failed: (error: unknown) => void): Telemetry {
  const outlets = channels.map(([name, published]) => {
    const listener = listeners[name] as ((event: unknown) => unknown) | undefined
    return [name, new Outlet(published, listener ? guarded<[unknown]>(listener, failed) : null)]
  })
  return Object.fromEntries(outlets) as Telemetry
}

/** For parts that are made by themselves. */
export const unheard: Telemetry = telemetryOf({}, () => undefined)
