import { workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const codeOf = (error: unknown) => (error as { code?: string }).code

const listening = workflow('listening', {
  async run(_: null, task) {
    await task.sleep('10m')
    const early = await task.event('early')
    const never = await task.event('never', { timeout: '5m' }).catch(codeOf)
    const first = await Promise.race([task.event('left'), task.event('right')])
    const stop = new AbortController()
    const given = task.event('given up', { signal: stop.signal }).catch((error: Error) => error.message)
    await task.sleep('1m')
    stop.abort(new Error('enough'))
    const events = [await task.event('twice'), await task.event('twice')]
    return { early, never, first, given: await given, events }
  },
})

/** Events that come early, late, never, in a race, more than one, and one for which nobody waits any more. */
export const events: Feature = {
  name: 'event',
  workflows: [listening],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(listening, null, { id: 'listening' }) },
    { at: 60, do: ({ triarch }) => triarch.task('listening').emit('early', { n: 1 }) },
    { at: 120, do: ({ triarch }) => triarch.task('listening').emit('twice', 'first') },
    { at: 1_200, do: ({ triarch }) => triarch.task('listening').emit('right', 'won') },
    { at: 3_600, do: ({ triarch }) => triarch.task('listening').emit('twice', 'second') },
  ],
}
