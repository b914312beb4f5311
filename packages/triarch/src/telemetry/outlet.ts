import { type Channel, channel } from 'node:diagnostics_channel'
import { CallContext } from '../environment/context.ts'
import { type TelemetryEvents, type TelemetryListeners, type TelemetryName, telemetryNames } from './catalogue.ts'
import { guarded } from './guarded.ts'
import type { Log } from './logger.ts'

/** Where one event leaves the engine. Who tells asks first whether it is `open`: nothing is made that nobody hears. */
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

  /** In nobody's context, as all that the engine tells. Node makes an uncaught exception of what a subscriber throws. */
  tell(event: E): void {
    CallContext.none.run(() => {
      this.#listener?.(event)
      this.#channel.publish(event)
      this.#line?.tell(event)
    })
  }
}

/** An event as a line of a log. */
interface Lined<E> {
  wanted(): boolean
  tell(event: E): void
}

export type Telemetry = { readonly [N in TelemetryName]: Outlet<TelemetryEvents[N]> }

/** All of a process's: they are the same for each engine in it. Held, so that who subscribes by name finds these. */
const channels: readonly (readonly [TelemetryName, Channel])[] = telemetryNames.map((name) => [
  name,
  channel(`triarch:${name}`),
])

/** `failed` is told what a listener throws, and must not lead back here. `log`: null: nobody keeps one. */
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

/** For parts that are made by themselves. */
export const unheard: Telemetry = telemetryOf({}, () => undefined)
