import { workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const codeOf = (error: unknown) => (error as { code?: string }).code

const one = workflow('one', {
  async run(name: string, task) {
    const lock = await task.lock('door')
    await task.waitForSignal('go')
    lock.release()
    return `${name} through`
  },
})
const impatient = workflow('impatient', {
  async run(_: null, task) {
    const late = await task.lock('door', { timeout: '5m' }).catch(codeOf)
    const stop = new AbortController()
    const given = task.lock('door', { signal: stop.signal }).catch(() => 'given up')
    await task.sleep('1m')
    stop.abort()
    return { late, given: await given }
  },
})
const crossing = workflow('crossing', {
  async run([first, second]: string[], task) {
    await task.lock(first ?? '')
    await task.waitForSignal('go')
    const other = await task.lock(second ?? '').catch(codeOf)
    return typeof other === 'string' ? other : 'both'
  },
})

/** Locks that pass from task to task, are not had in time, are not wanted any more, and would be waited for in a circle. */
export const locks: Feature = {
  name: 'lock',
  workflows: [one, impatient, crossing],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(one, 'first', { id: 'first' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(one, 'second', { id: 'second' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(impatient, null, { id: 'impatient' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(crossing, ['a', 'b'], { id: 'ab' }) },
    { at: 5, do: ({ triarch }) => triarch.submit(crossing, ['b', 'a'], { id: 'ba' }) },
    { at: 1_200, do: ({ triarch }) => triarch.tasks.get('first').signal('go') },
    { at: 1_800, do: ({ triarch }) => triarch.tasks.get('ab').signal('go') },
    { at: 1_860, do: ({ triarch }) => triarch.tasks.get('ba').signal('go') },
    { at: 2_400, do: ({ triarch }) => triarch.tasks.get('second').signal('go') },
  ],
}
