import { z } from 'zod'
import { instant, named, whole } from './schema.ts'

const result = named(
  'ProbeResult',
  z.object({
    at: instant,
    ms: z.number(),
    problem: z
      .object({
        code: z.enum([
          ...(['dns', 'connect', 'timeout', 'tls', 'certificate', 'address'] as const),
          ...(['redirect', 'status', 'slow', 'content', 'health'] as const),
        ]),
        message: z.string(),
      })
      .optional(),
    status: z.int().optional(),
    address: z.string().optional(),
    certificateUntil: instant.optional(),
    redirects: z.array(z.string()),
  }),
)

const Endpoint = named(
  'ProbedEndpoint',
  z.object({
    name: z.string(),
    url: z.string(),
    state: z.enum(['unknown', 'up', 'down']),
    since: instant,
    streak: whole,
    last: result.optional(),
    /** When the next look is late. */
    lateAt: instant,
    /** Where it was asked for, the oldest first. */
    history: z.array(result).optional(),
  }),
)
export const ProbePage = named('ProbePage', z.object({ endpoints: z.array(Endpoint), next: z.string().optional() }))

export const probesQuery = z.strictObject({
  name: z.array(z.string().max(90)).max(1_000).optional(),
  history: z.boolean().optional(),
  cursor: z.string().max(100).optional(),
  limit: z.int().min(1).max(1_000).optional(),
})
