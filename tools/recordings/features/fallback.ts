import { agent, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const archive = agent('archive')
const last = archive.action('last', {
  run: (currency: string) => ({ currency, rate: 1 }),
  undo: () => undefined,
})
const rates = agent('rates', { circuitBreaker: {} })
const ask = rates.action('ask', { whenOpen: { fallback: last }, run: (currency: string) => ({ currency, rate: 1 }) })
const convert = workflow('convert', {
  async run(currency: string, task) {
    const found = await task.run(ask, currency)
    await task.waitForSignal('go')
    return found
  },
})
const converting = workflow('converting', { plan: (currency: string, plan) => plan.step(ask, currency).output })
const reason = 'maintenance'

/** A circuit breaker is open: steps are done by their fallbacks, and undone by those. */
export const fallbacks: Feature = {
  name: 'fallback',
  workflows: [convert, converting],
  agents: [rates, archive],
  script: [
    { at: 1, do: ({ triarch }) => triarch.breakers.get('rates').open({ reason }) },
    { at: 5, do: ({ triarch }) => triarch.submit(convert, 'EUR', { id: 'done' }) },
    { at: 6, do: ({ triarch }) => triarch.submit(convert, 'USD', { id: 'undone' }) },
    { at: 7, do: ({ triarch }) => triarch.submit(converting, 'CHF', { id: 'planned' }) },
    { at: 10, do: ({ triarch }) => triarch.breakers.get('rates').close({ reason }) },
    { at: 15, do: ({ triarch }) => triarch.submit(converting, 'GBP', { id: 'after' }) },
    { at: 20, do: ({ triarch }) => triarch.tasks.get('undone').cancel({ compensate: true }) },
    { at: 30, do: ({ triarch }) => triarch.tasks.get('done').signal('go') },
  ],
  rest: 100,
}
