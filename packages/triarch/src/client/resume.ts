import { isTriarchError, TriarchError } from '../error/error.ts'
import { whySpent } from '../kernel/suspension/signal.ts'
import { checkLabel } from '../value/name.ts'
import { checkOptions } from '../value/options.ts'
import { checkSecretTexts, encode } from '../value/payload.ts'
import { readToken } from '../value/token.ts'
import type { Connection } from './connection.ts'
import { checkSame, isReusable, named } from './request.ts'
import type { Sending } from './terms.ts'

/**
 * Which signal a token gives to its step.
 * @example await triarch.resume(token, { paid: true }, { name: 'paid', optional: true })
 */
export interface ResumeOptions {
  /** Name of the signal; 'resume'. */
  name?: string
  /** A step that is done, a task that has stopped or is gone, is no error; false. */
  optional?: boolean
  /** Names this call: called again with the same, it gives nothing twice, and is no error. 1 to 200 characters; none. */
  once?: string
}

/** Puts a signal for a suspended step into its task's inbox. Reads the task's history: a token that is spent is refused. */
export async function resumeStep(
  connection: Connection,
  token: string,
  value: unknown,
  options: ResumeOptions,
): Promise<void> {
  checkOptions('resume', options, ['name', 'optional', 'once'])
  const { name = 'resume', optional = false, once } = options
  checkLabel('a signal', name)
  if (name === 'timeout' || name === 'cancel') {
    throw new TriarchError('INVALID_NAME', `name: "${name}" is the engine's own`)
  }
  const { task, step, key } = readToken(token)
  if (once !== undefined) checkLabel('a request', once)
  const payload = encode(value, `payload of signal "${name}"`, connection.limits.payload)
  try {
    // Where the history cannot be read, nobody can say that it is: the signal waits with the task, for whoever mends that.
    const state = await connection.state(task)
    const asking = { type: 'signal', step, key, name, payload } as const
    const sent: Sending = once === undefined ? asking : named(asking, once)
    if (sent.request !== undefined && state?.requests.includes(sent.request))
      return checkSame(task, asking, state.digests[sent.request])
    checkSecretTexts(payload, `payload of signal "${name}"`, state?.steps.get(step)?.policy.secrets ?? [])
    const spent = state && whySpent(state, { step, key })
    // Of a task that is gone or has stopped, the store says so.
    if (spent !== null && (await connection.info(task)).status !== 'stopped')
      throw new TriarchError('TOKEN_SPENT', `the token is of no use any more: ${spent}`)
    await connection.send(task, sent)
    if (once !== undefined && sent.request !== undefined && isReusable(once))
      checkSame(task, asking, await connection.firstAsked(task, sent.request))
  } catch (error) {
    const gone = (['TASK_STOPPED', 'UNKNOWN_TASK', 'TOKEN_SPENT'] as const).some((code) => isTriarchError(error, code))
    if (!optional || !gone) throw error
  }
}
