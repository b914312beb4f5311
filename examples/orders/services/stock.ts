import type { Definition } from './service.ts'

export const stock: Definition = {
  name: 'stock',
  action: { kind: 'reserve', id: 'reservationId' },
  undo: { kind: 'release', id: 'releaseId' },
  refusal: { status: 409, error: 'out of stock' },
}
