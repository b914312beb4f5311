import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const post = agent('post')
const send = post.action('send', { run: (name: string) => name.toUpperCase(), undo: () => undefined })
const letter = workflow('letter', {
  exclusive: { key: (name) => `box ${name}`, ifHeld: 'reject' },
  async run(name: string, task) {
    if (name.startsWith('lost')) throw new PermanentError(name)
    if (name.startsWith('slow')) await task.waitForSignal('arrived')
    return task.run(send, name)
  },
})
const all = post.batch('all', { workflow: letter, page: 2, concurrency: 2, items: (names: string[], { offset, limit }) => names.slice(offset, offset + limit) }) // biome-ignore format: one line
const mailing = workflow('mailing', {
  async run(names: string[], task) {
    const sent = await task.run(all, names)
    const some = await task.batch('some', { workflow: letter, items: ['x', 'lost x'], tolerate: '50%' })
    const first = await task.batch('first', { workflow: letter, items: ['y', 'slow y'], quorum: 1 })
    return { sent, some, first }
  },
})
const strict = workflow('strict', {
  rescue: 'fail',
  run: async (_: null, task) =>
    task.batch('strict', { workflow: letter, items: ['slow s', 'lost s'], onCancel: 'cancel' }),
})
const held = workflow('held', {
  run: async (_: null, task) => task.batch('held', { workflow: letter, items: ['h', 'slow h'], tolerate: 'any' }),
})

/** Batches in pages: whole, with failures they bear or do not, enough of them, with children that are refused, and undone. */
export const batches: Feature = {
  name: 'batch',
  workflows: [letter, mailing, strict, held],
  agents: [post],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(mailing, ['a', 'b', 'c', 'd', 'e'], { id: 'mailing' }) },
    { at: 60, do: ({ triarch }) => triarch.submit(strict, null, { id: 'strict' }) },
    { at: 120, do: ({ triarch }) => triarch.submit(letter, 'slow h', { id: 'in-the-way' }) },
    { at: 180, do: ({ triarch }) => triarch.submit(held, null, { id: 'refused' }) },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('in-the-way').signal('arrived') },
    { at: 1_200, do: ({ triarch }) => triarch.tasks.get('mailing').compensate() },
  ],
}
