import { type Duration, type SubmitOptions, type TaskHandle, TriarchError, type Workflow } from 'triarch'
import { z } from 'zod'
import { keyOf } from '../request/key.ts'
import { inTrace, type Trace, traceOf } from '../request/trace.ts'
import { duration } from '../wire/schema.ts'
import { type Entry, Submission, SubmissionList, Submitted, SubmittedList } from '../wire/task.ts'
import { type Route, reply, route, type Site } from './route.ts'

const wait = z.strictObject({ wait: duration.optional() })
/** When to ask again for a task that has not stopped (s). */
const AGAIN = '1'

/** Where the request is in a trace: the task goes on in it, unless its metadata says otherwise. */
const traced = {
  traceparent: 'W3C trace context: the task is part of this trace, unless its metadata names another.',
  tracestate: 'W3C trace context.',
  baggage: 'W3C baggage, for every attempt of the task.',
}

const submit = route({
  method: 'POST',
  path: '/tasks',
  id: 'submitTask',
  right: 'start',
  summary: 'Submits a task; with `wait`, waits for its outcome.',
  query: wait,
  body: Submission,
  headers: {
    'Idempotency-Key': 'The id of the task, when the body gives none: sent again, it is the same task.',
    ...traced,
  },
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
    const { workflow, version, id = keyOf(headers), ...rest } = body
    const entry = { ...rest, ...(id !== undefined && { id }) }
    const task = await submitted(site, site.workflow(workflow, version), entry, traceIn(headers))
    const created = task.isNew !== false
    const receipt = { id: task.id, created }
    // Relative to the URL that was asked: so it is right under any path, and behind any gateway.
    const location = { Location: `tasks/${encodeURIComponent(task.id)}` }
    const status = created ? (201 as const) : (200 as const)
    if (query.wait === undefined) return reply(status, receipt, location)
    if (!(await site.waits.stopped(task, patience, signal)))
      return reply(202, receipt, { ...location, 'Retry-After': AGAIN })
    const { outcome, output, error } = await task.status()
    return reply(status, { ...receipt, outcome, output, error }, location)
  },
})

const submitMany = route({
  method: 'POST',
  path: '/submissions',
  id: 'submitTasks',
  right: 'start',
  summary:
    'Submits tasks of one workflow, each by itself: those that can be are submitted, whatever is wrong with others.',
  body: SubmissionList,
  headers: traced,
  answers: {
    200: {
      description: 'What became of each, in the order of the list: it is there, or a problem',
      schema: SubmittedList,
    },
  },
  problems: [404, 422],
  async run({ body: { workflow: name, version, tasks }, headers }, site) {
    const workflow = site.workflow(name, version)
    const trace = traceIn(headers)
    const results = tasks.map(async (entry) => {
      try {
        const { id, isNew } = await submitted(site, workflow, entry, trace)
        return { id, created: isNew !== false }
      } catch (error) {
        return { problem: site.problem(error) }
      }
    })
    return reply(200, { results: await Promise.all(results) })
  },
})

function submitted(
  { triarch }: Site,
  workflow: Workflow,
  { input, id, startAt, startBefore, completeBy, exclusive, metadata: own, ...options }: z.infer<typeof Entry>,
  trace: Trace,
): Promise<TaskHandle> {
  if (id !== undefined) checkAddress(id)
  const metadata = inTrace(own, trace)
  return triarch.submit(workflow, input ?? null, {
    ...(options as SubmitOptions),
    ...(id !== undefined && { id }),
    ...(metadata !== undefined && { metadata }),
    ...(startAt !== undefined && { startAt: when(startAt) }),
    ...(startBefore !== undefined && { startBefore: when(startBefore) }),
    ...(completeBy !== undefined && { completeBy: when(completeBy) }),
    ...(exclusive !== undefined && { exclusive: exclusive as SubmitOptions['exclusive'] & {} }),
  })
}

/** No path of a URL leads to these: they are taken for steps up and down in it, and for the events of all tasks. */
function checkAddress(id: string): void {
  if (id === '.' || id === '..' || id === 'events')
    throw new TriarchError('INVALID_NAME', 'a task id must not be ".", ".." or "events"')
}

function traceIn(headers: Headers): Trace {
  return traceOf((name) => headers.get(name))
}

function when(text: string): Date | Duration {
  return /^\d{4}-/.test(text) ? new Date(text) : (text as Duration)
}

export const submissions: readonly Route[] = [submit, submitMany]
