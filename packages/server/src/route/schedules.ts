import { type Duration, isTriarchError, type ScheduleHandle, type ScheduleOptions } from 'triarch'
import { z } from 'zod'
import {
  Backfill,
  Backfilled,
  Occurrences,
  Schedule,
  ScheduleDefinition,
  SchedulePage,
  SchedulePause,
  ScheduleResume,
  ScheduleRun,
  ScheduleStarted,
} from '../wire/schedule.ts'
import { given, type Route, reply, route } from './route.ts'

const list = route({
  method: 'GET',
  path: '/schedules',
  id: 'listSchedules',
  summary: 'Schedules by name, a page at a time.',
  query: z.strictObject({ cursor: z.string().optional(), limit: z.int().min(1).max(1_000).optional() }),
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: SchedulePage } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.schedules.list(given(query)))
  },
})

const put = route({
  method: 'PUT',
  path: '/schedules/{name}',
  id: 'putSchedule',
  right: 'schedules',
  summary: 'Registers the schedule, or changes it; the same definition again changes nothing.',
  body: ScheduleDefinition,
  answers: {
    200: { description: 'The schedule that was there, as it is now', schema: Schedule },
    201: { description: 'It is new', schema: Schedule },
  },
  problems: [404, 422],
  async run({ params, body }, site) {
    const { workflow, version, input, every, from, jitter, catchUp, ...rest } = body
    const schedule = site.triarch.schedules.get(params.name)
    const known = await isThere(schedule)
    await schedule.register({
      ...(given(rest) as Partial<ScheduleOptions>),
      workflow: site.workflow(workflow, version),
      input: input ?? null,
      ...(every !== undefined && { every: every as Duration }),
      ...(from !== undefined && { from: new Date(from) }),
      ...(jitter !== undefined && { jitter: jitter as Duration }),
      ...(catchUp !== undefined && { catchUp: given(catchUp) as { limit?: number; within?: Duration } }),
    })
    return reply(known ? (200 as const) : (201 as const), await schedule.info())
  },
})

async function isThere(schedule: ScheduleHandle): Promise<boolean> {
  try {
    await schedule.info()
    return true
  } catch (error) {
    if (isTriarchError(error, 'UNKNOWN_SCHEDULE')) return false
    throw error
  }
}

const get = route({
  method: 'GET',
  path: '/schedules/{name}',
  id: 'getSchedule',
  summary: 'A schedule as it stands.',
  answers: { 200: { description: 'The schedule', schema: Schedule } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, await triarch.schedules.get(params.name).info())
  },
})

const remove = route({
  method: 'DELETE',
  path: '/schedules/{name}',
  id: 'deleteSchedule',
  right: 'schedules',
  summary: 'Forgets the schedule. Its tasks stay as they are. `reason` is kept in the audit.',
  query: z.strictObject({ reason: z.string().min(1).max(1_000).optional() }),
  answers: { 204: { description: 'It is gone' } },
  problems: [404],
  async run({ params, query }, { triarch }) {
    await triarch.schedules.get(params.name).remove(given(query))
    return reply(204)
  },
})

const pause = route({
  method: 'POST',
  path: '/schedules/{name}/pause',
  id: 'pauseSchedule',
  right: 'schedules',
  summary: 'Occurrences pass unattended until the schedule is resumed.',
  body: SchedulePause,
  answers: { 200: { description: 'The schedule as it is now', schema: Schedule } },
  problems: [404],
  async run({ params, body }, { triarch }) {
    const schedule = triarch.schedules.get(params.name)
    await schedule.pause(given(body))
    return reply(200, await schedule.info())
  },
})

const resume = route({
  method: 'POST',
  path: '/schedules/{name}/resume',
  id: 'resumeSchedule',
  right: 'schedules',
  summary: 'The schedule goes on with the next occurrence.',
  body: ScheduleResume,
  answers: { 200: { description: 'The schedule as it is now', schema: Schedule } },
  problems: [404],
  async run({ params, body }, { triarch }) {
    const schedule = triarch.schedules.get(params.name)
    await schedule.resume(given(body))
    return reply(200, await schedule.info())
  },
})

const backfill = route({
  method: 'POST',
  path: '/schedules/{name}/backfill',
  id: 'backfillSchedule',
  right: 'schedules',
  summary: 'Starts the occurrences of a time that has passed, at most 1,000. One that has a task keeps it.',
  body: Backfill,
  answers: { 200: { description: 'The ids of their tasks', schema: Backfilled } },
  problems: [404],
  async run({ params, body: { from, to, ...rest } }, { triarch }) {
    const schedule = triarch.schedules.get(params.name)
    const span = { from: new Date(from), to: new Date(to) }
    const tasks = await schedule.backfill({ ...span, ...given(rest) })
    return reply(200, { tasks })
  },
})

const run = route({
  method: 'POST',
  path: '/schedules/{name}/run',
  id: 'runSchedule',
  right: 'schedules',
  summary: 'Starts one of its tasks now, beside its occurrences. The same `id` again is the same task.',
  body: ScheduleRun,
  answers: { 200: { description: 'The id of the task', schema: ScheduleStarted } },
  problems: [404, 409],
  async run({ params, body }, { triarch }) {
    return reply(200, { task: await triarch.schedules.get(params.name).run(given(body)) })
  },
})

const next = route({
  method: 'GET',
  path: '/schedules/{name}/next',
  id: 'nextOccurrences',
  summary: 'The next occurrences, without jitter.',
  query: z.strictObject({ count: z.int().min(1).max(1_000).optional() }),
  answers: { 200: { description: 'Instants, the earliest first', schema: Occurrences } },
  problems: [404],
  async run({ params, query }, { triarch }) {
    const schedule = triarch.schedules.get(params.name)
    return reply(200, { occurrences: await schedule.next(query.count) })
  },
})

export const schedules: readonly Route[] = [list, put, get, remove, pause, resume, backfill, run, next]
