import { type AlertNotification, type AlertSink, type QuietHours, TriarchError } from 'triarch'
import { known } from '../options.ts'
import { Outbound, type OutboundOptions } from '../outbound/outbound.ts'
import { Signature } from '../outbound/signature.ts'

/**
 * An endpoint that is told of alerts.
 * @example
 * const options: WebhookSinkOptions = {
 *   url: 'https://pager.example.com/triarch',
 *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBuqdRCDSWHM=',
 * }
 */
export interface WebhookSinkOptions {
  /** What the sink is called; 'webhook'. */
  name?: string
  /** Where each notification is sent. */
  url: string | URL
  /** `whsec_` and 24 to 64 random bytes in Base64. Of several, the calls are signed by each: that is how one replaces another. */
  secret: string | readonly string[]
  /** Where calls may go, and how much an answer may have; https on port 443 of the public internet, 64 KiB. */
  outbound?: OutboundOptions
  /** When it is left alone; never. */
  quiet?: QuietHours
}

/** Bytes of an answer that are read: nobody needs them, but for the first of a refusal. */
const BYTES = 64 * 1024
/** What an error says of a body. */
const SHOWN = 200

/**
 * A sink that is one URL: each notification is a POST, signed as Standard Webhooks says, whose `webhook-id` is the same however often it is
 * tried. 2xx: it was told; all else is tried again. Throws UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const pager = webhookSink({
 *   name: 'pager',
 *   url: 'https://pager.example.com/triarch',
 *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBuqdRCDSWHM=',
 * })
 */
export function webhookSink(options: WebhookSinkOptions): AlertSink {
  known('webhookSink', options, ['name', 'url', 'secret', 'outbound', 'quiet'])
  const { name = 'webhook', url: given, secret, outbound: where = {}, quiet } = options
  if (!URL.canParse(String(given))) throw new TriarchError('INVALID_OPTION', 'webhookSink: url must be a URL')
  const url = new URL(given)
  const signature = new Signature('webhookSink', Array.isArray(secret) ? secret : [secret as string])
  const outbound = new Outbound({ bytes: BYTES, ...where })
  outbound.check(url)
  return {
    name,
    ...(quiet && { quiet }),
    async send(notification, { signal }) {
      const { id, text } = written(notification)
      const headers = { 'content-type': 'application/json', ...signature.headers(encodeURIComponent(id), text) }
      const { status, body } = await outbound.post({ url, headers, body: text, signal })
      if (status >= 200 && status < 300) return
      throw new Error(`${url.origin} answered ${status}${body ? `: ${body.slice(0, SHOWN)}` : ''}`)
    },
  }
}

/** The payload of Standard Webhooks. */
function written({ id, news, ...data }: AlertNotification): { id: string; text: string } {
  return { id, text: JSON.stringify({ type: `alert.${news}`, timestamp: data.at, data: { id, news, ...data } }) }
}
