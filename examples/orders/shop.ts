// The shop: what is done for an order, how each part is taken back, and in which order. This file is all the business
// logic there is; it knows nothing of crashes, and yet survives them.
import { agent, type PolicyOptions, type StepContext, workflow } from 'triarch'
import { lookup, post, read } from './clients.ts'

export interface Order {
  id: string
  item: string
  /** In cents. */
  total: number
  email: string
}

/** How long and how often these services are worth waiting for. Real ones deserve more patience than a demonstration. */
const patience = {
  attemptWithin: '1s', // per attempt; what takes longer counts as failed
  retry: { attempts: 8, backoff: { initial: '50ms', factor: 2, max: '1s' } },
  undoRetry: { attempts: 50, backoff: { initial: '50ms', factor: 2, max: '1s' } }, // an undo must not give up easily
} satisfies PolicyOptions

// One agent per remote service, so that each has its own queue and its own bound on requests at a time.
export const payments = agent('payments', {
  concurrency: 50,
  // While most of what it is asked fails, it is left alone: orders wait, and lose no attempt. Then they come in waves.
  circuitBreaker: { failureRate: 0.6, window: '1s', minimum: 10, open: '300ms', openMax: '600ms', probes: 1 },
})
export const stock = agent('stock', { concurrency: 50 })
export const shipping = agent('shipping', { concurrency: 50 })
export const mail = agent('mail', { concurrency: 50 })

/** What a payment costs, by what is bought: the same for a while, so that it need not be asked for each order. */
export const feeOf = payments.action('fee', {
  ...patience,
  cache: { ttl: '1s', staleWhileRevalidate: '1m' },
  run: (item: string, step) => read<{ fee: number }>(`${urlOf('payment')}/fee/${encodeURIComponent(item)}`, step),
})

export const charge = payments.action('charge', {
  ...patience,
  run: ({ id, amount }: { id: string; amount: number }, step) =>
    ask<{ chargeId: string }>('payment', 'charge', { orderId: id, amount }, step),
  // A lost answer is no answer: before anything else is decided, the service is asked what became of the request.
  verify: (_, step) => lookup<{ chargeId: string }>(urlOf('payment'), step.idempotencyKey, step),
  undo: ({ output }, step) => ask('payment', 'refund', { chargeId: output.chargeId }, step),
})

export const reserve = stock.action('reserve', {
  ...patience,
  run: (order: Order, step) =>
    ask<{ reservationId: string }>('stock', 'reserve', { orderId: order.id, item: order.item }, step),
  verify: (_, step) => lookup<{ reservationId: string }>(urlOf('stock'), step.idempotencyKey, step),
  undo: ({ output }, step) => ask('stock', 'release', { reservationId: output.reservationId }, step),
})

type Shipment = { shipmentId: string; tracking: string }

export const ship = shipping.action('ship', {
  ...patience,
  run: (order: Order, step) => ask<Shipment>('shipping', 'ship', { orderId: order.id }, step),
  verify: (_, step) => lookup<Shipment>(urlOf('shipping'), step.idempotencyKey, step),
  undo: ({ output }, step) => ask('shipping', 'cancel', { shipmentId: output.shipmentId }, step),
})

export const sendMail = mail.action('send', {
  ...patience,
  rescue: 'skip', // nobody is refunded for want of a mail: the task goes on, and ends with a warning
  run: ({ order, tracking }: { order: Order; tracking: string }, step) =>
    ask<{ messageId: string }>('mail', 'send', { orderId: order.id, to: order.email, tracking }, step),
})

/** When a step has failed for good, what was completed before it is undone, latest first: nothing here has to say so. */
export const fulfilOrder = workflow('fulfil-order', {
  async run(order: Order, task) {
    const { fee } = await task.run(feeOf, order.item)
    const { chargeId } = await task.run(charge, { id: order.id, amount: order.total + fee })
    const [shipment] = await Promise.all([task.run(ship, order), task.run(reserve, order)])
    await task.run(sendMail, { order, tracking: shipment.tracking })
    return { chargeId, tracking: shipment.tracking }
  },
})

export const agents = [payments, stock, shipping, mail]

/** What builds on what: the judge wants to see it undone in reverse. */
export const dependsOn = { stock: ['payment'], shipping: ['payment'] }

/**
 * Asks a service to do something. `step.signal` is left out on purpose: it also fires when the task is cancelled, and
 * hanging up on a request that is on its way does not take it back, it only loses the answer. Complete-by bounds the wait.
 */
function ask<Output>(service: string, kind: string, body: object, step: StepContext): Promise<Output> {
  const { idempotencyKey, attempt, completeBy } = step
  return post(`${urlOf(service)}/${kind}`, body, { idempotencyKey, attempt, completeBy })
}

/** Where a service is, as the environment says: PAYMENT_URL and so on. */
function urlOf(service: string): string {
  const name = `${service.toUpperCase()}_URL`
  const url = process.env[name]
  if (!url) throw new Error(`${name} is not set`)
  return url
}
