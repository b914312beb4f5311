import { z } from 'zod'
import { instant, named } from './schema.ts'

const values = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()]))
const status = z.enum(['ok', 'warning', 'critical'])

export const Health = named(
  'Health',
  z.object({
    /** That of the worst check. */
    status,
    at: instant,
    /** The node of this server; none: it plays no role. */
    node: z.string().optional(),
    checks: z.array(
      z.object({
        name: z.string(),
        status,
        message: z.string().optional(),
        /** Which message of the engine's own that is; none: somebody else's. */
        code: z.string().optional(),
        /** What that message is made of. */
        details: values.optional(),
        observed: values.optional(),
        /** How long the look took. */
        ms: z.number(),
        at: instant,
        since: instant,
        lastError: z.object({ at: instant, message: z.string() }).optional(),
      }),
    ),
  }),
)

/** For probes, which are told no more. */
export const Probe = named('Probe', z.object({ status: z.enum(['ok', 'unavailable']) }))
