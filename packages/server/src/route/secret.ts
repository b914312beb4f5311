import type { Duration, SecretRotateOptions } from 'triarch'
import { checkRight } from '../request/right.ts'
import { RotatedSecret, SecretRotation } from '../wire/secret.ts'
import { given, type Route, reply, route } from './route.ts'

const rotate = route({
  method: 'POST',
  path: '/secret/rotate',
  id: 'rotateSecret',
  right: 'keys',
  summary:
    'Resume tokens and the tickets of connected agents are signed by another secret of the store. What was signed before is taken for `overlap` (`"30d"`). Needs `control`, too: it ends what others may do.',
  body: SecretRotation,
  answers: { 200: { description: 'Until when what was signed before is taken', schema: RotatedSecret } },
  async run({ body: { reason, actor, overlap }, principal }, { triarch }) {
    checkRight(principal, 'control')
    const options = given({ reason, actor: principal?.id ?? actor, overlap: overlap as Duration | undefined })
    return reply(200, await triarch.keys.rotateSecret(options as SecretRotateOptions))
  },
})

export const secret: readonly Route[] = [rotate]
