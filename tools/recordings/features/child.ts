import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const yard = agent('yard')
const build = yard.action('build', { run: (part: string) => `a ${part}`, undo: () => undefined })

const part = workflow('part', {
  async run(name: string, task) {
    const built = await task.run(build, name)
    if (name === 'mast') throw new PermanentError('no wood')
    if (name === 'sail') await task.waitForSignal('wind')
    return built
  },
})
const ship = workflow('ship', {
  async run(_: null, task) {
    const keel = await task.call(part, 'keel', { tags: { of: 'ship' }, priority: 3 })
    const mast = await task.call(part, 'mast').catch((error: { code?: string }) => error.code)
    const { id } = await task.start(part, 'anchor', { id: 'anchor', taskWithin: '1d' })
    return { keel, mast, id }
  },
})
const fleet = workflow('fleet', {
  async run(_: null, task) {
    await task.call(part, 'hull')
    await task.start(part, 'sail', { id: 'detached', onCancel: 'detach' })
    await task.start(part, 'sail', { id: 'awaited', onCancel: 'wait' })
    await task.call(part, 'sail', { id: 'cancelled' })
  },
})
const taken = workflow('taken', {
  run: async (_: null, task) =>
    task.call(part, 'rudder', { id: 'anchor' }).catch((error: { cause?: { code?: string } }) => error.cause?.code),
})

/** Children that are called and started, fail, are refused, are undone with their parent, and what becomes of them when it is cancelled. */
export const children: Feature = {
  name: 'child',
  workflows: [part, ship, fleet, taken],
  agents: [yard],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(ship, null, { id: 'ship' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(fleet, null, { id: 'fleet' }) },
    { at: 60, do: ({ triarch }) => triarch.submit(taken, null, { id: 'taken' }) },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('fleet').cancel({ reason: 'peace' }) },
    { at: 1_200, do: ({ triarch }) => triarch.tasks.get('awaited').signal('wind') },
    { at: 1_300, do: ({ triarch }) => triarch.tasks.get('detached').signal('wind') },
    { at: 1_800, do: ({ triarch }) => triarch.tasks.get('ship').compensate() },
  ],
}
