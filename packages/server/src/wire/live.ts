import { z } from 'zod'
import { named, whole } from './schema.ts'

export const Gone = named('Gone', z.object({ id: z.string() }))

/** `again`: ask again, after the `retry` of the stream. */
export const StreamEnd = named('StreamEnd', z.object({ code: z.string(), again: z.boolean() }))

export const Counts = named(
  'Counts',
  z.object({
    tasks: whole,
    ready: whole,
    work: whole,
    inbox: whole,
    truncated: z.array(z.enum(['tasks', 'ready', 'work', 'inbox'])).optional(),
  }),
)
