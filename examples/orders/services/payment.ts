import type { Definition } from './service.ts'

export const payment: Definition = {
  name: 'payment',
  action: { kind: 'charge', id: 'chargeId', output: ({ amount }) => ({ amount }) },
  undo: { kind: 'refund', id: 'refundId' },
  // In cents, by what is bought.
  reads: { kind: 'fee', answer: (item) => ({ fee: 10 * item.length }) },
  refusal: { status: 402, error: 'card declined' },
}
