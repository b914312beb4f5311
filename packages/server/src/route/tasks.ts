import { type Duration, isTriarchError, type SubmitOptions, type TaskHandle, TriarchError } from 'triarch'
import { z } from 'zod'
import { duration, whole } from '../wire/schema.ts'
import {
  childrenQuery,
  Explanation,
  History,
  listQuery,
  Plan,
  Steps,
  Submission,
  Submitted,
  Task,
  TaskPage,
} from '../wire/task.ts'
import { given, type Route, reply, route, type Site } from './route.ts'

const wait = z.strictObject({ wait: duration.optional() })
/** When to ask again for a task that has not stopped (s). */
const AGAIN = '1'

const submit = route({
  method: 'POST',
  path: '/tasks',
  id: 'submitTask',
  summary: 'Submits a task; with `wait`, waits for its outcome.',
  query: wait,
  body: Submission,
  headers: { 'Idempotency-Key': 'The id of the task, when the body gives none: sent again, it is the same task.' },
  answers: {
    200: {
      description: 'It is there already, with the same workflow and input',
      schema: Submitted,
      headers: ['Location'],
    },
    201: { description: 'It is new', schema: Submitted, headers: ['Location'] },
    202: {
      description: 'It has not stopped within `wait`: ask at `Location`',
      schema: Submitted,
      headers: ['Location', 'Retry-After'],
    },
  },
  problems: [404, 409, 422],
  async run({ query, body, headers, signal }, site) {
    const patience = site.patience(query.wait)
    const { workflow, version, input, id = keyOf(headers), ...rest } = body
    const { startAt, startBefore, completeBy, exclusive, ...options } = rest
    if (id !== undefined) checkAddress(id)
    const { task, created } = await submitted(site, site.workflow(workflow, version), input ?? null, {
      ...(options as SubmitOptions),
      ...(id !== undefined && { id }),
      ...(startAt !== undefined && { startAt: when(startAt) }),
      ...(startBefore !== undefined && { startBefore: when(startBefore) }),
      ...(completeBy !== undefined && { completeBy: when(completeBy) }),
      ...(exclusive !== undefined && { exclusive: exclusive as SubmitOptions['exclusive'] & {} }),
    })
    const receipt = { id: task.id, created }
    // Relative to the URL that was asked: so it is right under any path, and behind any gateway.
    const location = { Location: `tasks/${encodeURIComponent(task.id)}` }
    const status = created ? (201 as const) : (200 as const)
    if (query.wait === undefined) return reply(status, receipt, location)
    if (!(await site.waits.stopped(task, patience, signal)))
      return reply(202, receipt, { ...location, 'Retry-After': AGAIN })
    const { result, output, error } = await task.status()
    return reply(status, { ...receipt, outcome: { result, output, error } }, location)
  },
})

/**
 * The engine does not say whether a task is new: so it is first submitted as one that must be. Whoever submits the same id at the same time
 * is told the same, in one order or the other.
 */
async function submitted(
  { triarch }: Site,
  workflow: Parameters<Site['triarch']['submit']>[0],
  input: unknown,
  options: SubmitOptions,
): Promise<{ task: TaskHandle; created: boolean }> {
  if (options.id === undefined || options.ifExists === 'reject')
    return { task: await triarch.submit(workflow, input, options), created: true }
  try {
    return { task: await triarch.submit(workflow, input, { ...options, ifExists: 'reject' }), created: true }
  } catch (error) {
    if (!isTriarchError(error, 'TASK_EXISTS')) throw error
    return { task: await triarch.submit(workflow, input, options), created: false }
  }
}

/** As a string of structured fields, which the draft asks for, or as it is. */
function keyOf(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key') ?? undefined
  return key?.replace(/^"(.*)"$/s, '$1').replace(/\\(["\\])/g, '$1')
}

/** No path of a URL leads to these: they are taken for steps up and down in it. */
function checkAddress(id: string): void {
  if (id === '.' || id === '..') throw new TriarchError('INVALID_NAME', 'a task id must not be "." or ".."')
}

function when(text: string): Date | Duration {
  return /^\d{4}-/.test(text) ? new Date(text) : (text as Duration)
}

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
    const body = await triarch.list({
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
    const task = triarch.task(params.id)
    if (query.wait !== undefined) await waits.stopped(task, patience(query.wait), signal)
    return reply(200, await task.status())
  },
})

const steps = route({
  method: 'GET',
  path: '/tasks/{id}/steps',
  id: 'getSteps',
  summary: 'Every step of the task, without what is secret.',
  answers: { 200: { description: 'Its steps, in the order of their numbers', schema: Steps } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, { steps: await triarch.task(params.id).steps() })
  },
})

const MOST_RECORDS = 1_000

const history = route({
  method: 'GET',
  path: '/tasks/{id}/history',
  id: 'getHistory',
  summary: 'What happened in the task, oldest first, without what is secret.',
  query: z.strictObject({ after: whole.optional(), limit: z.int().min(1).max(MOST_RECORDS).optional() }),
  answers: {
    200: { description: 'Records that come after `after`; `next` is the `after` of the next page', schema: History },
  },
  problems: [404],
  async run({ params, query }, { triarch }) {
    const { after = 0, limit = MOST_RECORDS } = query
    const records = (await triarch.task(params.id).history()).filter(({ seq }) => seq > after)
    const page = records.slice(0, limit)
    const last = page.at(-1)
    return reply(200, { records: page, ...(records.length > limit && last && { next: last.seq }) })
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
    return reply(200, { plan: await triarch.task(params.id).plan() })
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
    return reply(200, await triarch.task(params.id).children(given(query)))
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
    return reply(200, await triarch.explain(params.id))
  },
})

export const tasks: readonly Route[] = [submit, list, get, steps, history, plan, children, explain]
