import { type OperationInfo, operationInfo, type Triarch, TriarchError } from 'triarch'
import { z } from 'zod'
import { Refused } from '../problem/problem.ts'
import { check } from '../request/check.ts'
import { keyOf } from '../request/key.ts'
import { Cancel, Compensate, Pause, Resume, Retry, Signal, Thaw } from '../wire/control.ts'
import {
  Matching,
  Operation,
  OperationCancel,
  OperationOrder,
  OperationPage,
  OperationReceipt,
} from '../wire/operation.ts'
import { given, type Route, reply, route } from './route.ts'

const WORKFLOW = 'triarch-operation'
/** What the options of each action may be: the body of its control; why and by whom is the operation's. */
const controls = {
  cancel: Cancel.omit({ reason: true, actor: true }),
  pause: Pause.omit({ reason: true, actor: true }),
  resume: Resume.omit({ reason: true, actor: true }),
  retry: Retry.omit({ reason: true, actor: true }),
  compensate: Compensate.omit({ reason: true, actor: true }),
  thaw: Thaw.omit({ reason: true, actor: true }),
  signal: Signal.omit({ reason: true, actor: true }),
} as const

const begin = route({
  method: 'POST',
  path: '/operations',
  id: 'startOperation',
  summary: 'Does one thing to all tasks that fit a filter; with `dryRun`, counts them.',
  body: OperationOrder,
  headers: { 'Idempotency-Key': 'The id of the operation, when the body gives none: sent again, it is the same one.' },
  answers: {
    200: { description: 'A dry run: so many tasks fit now', schema: Matching },
    201: { description: 'It is new, or was begun by the same order', schema: OperationReceipt, headers: ['Location'] },
  },
  problems: [404, 409, 422],
  async run({ body, headers, principal }, { triarch }) {
    const { dryRun, confirm, options, id = keyOf(headers), ...order } = body
    const checked = check(controls[order.action], options ?? {}, 'body')
    if (dryRun) return reply(200, await triarch.tasks.count({ filter: order.filter }))
    if (confirm === undefined)
      throw new Refused('INVALID_REQUEST', 'body.confirm: say how many tasks it may be, as a dry run counts them', [
        { path: 'body.confirm', message: 'say how many tasks it may be' },
      ])
    await checkHands(triarch)
    const actor = principal?.id ?? order.actor
    const task = await triarch.tasks.operate(
      given({ ...order, confirm, actor, ...(options !== undefined && { options: given(checked) }) }),
      given({ id }),
    )
    const location = { Location: `operations/${encodeURIComponent(task.id)}` }
    return reply(201, { id: task.id, created: task.isNew !== false }, location)
  },
})

/** Else it would wait, and nobody would know for what. */
async function checkHands(triarch: Triarch): Promise<void> {
  const nodes = await triarch.nodes.list()
  if (nodes.some(({ runs }) => runs?.workflows.some((key) => key.startsWith(`${WORKFLOW}@`)))) return
  throw new Refused('NO_OPERATIONS', 'no living node carries out operations')
}

const list = route({
  method: 'GET',
  path: '/operations',
  id: 'listOperations',
  summary: 'Operations, the newest first, a page at a time.',
  query: z.strictObject({
    cursor: z
      .string()
      .regex(/^\d{1,16}$/)
      .optional(),
    limit: z.int().min(1).max(1_000).optional(),
  }),
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: OperationPage } },
  async run({ query }, { triarch }) {
    // Each has a tag, by which an index leads.
    const { tasks, next } = await triarch.tasks.list({ ...given(query), filter: `tag.triarch:operation` })
    return reply(200, { operations: tasks.flatMap((task) => operationInfo(task) ?? []), next })
  },
})

const get = route({
  method: 'GET',
  path: '/operations/{id}',
  id: 'getOperation',
  summary:
    'An operation: who ordered what and why, and how far it is. Each of its tasks is a child of the task of this id.',
  answers: { 200: { description: 'The operation', schema: Operation } },
  problems: [404],
  async run({ params }, { triarch }) {
    return reply(200, await operationOf(triarch, params.id))
  },
})

const cancel = route({
  method: 'POST',
  path: '/operations/{id}/cancel',
  id: 'cancelOperation',
  summary: 'Asks no more tasks. Those that took it keep it.',
  body: OperationCancel,
  answers: { 202: { description: 'It is recorded' } },
  problems: [404, 409, 422],
  async run({ params, body, principal }, { triarch }) {
    await operationOf(triarch, params.id)
    const actor = principal?.id ?? body.actor
    await triarch.tasks.get(params.id).cancel({ compensate: false, ...given({ ...body, actor }) })
    return reply(202)
  },
})

/** Throws UNKNOWN_TASK, also for a task that is no operation. */
async function operationOf(triarch: Triarch, id: string): Promise<OperationInfo> {
  const task = triarch.tasks.get(id)
  const details = await task.status()
  const operation = operationInfo(details) && operationInfo(details, await task.steps())
  if (operation) return operation
  throw new TriarchError('UNKNOWN_TASK', `there is no operation "${id}"`)
}

export const operations: readonly Route[] = [begin, list, get, cancel]
