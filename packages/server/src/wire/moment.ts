import { z } from 'zod'
import { Event } from './history.ts'
import { instant, named, whole } from './schema.ts'
import { stepViews, TaskInfo } from './task.ts'

const { status, outcome, failures, progress, output, error, pause } = TaskInfo.shape

export const Moment = named(
  'Moment',
  z.object({
    ...{ seq: whole, at: instant, last: whole, run: whole, events: z.array(Event) },
    ...{ status, outcome, failures, progress, output, error, pause, steps: stepViews },
    next: whole.optional(),
  }),
)
