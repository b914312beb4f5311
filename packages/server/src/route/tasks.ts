import { isTriarchError, type TaskExport, type TaskHandle, type TaskInfo } from 'triarch'
import { z } from 'zod'
import { Export, History, ImportOrder } from '../wire/history.ts'
import { LogPage, logQuery } from '../wire/log.ts'
import { Moment } from '../wire/moment.ts'
import { duration, whole } from '../wire/schema.ts'
import {
  Change,
  childrenQuery,
  Explanation,
  listQuery,
  Outcome,
  Plan,
  Steps,
  Submitted,
  Task,
  TaskPage,
} from '../wire/task.ts'
import { given, type Route, reply, route } from './route.ts'

const wait = z.strictObject({ wait: duration.optional() })
/** When to ask again for a task that has not stopped (s). */
const AGAIN = '1'

const list = route({
  method: 'GET',
  path: '/tasks',
  id: 'listTasks',
  summary: 'Tasks by what their rows say, a page at a time.',
  query: listQuery,
  answers: { 200: { description: 'A page; `next` is the cursor of the next one', schema: TaskPage } },
  problems: [422],
  async run({ query }, { triarch }) {
    const { quarantined, submittedAfter, submittedBefore, ...rest } = query
    const options = given(rest)
    const body = await triarch.tasks.list({
      ...options,
      ...(quarantined && { quarantined: true }),
      ...(submittedAfter !== undefined && { submittedAfter: new Date(submittedAfter) }),
      ...(submittedBefore !== undefined && { submittedBefore: new Date(submittedBefore) }),
    })
    return reply(200, body)
  },
})

const get = route({
  method: 'GET',
  path: '/tasks/{id}',
  id: 'getTask',
  summary: 'A task now; with `wait`, once it has stopped or the time is over.',
  query: wait,
  answers: { 200: { description: 'The task', schema: Task } },
  problems: [404],
  async run({ params, query, signal }, { triarch, waits, patience }) {
    const task = triarch.tasks.get(params.id)
    if (query.wait !== undefined) await waits.stopped(task, patience(query.wait), signal)
    return reply(200, await task.status())
  },
})

const outcome = route({
  method: 'GET',
  path: '/tasks/{id}/outcome',
  id: 'getOutcome',
  summary: 'How the task ended; with `wait`, waits for that. Reads no history.',
  query: wait,
  answers: {
    200: { description: 'It has stopped', schema: Outcome },
    202: { description: 'It has not stopped: ask again', headers: ['Retry-After'] },
  },
  problems: [404],
  async run({ params, query, signal }, { triarch, waits, patience }) {
    const task = triarch.tasks.get(params.id)
    await waits.stopped(task, patience(query.wait), signal)
    const { status, outcome, output, error } = await seen(task)
    if (status !== 'stopped') return { status: 202 as const, headers: { 'Retry-After': AGAIN } }
    return reply(200, { outcome, output, error })
  },
})

const change = route({
  method: 'GET',
  path: '/tasks/{id}/change',
  id: 'getChange',
  summary: 'The task, once it is not as it was at `after` any more, or the time is over. Reads no history.',
  query: wait.extend({ after: z.string().max(100).optional() }),
  answers: {
    200: { description: 'The task; `mark` stands for how it is now: the `after` of the next request', schema: Change },
  },
  problems: [404],
  async run({ params, query: { after, wait }, signal }, { triarch, waits, patience }) {
    const task = triarch.tasks.get(params.id)
    const over = new AbortController()
    void waits.stopped(task, patience(wait), signal).then(
      () => over.abort(),
      () => over.abort(),
    )
    try {
      for await (const info of task.watch({ signal: over.signal })) {
        const mark = await markOf(info)
        if (mark !== after) return reply(200, { task: info, mark })
      }
    } catch (error) {
      if (!over.signal.aborted || isTriarchError(error)) throw error
    } finally {
      over.abort()
    }
    const info = await seen(task)
    return reply(200, { task: info, mark: await markOf(info) })
  },
})

/** What its row shows. Throws UNKNOWN_TASK. */
async function seen(task: TaskHandle): Promise<TaskInfo> {
  const { value }: IteratorResult<TaskInfo, TaskInfo> = await task.watch().next()
  return value
}

/** Stands for all that a watch takes for a change. */
async function markOf({ status, outcome, failures, progress, pause }: TaskInfo): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([status, outcome, failures, progress, pause]))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text))
  return [...digest.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Records or steps of one answer. */
const MOST_ROWS = 1_000
const rangeQuery = z.strictObject({
  after: whole.optional(),
  limit: z.int().min(1).max(MOST_ROWS).optional(),
})

const steps = route({
  method: 'GET',
  path: '/tasks/{id}/steps',
  id: 'getSteps',
  summary: 'The steps of the task in the order of their numbers, without what is secret.',
  query: rangeQuery,
  answers: {
    200: { description: 'Steps that come after `after`; `next` is the `after` of the next page', schema: Steps },
  },
  problems: [404],
  async run({ params, query }, { triarch }) {
    const task = triarch.tasks.get(params.id)
    const steps = await task.steps(rangeOf(query))
    return reply(200, { steps, ...(await nextOf(idsOf(steps), async (range) => idsOf(await task.steps(range)))) })
  },
})

const moment = route({
  method: 'GET',
  path: '/tasks/{id}/moment',
  id: 'getMoment',
  summary: 'The task and its steps as of a record of its history, and what that record changed.',
  query: rangeQuery.extend({ at: z.int().min(1).optional() }),
  answers: {
    200: {
      description:
        'As of record `at`, or of the last one: its steps that come after `after`; `next` is the `after` of the next page',
      schema: Moment,
    },
  },
  problems: [404, 422],
  async run({ params, query }, { triarch }) {
    return reply(200, await triarch.tasks.get(params.id).moment(query.at, rangeOf(query)))
  },
})

const history = route({
  method: 'GET',
  path: '/tasks/{id}/history',
  id: 'getHistory',
  summary: 'What happened in the task, oldest first, without what is secret.',
  query: rangeQuery,
  answers: {
    200: { description: 'Records that come after `after`; `next` is the `after` of the next page', schema: History },
  },
  problems: [404],
  async run({ params, query }, { triarch }) {
    const task = triarch.tasks.get(params.id)
    return reply(200, await paged((range) => task.history(range), query))
  },
})

const exported = route({
  method: 'GET',
  path: '/tasks/{id}/export',
  id: 'exportTask',
  summary: 'The history as stores keep it, for `replayHistory` and `triarch replay`, without what is secret.',
  query: rangeQuery,
  answers: {
    200: { description: 'Records that come after `after`; `next` is the `after` of the next page', schema: Export },
  },
  problems: [404],
  async run({ params, query }, { triarch }) {
    const task = triarch.tasks.get(params.id)
    const exported = await task.export(rangeOf(query))
    const { records, ...rest } = exported
    const next = await nextOf(seqsOf(records), async (range) => seqsOf((await task.export(range)).records))
    return reply(200, { ...rest, records, ...next })
  },
})

const imported = route({
  method: 'POST',
  path: '/imports',
  id: 'importTask',
  right: 'import',
  summary:
    'Takes a task over with its history, as the export of another store gives it with its secrets: whole or not at all. It is paused, unless it has stopped or `paused` is false.',
  body: ImportOrder,
  answers: {
    200: { description: 'It is here already, with the same history', schema: Submitted },
    201: { description: 'It is new', schema: Submitted, headers: ['Location'] },
  },
  problems: [409, 422],
  async run({ body: { history, actor, ...options }, principal }, { triarch }) {
    const order = given({ ...options, actor: principal?.id ?? actor })
    const { id, isNew } = await triarch.tasks.import(history as TaskExport, order)
    const receipt = { id, created: isNew !== false }
    return isNew ? reply(201, receipt, { Location: `tasks/${encodeURIComponent(id)}` }) : reply(200, receipt)
  },
})

type Range = { after: number; limit: number }

function rangeOf({ after = 0, limit = MOST_ROWS }: z.output<typeof rangeQuery>): Range {
  return { after, limit }
}

async function paged<R extends { seq: number }>(
  read: (range: Range) => Promise<readonly R[]>,
  query: z.output<typeof rangeQuery>,
): Promise<{ records: readonly R[]; next?: number }> {
  const records = await read(rangeOf(query))
  return { records, ...(await nextOf(seqsOf(records), async (range) => seqsOf(await read(range)))) }
}

/** Where the next page begins, by the numbers of this one: a page may end before its limit where what is in it is large. */
async function nextOf(
  numbers: readonly number[],
  read: (range: Range) => Promise<readonly number[]>,
): Promise<{ next?: number }> {
  const last = numbers.at(-1)
  if (last === undefined || (await read({ after: last, limit: 1 })).length === 0) return {}
  return { next: last }
}

const seqsOf = (records: readonly { seq: number }[]) => records.map(({ seq }) => seq)
const idsOf = (steps: readonly { id: number }[]) => steps.map(({ id }) => id)

const logs = route({
  method: 'GET',
  path: '/tasks/{id}/logs',
  id: 'getLogs',
  summary: 'What the steps and the code of the task wrote into its log, the oldest line first.',
  query: logQuery,
  answers: {
    200: { description: 'A page; `last` is the `after` of what comes, `next` of what there is', schema: LogPage },
  },
  problems: [404, 422],
  async run({ params, query }, { triarch }) {
    return reply(200, await triarch.tasks.get(params.id).logs(given(query)))
  },
})

const plan = route({
  method: 'GET',
  path: '/tasks/{id}/plan',
  id: 'getPlan',
  summary: 'The plan of the task and how far each step is.',
  answers: { 200: { description: 'Its plan; null for a function, and before it is planned', schema: Plan } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, { plan: await triarch.tasks.get(params.id).plan() })
  },
})

const children = route({
  method: 'GET',
  path: '/tasks/{id}/children',
  id: 'listChildren',
  summary: 'The children of the task in the order in which they were created.',
  query: childrenQuery,
  answers: { 200: { description: 'A page; `next` is the cursor of the next one', schema: TaskPage } },
  problems: [404, 422],
  async run({ params, query }, { triarch }) {
    return reply(200, await triarch.tasks.get(params.id).children(given(query)))
  },
})

const explain = route({
  method: 'GET',
  path: '/tasks/{id}/explain',
  id: 'explainTask',
  summary: 'Why the task is not moving, in words and as data.',
  answers: { 200: { description: 'What it waits for', schema: Explanation } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, await triarch.tasks.get(params.id).explain())
  },
})

export const tasks: readonly Route[] = [
  list,
  get,
  outcome,
  change,
  steps,
  moment,
  history,
  exported,
  imported,
  logs,
  plan,
  children,
  explain,
]
