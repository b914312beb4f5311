import { agent, type CacheOptions, Triarch, type TriarchOptions, workflow } from '../../src/index.ts'

/** The lease is what the death of a process costs this test, and what a busy machine may keep one from renewing it. */
const pace = { lease: '5s', sweep: '100ms', poll: '20ms', notices: false } as const

/** A node that has a rate asked for, and keeps what is answered. */
export function bank(store: TriarchOptions['store'], ask: (currency: string) => number | Promise<number>) {
  const cache: CacheOptions<string> = { ttl: '1h' }
  const own = agent('bank', { concurrency: 20 })
  const rate = own.action('rate', { cache, attemptWithin: '5m', run: ask })
  const quote = workflow('quote', { run: (currency: string, task) => task.run(rate, currency) })
  const known = { workflows: [quote], agents: [own], onError: () => undefined }
  // However busy the machine is, the cache is not taken for one that is down.
  return { quote, triarch: new Triarch({ store, ...pace, ...known, cache: { deadline: '1m' } }) }
}

/** A process that asks the service, says so, and has no answer for as long as it lives. */
export async function asks(store: TriarchOptions['store']): Promise<void> {
  const { triarch, quote } = bank(store, (currency) => {
    process.send?.(currency)
    return new Promise(() => undefined)
  })
  process.once('disconnect', () => process.exit())
  await triarch.start()
  await triarch.submit(quote, 'EUR', { id: 'first' })
}
