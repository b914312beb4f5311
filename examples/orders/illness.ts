// The payment service falls ill for a while, as a whole. What becomes of that is the shop's circuit breaker's to say, and its cache's:
// seen here as anybody can see it, by asking a Triarch.
import { setTimeout as delay } from 'node:timers/promises'
import { type BreakerChange, isTriarchError, type Triarch } from 'triarch'
import type { Options } from './options.ts'
import { chance } from './services/faults.ts'
import type { LedgerRows } from './services/ledger.ts'
import { feeOf, payments } from './shop.ts'

/** How long it is ill (ms), at least: it is until somebody has noticed. */
const LASTS = 1_500
/** Between two looks at the breaker (ms). */
const LOOK = 10
/** Orders of which it is asked whether their fee came from a cache. */
const MOST_ASKED = 2_000

/** What came of it, for the report. */
export interface Recovery {
  /** How long the service was ill (ms), about. */
  lasted: number
  /** Calls that met it ill. */
  met: number
  /** How often the breaker opened. */
  opened: number
  /** Sizes of the waves in which it let go what waited; the first are its probes. */
  waves: number[]
  /** Of so many fees, how many came from a cache, and how many of those while the breaker kept calls back. */
  fees: { asked: number; cached: number; meanwhile: number }
}

export class Illness {
  readonly #triarch: Triarch
  readonly #url: () => string
  /** It begins once so many orders have been placed. */
  readonly #after: number
  #begun = false
  #over = false
  #lasted = 0
  #watching: Promise<void> = Promise.resolve()
  /** By their numbers. */
  readonly #waves = new Map<number, number>()
  /** By their instants. */
  readonly #changes = new Map<number, BreakerChange>()

  /** `url`: where the payment service is now. */
  constructor(triarch: Triarch, url: () => string, { orders, seed }: Pick<Options, 'orders' | 'seed'>) {
    this.#triarch = triarch
    this.#url = url
    this.#after = Math.floor(orders * (0.2 + 0.2 * chance(seed, 'illness', 'after')))
  }

  placed(count: number): void {
    if (this.#begun || count <= this.#after) return
    this.#begun = true
    this.#watching = this.#watch()
    void this.#strike()
  }

  /** A service that is being started again is as good as ill. On a busy machine few calls meet it, and the breaker needs some to open. */
  async #strike(): Promise<void> {
    const since = Date.now()
    while (!this.#over) {
      const answer = await fetch(`${this.#url()}/illness/${LASTS}`, { method: 'POST' }).catch(() => null)
      if (answer?.ok) this.#lasted = Date.now() - since + LASTS
      if (answer?.ok && [...this.#changes.values()].some(({ to }) => to === 'open')) return
      await delay(answer?.ok ? LASTS / 3 : LOOK)
    }
  }

  async #watch(): Promise<void> {
    while (!this.#over) {
      await this.#look().catch((error: unknown) => {
        // No node has registered it yet, or the store is busy: the next look tells.
        if (!isTriarchError(error)) throw error
      })
      await delay(LOOK)
    }
  }

  async #look(): Promise<void> {
    const { wave, changes } = await this.#triarch.breakers.get(payments.name).info()
    if (wave) this.#waves.set(wave.number, wave.size)
    for (const change of changes) this.#changes.set(change.at.getTime(), change)
  }

  /** When all orders are done. */
  async recovery(orders: readonly string[], ledgers: readonly LedgerRows[]): Promise<Recovery> {
    this.#over = true
    await this.#watching
    await this.#look()
    const changes = [...this.#changes.values()].sort((a, b) => a.at.getTime() - b.at.getTime())
    const shut = (at: number) => {
      const last = changes.findLast((change) => change.at.getTime() <= at)
      return last !== undefined && last.to !== 'closed'
    }
    const fees = { asked: 0, cached: 0, meanwhile: 0 }
    for (const order of orders.slice(0, MOST_ASKED)) {
      const fee = (await this.#triarch.tasks.get(order).steps()).find(({ action }) => action === feeOf.key)
      if (fee?.status !== 'success') continue
      fees.asked++
      if (!fee.cached) continue
      fees.cached++
      if (fee.endedAt && shut(fee.endedAt.getTime())) fees.meanwhile++
    }
    const receipts = ledgers.find(({ service }) => service === 'payment')?.receipts ?? []
    return {
      lasted: this.#lasted,
      met: receipts.filter(({ fault }) => fault === 'ill').length,
      opened: changes.filter(({ to }) => to === 'open').length,
      waves: [...this.#waves].sort(([a], [b]) => a - b).map(([, size]) => size),
      fees,
    }
  }
}
