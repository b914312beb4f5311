import { CallContext } from '../environment/context.ts'
import type { Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { Alert, RaisedAlert } from '../kernel/alert.ts'
import type { SweepReport } from '../store/port.ts'
import { guarded } from '../telemetry/guarded.ts'
import { nearestOf } from '../value/options.ts'
import { andMore, RepeatSuppression } from './repeat-suppression.ts'
import { toStderr } from './warnings.ts'

/** The events of Triarch.on(). What a listener throws, or rejects with, goes only to onError. */
export interface EngineEvents {
  /** An operator is needed: a step is held, an undo failed, code and history disagree, no node runs a task. */
  alert: (alert: Alert) => unknown
  /** The supervisor recovered something. */
  recovered: (report: SweepReport) => unknown
}

export const engineEvents: readonly (keyof EngineEvents)[] = ['alert', 'recovered']

/** Listeners of engine events. Each is called separately, outside of any call context, so that none can affect another, or the engine. */
export class Listeners {
  readonly #failed: (error: unknown) => void
  readonly #listeners: { [E in keyof EngineEvents]: Set<(of: Parameters<EngineEvents[E]>[0]) => void> } = {
    alert: new Set(),
    recovered: new Set(),
  }

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  /** Throws INVALID_OPTION. */
  add<E extends keyof EngineEvents>(event: E, listener: EngineEvents[E]): () => void {
    if (!engineEvents.includes(event)) {
      const nearest = nearestOf(String(event), engineEvents)
      const hint = nearest === undefined ? `use one of ${engineEvents.join(', ')}` : `did you mean "${nearest}"?`
      throw new TriarchError('INVALID_OPTION', `on: there is no event "${String(event).slice(0, 100)}", ${hint}`)
    }
    if (typeof listener !== 'function') throw new TriarchError('INVALID_OPTION', 'on: the listener must be a function')
    const guard = guarded<[never]>(listener as (of: never) => unknown, this.#failed)
    this.#listeners[event].add(guard as never)
    return () => void this.#listeners[event].delete(guard as never)
  }

  has(event: keyof EngineEvents): boolean {
    return this.#listeners[event].size > 0
  }

  tell<E extends keyof EngineEvents>(event: E, of: Parameters<EngineEvents[E]>[0]): void {
    CallContext.none.run(() => {
      for (const listener of [...this.#listeners[event]]) listener(of as never)
    })
  }
}

/** Adds the public code to a raised alert. */
export function codedAlert(raised: RaisedAlert): Alert {
  return { ...raised, code: raised.code ?? (raised.step === undefined ? 'TASK_PAUSED' : 'STEP_HELD') }
}

/**
 * If there is no listener, the same error becomes a warning again only after this long (ms): while a store is unreachable, every call
 * fails.
 */
const WARN_AGAIN = 60_000

/**
 * Takes errors that no caller gets. If the listener fails itself, one line goes to stderr. `isOver`: the store was closed on purpose, so
 * errors of calls under way are not reported. `seen`: called first with errors that are reported.
 */
export function errorListener(
  onError: ((error: unknown) => unknown) | undefined,
  environment: Pick<Environment, 'monotonic'>,
  isOver: () => boolean = () => false,
  seen: (error: unknown) => void = () => undefined,
): (error: unknown) => void {
  const tell = guarded<[unknown]>(onError ?? warner(environment), (failure) => {
    const { name, message } = toRecord(failure)
    toStderr(`triarch: onError failed: ${name}: ${message}`)
  })
  return (error) => {
    if (isOver() && isTriarchError(error, 'STORE_CLOSED')) return
    seen(error)
    CallContext.none.run(() => tell(error))
  }
}

/** Node reads a warning later, outside of any guard, so it gets a copy of the error's fields. */
function warner(environment: Pick<Environment, 'monotonic'>): (error: unknown) => void {
  const repeats = new RepeatSuppression(environment, WARN_AGAIN)
  return (error) => {
    const { name, message, code, stack } = toRecord(error)
    const more = repeats.next([name, code, message].join(' '))
    if (more === null) return
    const warning = Object.assign(new Error(message + andMore(more)), { name, ...(code !== undefined && { code }) })
    if (stack !== undefined) warning.stack = stack
    process.emitWarning(warning)
  }
}
