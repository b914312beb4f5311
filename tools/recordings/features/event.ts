import { SignalTimeoutError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

/** What the code of the first release gave: its word stands in what the tasks returned. */
const codeOf = (error: unknown) => (error instanceof SignalTimeoutError ? 'EVENT_TIMEOUT' : null)

const listening = workflow('listening', {
  async run(_: null, task) {
    await task.sleep('10m')
    const early = await task.waitForSignal('early')
    const never = await task.waitForSignal('never', { timeout: '5m' }).catch(codeOf)
    const first = await Promise.race([task.waitForSignal('left'), task.waitForSignal('right')])
    const stop = new AbortController()
    const given = task.waitForSignal('given up', { signal: stop.signal }).catch((error: Error) => error.message)
    await task.sleep('1m')
    stop.abort(new Error('enough'))
    const events = [await task.waitForSignal('twice'), await task.waitForSignal('twice')]
    return { early, never, first, given: await given, events }
  },
})

/** Events that come early, late, never, in a race, more than one, and one for which nobody waits any more. */
export const events: Feature = {
  name: 'event',
  workflows: [listening],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(listening, null, { id: 'listening' }) },
    { at: 60, do: ({ triarch }) => triarch.tasks.get('listening').signal('early', { n: 1 }) },
    { at: 120, do: ({ triarch }) => triarch.tasks.get('listening').signal('twice', 'first') },
    { at: 1_200, do: ({ triarch }) => triarch.tasks.get('listening').signal('right', 'won') },
    { at: 3_600, do: ({ triarch }) => triarch.tasks.get('listening').signal('twice', 'second') },
  ],
}
