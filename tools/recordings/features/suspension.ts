import { agent, type Triarch, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const desk = agent('desk')
/** As the step hands it out: tokens that were handed out once are good in every version. */
const token = '1.WyJhbnN3ZXJlZCIsMSwiYW5zd2VyZWR-bWp1b2hzcnM6MSJd.6JgibiltlR8U0Dz6x11hIoEOWJecFP571lmfBlAYCJI'
/** Waits for what it is told. */
const ask = desk.action('ask', {
  run(_: string, step, event) {
    const heard = [...((step.checkpoint as string[] | undefined) ?? []), ...(event ? [event.name] : [])]
    if (event?.name === 'answer' || event?.name === 'timeout' || event?.name === 'cancel') return heard
    return step.suspend({
      progress: 0.5,
      checkpoint: heard,
      timeout: '2h',
      onCancel: true,
      ...(event === undefined && { signals: [{ name: 'remind', in: '10m', payload: 1 }] }),
    })
  },
})
const asking = workflow('asking', { run: async (name: string, task) => task.run(ask, name) })
const patient = workflow('patient', {
  async run(name: string, task) {
    const heard = await task.run(ask, name)
    await task.waitForSignal('go')
    return heard
  },
})
/** Holds a table until it is told what becomes of it; whether it did can be asked. */
const reserve = desk.action('reserve', {
  run: (_: null, step) => step.suspend(),
  verify: () => ({ done: true, output: 'reserved' }) as const,
  undo: () => undefined,
})
const dining = workflow('dining', {
  async run(_: null, task) {
    await task.run(reserve, null)
    await task.waitForSignal('served')
  },
})
const answer = (triarch: Triarch, event: string) => triarch.tasks.resume(token, 'yes', { name: event, optional: true })

/** Steps that are suspended: answered from outside, reminded by themselves, out of time, called off, told when they are done. */
export const suspensions: Feature = {
  name: 'suspension',
  workflows: [asking, patient, dining],
  agents: [desk],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(patient, 'a', { id: 'answered' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(asking, 'b', { id: 'forgotten' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(asking, 'c', { id: 'called-off' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(dining, null, { id: 'dining' }) },
    { at: 900, do: ({ triarch }) => answer(triarch, 'note') },
    { at: 1_000, do: ({ triarch }) => triarch.tasks.get('called-off').cancel() },
    { at: 1_100, do: ({ triarch }) => triarch.tasks.get('dining').cancel() },
    { at: 1_800, do: ({ triarch }) => answer(triarch, 'answer') },
    { at: 2_000, do: ({ triarch }) => answer(triarch, 'again') },
    { at: 2_100, do: ({ triarch }) => triarch.tasks.get('answered').signal('go') },
  ],
  rest: 10_000,
}
