import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const bank = agent('bank')
/** Asked once, however many tasks want to know. */
const rate = bank.action('rate', { cache: { ttl: '1d' }, run: (currency: string) => `${currency} 1.1` })
const none = bank.action('none', {
  cache: { ttl: '1d', negative: '1h' },
  run(_: null) {
    throw new PermanentError('there is none')
  },
})
const quote = workflow('quote', {
  async run(currency: string, task) {
    const asked = [await task.run(rate, currency), await task.run(rate, currency)]
    const failed: (string | undefined)[] = []
    for (let n = 0; n < 2; n++) failed.push(await task.run(none, null, { rescue: 'fail' }).catch(codeOf))
    return { asked, failed }
  },
})
const codeOf = (error: unknown) => (error as { code?: string }).code

/** Steps that are answered from a cache. */
export const caches: Feature = {
  name: 'cache',
  workflows: [quote],
  agents: [bank],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(quote, 'EUR', { id: 'first' }) },
    { at: 60, do: ({ triarch }) => triarch.submit(quote, 'EUR', { id: 'second' }) },
    { at: 120, do: ({ triarch }) => triarch.caches.invalidate(rate, 'EUR') },
    { at: 180, do: ({ triarch }) => triarch.submit(quote, 'EUR', { id: 'third' }) },
  ],
}
