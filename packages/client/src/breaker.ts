import type { BreakerControlOptions, BreakerInfo, BreakerOpenOptions, BreakerPage } from 'triarch'
import { type BreakerCollection, type BreakerHandle, TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { pageQuery } from './page.ts'
import { array, dated, object, text } from './shape.ts'
import { encode, instant } from './value.ts'

/** A circuit breaker on a server. What is asked of it leaves the same behind when it is sent again. */
class RemoteBreaker implements BreakerHandle {
  readonly name: string
  readonly #exchange: Exchange
  readonly #path: string

  constructor(exchange: Exchange, name: string) {
    if (typeof name !== 'string' || name === '' || name.length > 300 || !name.isWellFormed() || /^\.\.?$/.test(name))
      throw new TriarchError('INVALID_OPTION', 'breaker: name must be a string of 1 to 300 characters')
    this.name = name
    this.#exchange = exchange
    this.#path = `/breakers/${encodeURIComponent(name)}`
  }

  info(): Promise<BreakerInfo> {
    return this.#exchange.ask({ method: 'GET', path: this.#path, read: breakerInfo })
  }

  async open({ reason, actor, until, ...rest }: BreakerOpenOptions): Promise<void> {
    known('open', rest)
    await this.#ask('open', { reason, actor, ...(until !== undefined && { until: instant('open: until', until) }) })
  }

  async close({ reason, actor, ...rest }: BreakerControlOptions): Promise<void> {
    known('close', rest)
    await this.#ask('close', { reason, actor })
  }

  async reset({ reason, actor, ...rest }: BreakerControlOptions): Promise<void> {
    known('reset', rest)
    await this.#ask('reset', { reason, actor })
  }

  async #ask(control: string, options: object): Promise<void> {
    const body = encode(control, options)
    await this.#exchange.ask({ method: 'POST', path: `${this.#path}/${control}`, body, read: breakerInfo })
  }
}

export function breakersOf(exchange: Exchange): BreakerCollection {
  return {
    get: (name) => new RemoteBreaker(exchange, name),
    list: async (options = {}) => exchange.get(`/breakers${pageQuery('breakers.list', options)}`, breakerPage),
  }
}

function breakerPage(value: unknown): BreakerPage {
  const page = object(value)
  return { ...page, breakers: array(page.breakers, breakerInfo) }
}

function breakerInfo(value: unknown): BreakerInfo {
  const { changes, ...rest } = dated(value, 'since', 'nextProbe')
  text(rest.name)
  text(rest.state)
  object(rest.seen)
  // Undefined is not said in JSON.
  return {
    ...{ key: undefined, nextProbe: undefined, wave: undefined, ...rest },
    changes: array(changes, (one) => dated(one, 'at')),
  } as unknown as BreakerInfo
}
