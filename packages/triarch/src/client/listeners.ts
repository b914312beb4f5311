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

/** What Triarch.on() tells of. What a listener throws, or rejects with, goes to onError and nowhere else. */
export interface EngineEvents {
  /** Something needs an operator: a step is held, an undo failed, code and history disagree, nobody runs a task. */
  alert: (alert: Alert) => unknown
  /** The supervisor recovered something. */
  recovered: (report: SweepReport) => unknown
}

export const engineEvents: readonly (keyof EngineEvents)[] = ['alert', 'recovered']

/** Who listens to the engine. Each is called by itself, in nobody's context: none can hurt another, or the engine. */
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

/** What a raised alert is for programs. */
export function codedAlert(raised: RaisedAlert): Alert {
  return { ...raised, code: raised.code ?? (raised.step === undefined ? 'TASK_PAUSED' : 'STEP_HELD') }
}

/** Without a listener the same error is a warning again after this long (ms): while a store is away, all that is tried fails. */
const WARN_AGAIN = 60_000

/**
 * Takes what nobody else hears of, whatever it is. When it fails itself, one line on stderr is all that comes of it. `isOver`:
 * the store was closed on purpose, and what was under way then is no news. `seen`: is told first of what is news.
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

/** Node reads a warning later, where nothing guards it: it gets what was read of the error here. */
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
