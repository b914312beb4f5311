import { isTriarchError, TriarchError } from '../error/error.ts'
import { isRequested } from '../kernel/state.ts'
import { whySpent } from '../kernel/suspension/signal.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import { checkLabel } from '../value/name.ts'
import { checkOptions } from '../value/options.ts'
import { checkSecretTexts, encode } from '../value/payload.ts'
import { type TokenContent, tokenContent } from '../value/token.ts'
import type { Connection } from './connection.ts'
import { checkSame, isReusable, namedRequest } from './request.ts'
import type { Sending } from './terms.ts'

/**
 * Which signal a token gives to its step.
 * @example await triarch.tasks.resume(token, { paid: true }, { name: 'paid', optional: true })
 */
export interface ResumeOptions {
  /** Name of the signal; 'resume'. */
  name?: string
  /** True: a step that is done, or a task that has stopped or no longer exists, is not an error. False by default. */
  optional?: boolean
  /**
   * A key for this call: repeated with the same key, it gives the signal only once, and is no error. 1 to 200 characters; none by
   * default.
   */
  once?: string
}

/**
 * Puts a signal for a suspended step into its task's inbox. The token's signature is checked before anything of the task is read. Then
 * the task's history is read, and a spent token is refused.
 */
export async function resumeStep(
  connection: Connection,
  keys: SigningKeys,
  token: string,
  value: unknown,
  options: ResumeOptions,
): Promise<void> {
  checkOptions('tasks.resume', options, ['name', 'optional', 'once'])
  const { name = 'resume', optional = false, once } = options
  checkLabel('a signal', name)
  if (name === 'timeout' || name === 'cancel') {
    throw new TriarchError('INVALID_NAME', `name: "${name}" is the engine's own`)
  }
  const { task, step, key } = await readToken(connection, keys, token)
  if (once !== undefined) checkLabel('a request', once)
  const payload = encode(value, `payload of signal "${name}"`, connection.limits.payload)
  try {
    const { status } = await connection.row(task)
    // A repeated call is no error, which only the history can tell.
    if (status === 'stopped' && once === undefined) throw spent('the task has stopped')
    // If the history cannot be read, the token may not be spent: the signal waits with the task until that is repaired.
    const state = await connection.state(task)
    const asking = { type: 'signal', step, key, name, payload } as const
    const sent: Sending = once === undefined ? asking : namedRequest(asking, once)
    if (sent.request !== undefined && state && isRequested(state, sent.request))
      return checkSame(task, asking, state.digests[sent.request])
    checkSecretTexts(payload, `payload of signal "${name}"`, state?.steps.get(step)?.policy.secrets ?? [])
    const why = state && whySpent(state, { step, key })
    if (why !== null) throw spent(why)
    await connection.send(task, sent)
    if (once !== undefined && sent.request !== undefined && isReusable(once))
      checkSame(task, asking, await connection.firstAsked(task, sent.request))
  } catch (error) {
    const isGone = (['TASK_STOPPED', 'UNKNOWN_TASK'] as const).some((code) => isTriarchError(error, code))
    if (!isGone && !isTriarchError(error, 'TOKEN_SPENT')) throw error
    if (!optional) throw isGone ? spent('its task has stopped or is gone', error) : error
  }
}

/** Throws INVALID_TOKEN; STORE_* if this process has never read the keys by which tokens are signed. */
async function readToken(connection: Connection, keys: SigningKeys, token: string): Promise<TokenContent> {
  await connection.opened()
  await keys.known()
  const text = keys.verify('token', token)
  const content = text === null ? null : tokenContent(text)
  if (content) return content
  throw new TriarchError('INVALID_TOKEN', 'this is not a resume token of this store: give what step.token was')
}

function spent(why: string, cause?: unknown): TriarchError {
  return new TriarchError(
    'TOKEN_SPENT',
    `the token is of no use any more: ${why}`,
    cause === undefined ? {} : { cause },
  )
}
