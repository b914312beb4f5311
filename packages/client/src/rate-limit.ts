import type {
  RateLimitControlOptions,
  RateLimitForceOptions,
  RateLimitInfo,
  RateLimitLiftOptions,
  RateLimitPage,
} from 'triarch'
import { type RateLimitCollection, type RateLimitHandle, TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { pageQuery } from './page.ts'
import { array, dated, object, text } from './shape.ts'
import { duration, encode, instant } from './value.ts'

/** A rate limit on a server. What is asked of it leaves the same behind when it is sent again. */
class RemoteRateLimit implements RateLimitHandle {
  readonly name: string
  readonly #exchange: Exchange
  readonly #path: string

  constructor(exchange: Exchange, name: string) {
    if (typeof name !== 'string' || name === '' || name.length > 300 || !name.isWellFormed() || /^\.\.?$/.test(name))
      throw new TriarchError('INVALID_OPTION', 'rateLimit: name must be a string of 1 to 300 characters')
    this.name = name
    this.#exchange = exchange
    this.#path = `/rate-limits/${encodeURIComponent(name)}`
  }

  info(): Promise<RateLimitInfo> {
    return this.#exchange.ask({ method: 'GET', path: this.#path, read: rateLimitInfo })
  }

  async change({ limit, per, burst, reason, actor, until, ...rest }: RateLimitForceOptions): Promise<void> {
    known('change', rest)
    const numbers = { limit, per: duration('change: per', per), ...(burst !== undefined && { burst }) }
    await this.#ask('change', { ...numbers, reason, actor, ...ends('change', until) })
  }

  async lift({ reason, actor, until, ...rest }: RateLimitLiftOptions): Promise<void> {
    known('lift', rest)
    await this.#ask('lift', { reason, actor, ...ends('lift', until) })
  }

  async restore({ reason, actor, ...rest }: RateLimitControlOptions): Promise<void> {
    known('restore', rest)
    await this.#ask('restore', { reason, actor })
  }

  async #ask(control: string, options: object): Promise<void> {
    const body = encode(control, options)
    await this.#exchange.ask({ method: 'POST', path: `${this.#path}/${control}`, body, read: rateLimitInfo })
  }
}

function ends(what: string, until: Date | undefined): { until?: string } {
  return until === undefined ? {} : { until: instant(`${what}: until`, until) }
}

export function rateLimitsOf(exchange: Exchange): RateLimitCollection {
  return {
    get: (name) => new RemoteRateLimit(exchange, name),
    list: async (options = {}) => exchange.get(`/rate-limits${pageQuery('rateLimits.list', options)}`, rateLimitPage),
  }
}

function rateLimitPage(value: unknown): RateLimitPage {
  const page = object(value)
  return { ...page, rateLimits: array(page.rateLimits, rateLimitInfo) }
}

function rateLimitInfo(value: unknown): RateLimitInfo {
  const { changes, forced, ...rest } = dated(value, 'rests')
  text(rest.name)
  // Undefined is not said in JSON.
  return {
    ...{ action: undefined, key: undefined, rests: undefined, ...rest },
    forced: forced === undefined ? undefined : { until: undefined, ...dated(forced, 'until') },
    changes: array(changes, (one) => dated(one, 'at')),
  } as unknown as RateLimitInfo
}
