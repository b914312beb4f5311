import { rights } from 'triarch'
import { z } from 'zod'
import { rightsOf } from '../request/right.ts'
import { named } from '../wire/schema.ts'
import { type Route, reply, route } from './route.ts'

const Principal = named('Principal', z.object({ id: z.string().optional(), rights: z.array(z.enum(rights)) }))

const get = route({
  method: 'GET',
  path: '/principal',
  id: 'getPrincipal',
  summary: 'Who asks, as this server knows them, and what they may do. Anybody who is known may ask.',
  answers: { 200: { description: 'No `id`: nobody is asked who they are', schema: Principal } },
  right: null,
  async run({ principal }) {
    return reply(200, { id: principal?.id, rights: [...rightsOf(principal)] })
  },
})

export const principal: readonly Route[] = [get]
