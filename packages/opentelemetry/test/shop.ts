import { context, propagation, trace } from '@opentelemetry/api'
import { httpAgent } from '@triarch/server/push'
import { agent, workflow } from 'triarch'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwBuqdRCDSWHM='

/** What the test of a crash runs: two actions call a service as any code does, and one is a URL of it. */
export function shop(service: string) {
  const payments = agent('payments')
  /** A call as an instrumented `fetch` makes it. */
  const call = async (path: string) => {
    const headers: Record<string, string> = {}
    propagation.inject(context.active(), headers)
    const response = await fetch(service + path, { method: 'POST', headers })
    return response.text()
  }
  const charge = payments.action('charge', {
    run: async () => {
      const tenant = propagation.getBaggage(context.active())?.getEntry('tenant')?.value
      const span = trace.getTracer('shop').startSpan('ask the bank')
      const answer = await context.with(trace.setSpan(context.active(), span), () => call('/charge'))
      span.end()
      return `${tenant} ${answer}`
    },
  })
  const ship = payments.action('ship', { run: () => call('/ship') })
  const { port } = new URL(service)
  const crm = httpAgent('crm', {
    ...{ url: `${service}/hook`, secret, actions: { upsert: {} } },
    outbound: { schemes: ['http'], allow: ['127.0.0.0/8'], ports: [Number(port)] },
  })
  const order = workflow('order', {
    async run(_: null, task) {
      const charged = await task.run(charge, null)
      const shipped = await task.run(ship, null)
      return [charged, shipped, await task.run(crm.actions.upsert, null)]
    },
  })
  return { agents: [payments, crm.agent], order }
}
