import type { Overlap } from 'triarch'
import { z } from 'zod'
import { duration, ErrorRecord, instant, json, named, SettingPause, texts, whole } from './schema.ts'

const overlaps = { skip: 'skip', queue: 'queue', allow: 'allow', 'cancel-previous': 'cancel-previous' } as const
const overlap = z.enum(overlaps satisfies { [K in Overlap]: K })

export const Schedule = named(
  'Schedule',
  z.object({
    name: z.string(),
    workflow: z.string(),
    version: z.string(),
    input: json.optional(),
    recurrence: z.union([
      z.object({ cron: z.string(), timeZone: z.string() }),
      z.object({ every: z.number(), offset: z.number() }),
    ]),
    overlap,
    paused: z.object({ since: instant, reason: z.string().optional() }).optional(),
    pausedBy: SettingPause.optional(),
    next: instant.optional(),
    last: instant.optional(),
    started: whole,
    skipped: whole,
    missed: whole,
    failing: z.object({ since: instant, times: whole, error: ErrorRecord }).optional(),
  }),
)

export const SchedulePage = named(
  'SchedulePage',
  z.object({ schedules: z.array(Schedule), next: z.string().optional() }),
)

export const ScheduleDefinition = named(
  'ScheduleDefinition',
  z.strictObject({
    workflow: z.string(),
    version: z.string().optional(),
    input: json.optional(),
    cron: z.string().max(200).optional(),
    timeZone: z.string().max(100).optional(),
    every: duration.optional(),
    from: instant.optional(),
    overlap: overlap.optional(),
    catchUp: z.strictObject({ limit: z.int().min(1).max(1_000).optional(), within: duration.optional() }).optional(),
    jitter: duration.optional(),
    priority: z.int().optional(),
    tags: texts.optional(),
    metadata: texts.optional(),
  }),
)

export const SchedulePause = named('SchedulePause', z.strictObject({ reason: z.string().optional() }))
export const ScheduleResume = named('ScheduleResume', z.strictObject({ reason: z.string().max(1_000).optional() }))
export const ScheduleRun = named(
  'ScheduleRun',
  z.strictObject({
    id: z.string().max(200).optional(),
    overlap: overlap.optional(),
    reason: z.string().max(1_000).optional(),
  }),
)
export const ScheduleStarted = named('ScheduleStarted', z.object({ task: z.string() }))
export const Backfill = named(
  'Backfill',
  z.strictObject({ from: instant, to: instant, overlap: overlap.optional(), reason: z.string().max(1_000).optional() }),
)
export const Backfilled = named('Backfilled', z.object({ tasks: z.array(z.string()) }))
export const Occurrences = named('Occurrences', z.object({ occurrences: z.array(instant) }))
