import { unguessable } from '../environment/secrecy.ts'
import { TriarchError } from '../error/error.ts'
import { holding } from '../policy/secret.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { actor as acting, entryOf } from './act.ts'
import type { Connection } from './connection.ts'

/**
 * How to rotate the secret with which the store signs resume tokens and the tickets of connected agents.
 * @example const options: SecretRotateOptions = { reason: 'every quarter', overlap: '90d' }
 */
export interface SecretRotateOptions {
  /** The reason, kept in the audit. */
  reason: string
  /** The actor; by default the current one, otherwise `operator`. */
  actor?: string
  /**
   * How long what was signed before is accepted. It must be longer than steps wait and attempts run; otherwise they can no longer be
   * resumed and answered. 0: it is refused at once; up to ten years; '30d' by default.
   */
  overlap?: Duration
}

/**
 * The result of a rotation.
 * @example const { overlapsUntil }: RotatedSecret = await triarch.keys.rotateSecret({ reason: 'routine' })
 */
export interface RotatedSecret {
  /** Until when tokens and tickets signed before are accepted. */
  overlapsUntil: Date
}

const SECRET_BYTES = 32
const OVERLAP = '30d'
const LONGEST_OVERLAP = 3_650 * 86_400_000
const LONGEST_REASON = 1_000
const LONGEST_ACTOR = 200
/** Gives up after concurrent changes have won this many times. */
const PATIENCE = 20

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION, STORE_BUSY. */
export async function rotateSecret(
  { store, environment, opened }: Connection,
  keys: SigningKeys,
  options: SecretRotateOptions,
): Promise<RotatedSecret> {
  checkOptions('keys.rotateSecret', options ?? null, ['reason', 'actor', 'overlap'])
  const { actor: by = acting() ?? 'operator', overlap: given = OVERLAP } = options
  const overlap = milliseconds(given, 'keys.rotateSecret: overlap')
  checkInteger('keys.rotateSecret: overlap', overlap, 0, LONGEST_OVERLAP)
  const reason = checkText('keys.rotateSecret: reason', options.reason, LONGEST_REASON)
  const actor = checkText('keys.rotateSecret: actor', by, LONGEST_ACTOR)
  await opened()
  const secret = unguessable(SECRET_BYTES).toString('base64url')
  const audit = entryOf(environment, {
    ...{ action: 'secret.rotate', subject: 'secret:store', reason, actor, details: { overlap } },
  })
  for (let round = 0; round < PATIENCE; round++) {
    const [known, madeAt] = await Promise.all([store.secrets(), store.now()])
    const number = (known[0]?.number ?? 0) + 1
    const overlapsUntil = madeAt + overlap
    const keepFrom = overlap === 0 ? number : (holding(known, madeAt).at(-1)?.number ?? number)
    const done =
      (await store.writeSecret({ number, secret, madeAt, overlapsUntil, keepFrom, audit })) ||
      // The call may have been repeated because its answer was lost; then the secret is there already.
      (await store.secrets()).some((row) => row.secret === secret)
    if (!done) continue
    await keys.read()
    return { overlapsUntil: new Date(overlapsUntil) }
  }
  throw new TriarchError('STORE_BUSY', 'the secret of the store is rotated by others all the time')
}
