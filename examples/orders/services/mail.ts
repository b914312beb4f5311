import type { Definition } from './service.ts'

/** A mail that was sent cannot be taken back: no undo. */
export const mail: Definition = {
  name: 'mail',
  action: { kind: 'send', id: 'messageId' },
  refusal: { status: 422, error: 'mail address refused' },
}
