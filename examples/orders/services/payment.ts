import type { Definition } from './service.ts'

export const payment: Definition = {
  name: 'payment',
  action: { kind: 'charge', id: 'chargeId', output: ({ amount }) => ({ amount }) },
  undo: { kind: 'refund', id: 'refundId' },
  refusal: { status: 402, error: 'card declined' },
}
