import { existsSync, writeFileSync } from 'node:fs'
import { context, propagation, trace } from '@opentelemetry/api'
import { agent, workflow } from 'triarch'

export interface Deadly {
  /** Made by the attempt that ends its process; those after it find it. */
  marker: string
}

/** What the test of a crash runs: two steps, the second of which ends its first process. `flush`: sends what there is. */
export function shop(flush: () => Promise<unknown> = async () => undefined) {
  const payments = agent('payments')
  const own = () => trace.getTracer('shop').startSpan('ask the bank')
  const charge = payments.action('charge', {
    run: async (_: Deadly) => {
      const tenant = propagation.getBaggage(context.active())?.getEntry('tenant')?.value
      own().end()
      return tenant ?? 'nobody'
    },
  })
  const ship = payments.action('ship', {
    run: async ({ marker }: Deadly) => {
      own().end()
      if (existsSync(marker)) return 'shipped'
      writeFileSync(marker, '')
      await flush()
      process.kill(process.pid, 'SIGKILL')
      return 'never'
    },
  })
  const order = workflow('order', {
    async run(given: Deadly, task) {
      const tenant = await task.run(charge, given)
      return `${tenant} ${await task.run(ship, given)}`
    },
  })
  return { payments, order }
}
