import { isTriarchError, TriarchError } from '../error/error.ts'
import { whySpent } from '../kernel/suspension/signal.ts'
import { checkLabel } from '../value/name.ts'
import { checkOptions } from '../value/options.ts'
import { checkSecretTexts, encode } from '../value/payload.ts'
import { readToken } from '../value/token.ts'
import type { Connection } from './connection.ts'

/**
 * Which event a token gives to its step.
 * @example await triarch.resume(token, { paid: true }, { event: 'paid', optional: true })
 */
export interface ResumeOptions {
  /** Name of the event; 'resume'. */
  event?: string
  /** A step that is done, a task that has stopped or is gone, is no error; false. */
  optional?: boolean
}

/** Puts an event for a suspended step into its task's inbox. Reads the task's history: a token that is spent is refused. */
export async function resumeStep(
  connection: Connection,
  token: string,
  value: unknown,
  options: ResumeOptions,
): Promise<void> {
  checkOptions('resume', options, ['event', 'optional'])
  const { event = 'resume', optional = false } = options
  checkLabel('an event', event)
  if (event === 'timeout' || event === 'cancel') {
    throw new TriarchError('INVALID_NAME', `event: "${event}" is the engine's own`)
  }
  const { task, step, key } = readToken(token)
  const payload = encode(value, `payload of event "${event}"`, connection.limits.payload)
  try {
    // Where the history cannot be read, nobody can say that it is: the event waits with the task, for whoever mends that.
    const state = await connection.state(task)
    checkSecretTexts(payload, `payload of event "${event}"`, state?.steps.get(step)?.policy.secrets ?? [])
    const spent = state && whySpent(state, { step, key })
    // Of a task that is gone or has stopped, the store says so.
    if (spent !== null && (await connection.info(task)).status !== 'stopped')
      throw new TriarchError('TOKEN_SPENT', `the token is of no use any more: ${spent}`)
    await connection.send(task, { type: 'signal', step, key, name: event, payload })
  } catch (error) {
    const gone = (['TASK_STOPPED', 'UNKNOWN_TASK', 'TOKEN_SPENT'] as const).some((code) => isTriarchError(error, code))
    if (!optional || !gone) throw error
  }
}
