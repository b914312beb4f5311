import type { RotatedSecret, SecretRotateOptions } from 'triarch'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { date, object } from './shape.ts'
import { encode } from './value.ts'

/** Asked for twice, it would be rotated twice. */
export function rotateSecret(
  exchange: Exchange,
  { reason, actor, overlap, ...rest }: SecretRotateOptions,
): Promise<RotatedSecret> {
  known('keys.rotateSecret', rest)
  const body = encode('keys.rotateSecret', { reason, actor, overlap })
  const read = (answer: unknown) => ({ overlapsUntil: date(object(answer).overlapsUntil) })
  return exchange.ask({ method: 'POST', path: '/secret/rotate', body, once: true, read })
}
