import { workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const counting = workflow('counting', {
  async run(rounds: number, task): Promise<unknown> {
    const said = [await task.waitForSignal('tick'), await task.waitForSignal('tick')]
    return rounds > 1 ? task.continueAsNew(rounds - 1) : said
  },
})

/** What is asked for twice under one key, in one run and across two. */
export const requests: Feature = {
  name: 'request',
  workflows: [counting],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(counting, 2, { id: 'counting' }) },
    { at: 60, do: ({ triarch }) => triarch.tasks.get('counting').once('a').signal('tick', 1) },
    { at: 61, do: ({ triarch }) => triarch.tasks.get('counting').once('a').signal('tick', 1) },
    { at: 120, do: ({ triarch }) => triarch.tasks.get('counting').once('p').pause({ reason: 'lunch' }) },
    { at: 180, do: ({ triarch }) => triarch.tasks.get('counting').once('p').resume() },
    { at: 181, do: ({ triarch }) => triarch.tasks.get('counting').once('p').pause({ reason: 'lunch' }) },
    { at: 240, do: ({ triarch }) => triarch.tasks.get('counting').once('b').signal('tick', 2) },
    { at: 300, do: ({ triarch }) => triarch.tasks.get('counting').once('b').signal('tick', 2) },
    { at: 360, do: ({ triarch }) => triarch.tasks.get('counting').once('c').signal('tick', 3) },
    { at: 420, do: ({ triarch }) => triarch.tasks.get('counting').once('d').signal('tick', 4) },
  ],
}
