/** Where alerts are told, outside of this process. */

export type { OutboundOptions } from '../outbound/outbound.ts'
export { type SmtpSinkOptions, smtpSink } from './smtp.ts'
export { type WebhookSinkOptions, webhookSink } from './webhook.ts'
