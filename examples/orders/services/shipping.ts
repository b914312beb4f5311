import type { Definition } from './service.ts'

export const shipping: Definition = {
  name: 'shipping',
  action: { kind: 'ship', id: 'shipmentId', output: (_, id) => ({ tracking: `TR-${id.slice(-10).toUpperCase()}` }) },
  undo: { kind: 'cancel', id: 'cancellationId' },
  refusal: { status: 422, error: 'no delivery to this address' },
}
