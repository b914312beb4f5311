import { type AlertNotification, Triarch } from 'triarch'
import type { StoreFactory } from 'triarch/store'
import { createProber, type ProbeChange } from '../src/index.ts'

/** Where the endpoint and the pager of a test are. */
export interface Outside {
  url: string
  pager: string
}

/** A node that watches, tells a pager, and probes when nobody else does. */
export function watching(store: StoreFactory, { url, pager }: Outside, onChange: (change: ProbeChange) => void) {
  const send = async (told: AlertNotification) => {
    const { ok } = await fetch(pager, { method: 'POST', body: JSON.stringify(told) })
    if (!ok) throw new Error('the pager did not take it')
  }
  const triarch = new Triarch({
    ...{ store, lease: '1s', sweep: '100ms', notices: false, onError: () => undefined, health: { cache: 0 } },
    alerts: { every: '50ms', rules: { 'probe-down': { keep: 0 } }, sinks: [{ name: 'pager', send }] },
  })
  const endpoints = { shop: { url, every: 1_000, failures: 2, successes: 2 } }
  return { triarch, prober: createProber({ endpoints, triarch, onChange, onError: () => undefined }) }
}

/** A process that does so for as long as it lives. */
export async function watches(store: StoreFactory, outside: Outside): Promise<void> {
  const { triarch, prober } = watching(store, outside, ({ to }) => process.send?.(to))
  process.once('disconnect', () => process.exit())
  await triarch.start()
  await prober.run(new AbortController().signal)
}
