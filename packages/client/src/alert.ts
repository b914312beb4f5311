import type { AlertActOptions, AlertInfo, AlertPage, AlertSinkTrial, AlertTestOptions } from 'triarch'
import { type AlertCollection, type AlertHandle, TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { pageQuery } from './page.ts'
import { array, dated, object, text } from './shape.ts'
import { encode, instant } from './value.ts'

/** An alert on a server. What is asked of it leaves the same behind when it is sent again. */
class RemoteAlert implements AlertHandle {
  readonly name: string
  readonly #exchange: Exchange
  readonly #path: string

  constructor(exchange: Exchange, name: string) {
    if (typeof name !== 'string' || name === '' || name.length > 500 || !name.isWellFormed() || /^\.\.?$/.test(name))
      throw new TriarchError('INVALID_OPTION', 'alert: name must be a string of 1 to 500 characters')
    this.name = name
    this.#exchange = exchange
    this.#path = `/alerts/${encodeURIComponent(name)}`
  }

  info(): Promise<AlertInfo> {
    return this.#exchange.ask({ method: 'GET', path: this.#path, read: alertInfo })
  }

  async acknowledge({ reason, actor, ...rest }: AlertActOptions): Promise<AlertInfo> {
    known('acknowledge', rest)
    return this.#ask('acknowledge', { reason, actor })
  }

  async silence({ reason, actor, until, ...rest }: AlertActOptions & { until: Date }): Promise<AlertInfo> {
    known('silence', rest)
    return this.#ask('silence', { reason, actor, until: instant('silence: until', until) })
  }

  async end({ reason, actor, ...rest }: AlertActOptions): Promise<AlertInfo> {
    known('end', rest)
    return this.#ask('end', { reason, actor })
  }

  #ask(control: string, options: object): Promise<AlertInfo> {
    const body = encode(control, options)
    return this.#exchange.ask({ method: 'POST', path: `${this.#path}/${control}`, body, read: alertInfo })
  }
}

export function alertsOf(exchange: Exchange): AlertCollection {
  return {
    get: (name) => new RemoteAlert(exchange, name),
    list: async ({ ended, ...options } = {}) =>
      exchange.get(`/alerts${pageQuery('alerts.list', options, { ended })}`, alertPage),
    test: async (options = {}) => testAlert(exchange, options),
  }
}

/** Told twice where the first answer was lost: it is but a test. */
function testAlert(exchange: Exchange, { sink, reason, actor, ...rest }: AlertTestOptions): Promise<AlertSinkTrial[]> {
  known('alerts.test', rest)
  const read = (body: unknown) => array(object(body).sinks, (one) => object(one) as unknown as AlertSinkTrial)
  return exchange.ask({
    method: 'POST',
    path: '/alerts/test',
    body: encode('alerts.test', { sink, reason, actor }),
    read,
  })
}

function alertPage(value: unknown): AlertPage {
  const page = object(value)
  return { ...page, alerts: array(page.alerts, alertInfo) }
}

function alertInfo(value: unknown): AlertInfo {
  const { endedBy, owner, silence, ...rest } = dated(value, 'since', 'firedAt', 'endedAt', 'toldAt')
  text(rest.name)
  const word = (said: unknown) => (said === undefined ? undefined : dated(said, 'at', 'until'))
  // Undefined is not said in JSON.
  return {
    ...{ firedAt: undefined, endedAt: undefined, toldAt: undefined, ...rest },
    ...{ endedBy: word(endedBy), owner: word(owner), silence: word(silence) },
  } as unknown as AlertInfo
}
