import { checkName } from '../definition/name.ts'
import { checkOptions } from '../definition/options.ts'
import { encode } from '../definition/payload.ts'
import { readToken } from '../definition/token.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Connection } from './connection.ts'

export interface ResumeOptions {
  /** Name of the event; 'resume'. */
  event?: string
  /** A task that has stopped, or is gone, is no error; false. */
  optional?: boolean
}

/** Puts an event for a suspended step into its task's inbox. */
export async function resumeStep(
  connection: Connection,
  token: string,
  value: unknown,
  options: ResumeOptions,
): Promise<void> {
  checkOptions('resume', options, ['event', 'optional'])
  const { event = 'resume', optional = false } = options
  checkName('event', event)
  if (event === 'timeout' || event === 'cancel') {
    throw new TriarchError('INVALID_NAME', `event: "${event}" is the engine's own`)
  }
  const { task, step, key } = readToken(token)
  const payload = encode(value, `payload of event "${event}"`, connection.limits.payload)
  try {
    const { status, result } = await connection.info(task)
    if (status === 'stopped') throw new TriarchError('TASK_STOPPED', `task "${task}" has stopped (${result})`)
    await connection.send(task, { type: 'signal', step, key, name: event, payload })
  } catch (error) {
    const gone = isTriarchError(error, 'TASK_STOPPED') || isTriarchError(error, 'UNKNOWN_TASK')
    if (!optional || !gone) throw error
  }
}
