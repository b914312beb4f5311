import type { ResumeOptions } from 'triarch'
import { TriarchError } from 'triarch/contract'
import type { Exchange } from './exchange.ts'
import { known } from './options.ts'
import { accepted } from './task.ts'
import { encode, segment } from './value.ts'

/** Gives a step what it waits for, once. Throws INVALID_TOKEN. */
export async function resumeStep(
  exchange: Exchange,
  token: string,
  value: unknown,
  options: ResumeOptions,
): Promise<void> {
  const { name, optional, once, ...rest } = options
  known('tasks.resume', rest)
  if (typeof token !== 'string' || token === '') throw new TriarchError('INVALID_TOKEN', 'a token must be a string')
  if (once !== undefined) segment('the name of a request', once)
  await exchange.ask({
    ...{ method: 'POST', path: '/tokens' },
    ...{
      body: encode('value', { token, value, name, optional }),
      key: once ?? `~${exchange.settings.environment.id()}`,
    },
    read: accepted,
  })
}
