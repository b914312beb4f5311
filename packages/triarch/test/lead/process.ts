import { Triarch } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'

export const pace = { lease: '1s', sweep: '100ms', poll: '20ms', notices: false } as const

/** A process that leads for as long as it lives, and says so. */
export async function leads(store: StoreFactory): Promise<void> {
  const triarch = new Triarch({ store, ...pace, roles: [] })
  process.once('disconnect', () => process.exit())
  await triarch.start()
  await triarch.leaders.lead('exporter', ({ token }) => {
    process.send?.(token)
    return new Promise(() => undefined)
  })
}
