import { Webhook } from 'standardwebhooks'
import { TriarchError } from 'triarch'
import { now } from '../environment.ts'

/** Fewer bytes are no secret: Standard Webhooks asks for 24 to 64. */
const LENGTH = { least: 24, most: 64 }

/** Signs as Standard Webhooks says, by each secret: while one replaces another, both are good. */
export class Signature {
  readonly #webhooks: readonly Webhook[]

  /** Throws INVALID_OPTION. */
  constructor(what: string, secrets: readonly string[]) {
    if (secrets.length === 0 || secrets.length > 10)
      throw new TriarchError('INVALID_OPTION', `${what}: secret must be a string, or 1 to 10 of them`)
    this.#webhooks = secrets.map((secret) => {
      const bytes = typeof secret === 'string' ? Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length : 0
      if (bytes >= LENGTH.least && bytes <= LENGTH.most && /^(?:whsec_)?[\w+/]+=*$/.test(secret))
        return new Webhook(secret)
      // The secret itself is in no message.
      const form = `"whsec_" and ${LENGTH.least} to ${LENGTH.most} random bytes in Base64`
      throw new TriarchError('INVALID_OPTION', `${what}: secret must be ${form}`)
    })
  }

  headers(id: string, body: string): Record<string, string> {
    const at = new Date(now())
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': this.#webhooks.map((webhook) => webhook.sign(id, at, body)).join(' '),
    }
  }
}
