import { z } from 'zod'
import { instant, json, named } from './schema.ts'

const name = z.string().max(300).optional()

export const auditQuery = z.strictObject({
  actor: name,
  action: name,
  subject: name,
  since: instant.optional(),
  until: instant.optional(),
  cursor: z
    .string()
    .regex(/^\d{1,16}\.\d{1,16}$/)
    .optional(),
  limit: z.int().min(1).max(1_000).optional(),
})

export const AuditPage = named(
  'AuditPage',
  z.object({
    entries: z.array(
      z.object({
        at: instant,
        actor: z.string().optional(),
        action: z.string(),
        subject: z.string(),
        outcome: z.enum(['done', 'refused']),
        reason: z.string().optional(),
        request: z.string().optional(),
        details: z.record(z.string(), json).optional(),
      }),
    ),
    next: z.string().optional(),
  }),
)
