import { agent, ref, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const site = agent('site')
const lay = site.action('lay', {
  run: ({ name }: { name: string; on?: unknown }) => ({ name, size: name.length }),
  undo: () => undefined,
  finalize: () => undefined,
})
const floor = site.action('floor', {
  plan(input: { name: string }, plan) {
    const beams = plan.sequence(() => [1, 2].map((n) => plan.step(lay, { name: `beam ${n}` })))
    return { ...plan.self({ name: input.name, on: beams.map(({ output }) => output.name) }) }
  },
  run: ({ name, on }: { name: string; on: string[] }) => ({ floor: name, on }),
  finalize: () => undefined,
})
const house = workflow('house', {
  plan(input: { name: string }, plan) {
    const ground = plan.step(lay, { name: 'ground' })
    const first = plan.step(floor, { name: 'first' })
    const walls = plan.lock('crane', () => plan.concurrence(() => ['east', 'west'].map((name) => plan.step(lay, { name, on: ground.output.size })))) // biome-ignore format: one line
    const roof = plan.step(lay, { name: 'roof' }, { after: [first, ...walls], weight: 3 })
    return { name: input.name, roof: roof.output.name, text: ref.text`on ${ground.output.name}`, first: first.output }
  },
})
const formal = workflow('formal', {
  finalizeAs: 'transaction',
  plan: (_: null, plan) => plan.step(lay, { name: 'fence' }).output,
})

/** Plans: references, order, side by side, locks, actions that plan, finalize both ways, made at once and when they are due. */
export const plans: Feature = {
  name: 'plan',
  workflows: [house, formal],
  agents: [site],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(house, { name: 'now' }, { id: 'now' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(house, { name: 'later' }, { id: 'later', startAt: '10m' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(formal, null, { id: 'formal' }) },
    { at: 1_800, do: ({ triarch }) => triarch.tasks.get('now').compensate() },
  ],
}
