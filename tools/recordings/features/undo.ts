import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const hotel = agent('hotel')
const book = hotel.action('book', { run: (room: string) => `key of ${room}`, undo: () => undefined })
const stubborn = hotel.action('stubborn', {
  undoRetry: { attempts: 50, backoff: { initial: '3s' } },
  run: (room: string) => room,
  undo(_, step) {
    if (step.attempt < 3) throw new Error('the desk is closed')
  },
})
const stuck = hotel.action('stuck', {
  run: (room: string) => room,
  undo() {
    throw new PermanentError('no refunds')
  },
})
const trip = workflow('trip', {
  async run(_: null, task) {
    await task.run(book, 'single')
    task.undo(() => undefined, { name: 'call off' })
    await task.run('local', () => 'done', { undo: () => undefined })
    await task.run(stubborn, 'double')
    throw new PermanentError('no flights')
  },
})
const dear = workflow('dear', {
  async run(_: null, task) {
    await task.run(book, 'suite')
    await task.run(stuck, 'suite')
    throw new PermanentError('too dear')
  },
})
const fine = workflow('fine', { run: async (_: null, task) => task.run(book, 'double') })

/** Compensation in order, with attempts of its own; one that is stuck is undone by an operator; a success is taken back. */
export const undos: Feature = {
  name: 'undo',
  workflows: [trip, dear, fine],
  agents: [hotel],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(trip, null, { id: 'trip' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(dear, null, { id: 'dear' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(fine, null, { id: 'fine' }) },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('dear').skip({ step: 2 }) },
    { at: 900, do: ({ triarch }) => triarch.tasks.get('fine').compensate() },
  ],
}
