import { AlertDelivery, logSink } from '../alert/delivery.ts'
import type { AlertSettings } from '../alert/options.ts'
import { AlertWatch } from '../alert/watch.ts'
import type { Environment } from '../environment/environment.ts'
import { type Engine, HealthReads } from '../health/look.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { StateStore } from '../store/port.ts'
import type { EngineHealth } from './health.ts'

interface AlertingDeps {
  environment: Environment
  store: StateStore
  settings: AlertSettings | null
  engine: Engine
  health: EngineHealth
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

/** Detects problems and notifies sinks, if alerts are on in this process. */
export class Alerting {
  readonly #means: AlertingDeps
  #delivery: AlertDelivery | null = null

  constructor(means: AlertingDeps) {
    this.#means = means
  }

  /** Notifies alert sinks; null: alerts are off. */
  get delivery(): AlertDelivery | null {
    const { environment, store, settings, alert, failed } = this.#means
    if (!settings) return null
    const sinks = [logSink(alert), ...settings.sinks]
    this.#delivery ??= new AlertDelivery({ environment, store, failed, undelivered: alert, sinks, settings })
    return this.#delivery
  }

  /** A new one for each life of the node. */
  watch(): AlertWatch | null {
    const { environment, store, settings, engine, health, failed } = this.#means
    const { delivery } = this
    if (!settings || !delivery) return null
    return new AlertWatch({
      ...{ environment, store, settings, delivery, failed },
      look: () => new HealthReads(engine),
      health: () => health.checks,
    })
  }
}
