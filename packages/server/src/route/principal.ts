import { rights } from 'triarch'
import { z } from 'zod'
import { rightsOf } from '../request/right.ts'
import { named } from '../wire/schema.ts'
import { type Route, reply, route } from './route.ts'

const Principal = named(
  'Principal',
  z.object({ id: z.string().optional(), rights: z.array(z.enum(rights)), keys: z.boolean() }),
)

const get = route({
  method: 'GET',
  path: '/principal',
  id: 'getPrincipal',
  summary: 'Who asks, as this server knows them, and what they may do. Anybody who is known may ask.',
  answers: {
    200: {
      description: 'No `id`: nobody is asked who they are. `keys`: API keys of the store are taken here',
      schema: Principal,
    },
  },
  right: null,
  async run({ principal }, { guard }) {
    return reply(200, { id: principal?.id, rights: [...rightsOf(principal)], keys: guard.takesKeys })
  },
})

export const principal: readonly Route[] = [get]
