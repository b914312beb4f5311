import type { Command } from 'commander'
import {
  type OperationAction,
  type OperationInfo,
  type OperationReport,
  operationInfo,
  type TaskHandle,
  type TaskInfo,
} from 'triarch'
import { actorOf } from '../actor.ts'
import { json, whole } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { exitCodes, Failure, usage } from '../exit.ts'
import type { Measure } from '../progress.ts'
import type { Report } from '../report.ts'
import type { Session } from '../session.ts'
import type { Column } from '../table.ts'
import { type Waiting, waitable } from '../wait.ts'

/** Tasks of an operation, at most. */
const MOST = 10_000
/** Tasks that a preview shows. */
const SHOWN = 10
const WORKFLOW = 'triarch-operation'
const actions: readonly OperationAction[] = ['cancel', 'pause', 'resume', 'retry', 'compensate', 'thaw', 'signal']
/** These cannot be taken back. */
const destroying: readonly OperationAction[] = ['cancel', 'compensate']

interface OperationFlags {
  options?: string
  confirm?: number
  id?: string
  reason?: string
  actor?: string
  yes?: boolean
}

const targets: readonly Column<TaskInfo>[] = [
  ['TASK', ({ id }) => id],
  ['WORKFLOW', ({ workflow, version }) => `${workflow}@${version}`],
  ['STATUS', ({ status, outcome }) => (status === 'stopped' ? outcome : status)],
  ['SUBMITTED', ({ submittedAt }) => submittedAt],
]
const operations: readonly Column<OperationInfo>[] = [
  ['OPERATION', ({ id }) => id],
  ['STATUS', ({ status, outcome }) => (status === 'stopped' ? outcome : status)],
  ['SUBMITTED', ({ submittedAt }) => submittedAt],
  ['ORDER', orderOf],
]

/** One thing for all tasks that fit a filter: a look first, then as many as were seen and no more. */
export function addOperations(all: Command, means: CommandDeps): void {
  all
    .command('preview')
    .description(`how many tasks fit, and the first ${SHOWN}; nothing is done`)
    .argument('[filter...]', 'such as status:paused error:DECLINED')
    .action((filter: string[], _, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const { count, truncated, first } = await report.during('counting', preview(session, filter.join(' ')))
        report.one(
          { count, ...(truncated && { truncated }), first },
          { tasks: truncated ? `${count} or more` : count, first: first.map(({ id }) => id).join(' ') },
        )
      }),
    )

  waitable(
    all
      .command('start')
      .description(
        'asks one thing of all tasks that fit, after a preview; ends with 1 where a task did not take it, with --wait',
      )
      .argument('<action>', actions.join(', '))
      .argument('<filter...>', 'such as status:paused error:DECLINED')
      .option('--options <json>', 'what the action takes, or {"name", "payload"} of a signal: JSON, @file, or -')
      .option('--confirm <n>', 'no more tasks than this; as many as fit now', whole('--confirm', 1, MOST))
      .option('--id <id>', 'the same id twice is the same operation')
      .option('--reason <text>', 'why: kept in the history of each')
      .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
      .option('--yes', 'do not ask'),
  ).action((action: string, filter: string[], _, command: Command) =>
    onTasks<OperationFlags & Waiting>(means, command, async ({ session, report, options }) => {
      if (!isAction(action)) throw usage(`give one of ${actions.join(', ')}`)
      const query = filter.join(' ')
      const taken = options.options === undefined ? undefined : await json('--options', options.options, means.terminal)
      if (taken !== undefined && (typeof taken !== 'object' || taken === null || Array.isArray(taken)))
        throw usage('--options must be a JSON object')
      const { count, truncated, first } = await report.during('counting', preview(session, query))
      if (truncated) throw usage(`more than ${MOST} tasks fit: narrow the filter`)
      if (count === 0) return report.one({ count: 0 }, { tasks: 'none fits: nothing was done' })
      if (!options.yes && !report.isData) report.rows(targets, first, '')
      await confirm(means, options.yes, questionOf(action, count))
      await checkHands(session)
      const who = options.actor ?? actorOf(means.terminal)
      const operation = await session.triarch.tasks.operate(
        {
          ...{ filter: query, action, confirm: options.confirm ?? count },
          ...(taken !== undefined && { options: taken as Record<string, unknown> }),
          ...(options.reason !== undefined && { reason: options.reason }),
          ...(who && { actor: who }),
        },
        options.id === undefined ? {} : { id: options.id },
      )
      if (options.wait) return ending(operation, means, report, options)
      report.one({ id: operation.id, count }, { operation: operation.id, tasks: count })
    }),
  )

  all
    .command('list')
    .description('operations, the newest first')
    .option('--limit <n>', 'most of them: 1 to 1,000', whole('--limit', 1, 1_000), 100)
    .action((_, command: Command) =>
      onTasks<{ limit: number }>(means, command, async ({ session, report, options: { limit } }) => {
        const looked = session.triarch.tasks.list({ filter: 'tag.triarch:operation', limit })
        const { tasks } = await report.during('looking', looked)
        const found = tasks.flatMap((task) => operationInfo(task) ?? [])
        report.rows(operations, found, 'no operation')
      }),
    )

  one(all, 'get', 'what was ordered, and how far it is').action((id: string, _, command: Command) =>
    onTasks(means, command, async ({ session, report }) => {
      const operation = await known(session.triarch.tasks.get(id))
      const { status, outcome, error, matched, done, failed, cancelled, pending } = operation
      report.one(operation, {
        operation: id,
        status: status === 'stopped' ? outcome : status,
        order: orderOf(operation),
        error: error && [error.code, error.message].filter(Boolean).join(': '),
        ...{
          matched,
          done,
          failed: failed || undefined,
          cancelled: cancelled || undefined,
          pending: pending || undefined,
        },
      })
    }),
  )

  one(all, 'cancel', 'asks no more tasks; those that took it keep it')
    .option('--reason <text>', 'why: kept in its history')
    .action((id: string, _, command: Command) =>
      onTasks<{ reason?: string }>(means, command, async ({ session, report, options: { reason } }) => {
        const actor = actorOf(means.terminal)
        const task = session.triarch.tasks.get(id)
        await known(task)
        await task.cancel({
          compensate: false,
          ...(reason && { reason }),
          ...(actor && { actor }),
        })
        report.one({ id, accepted: 'cancel' }, { operation: id, accepted: 'asked to cancel' })
      }),
    )
}

function one(all: Command, name: string, description: string): Command {
  return all.command(name).description(description).argument('<id>', 'the id of the operation')
}

async function preview({ triarch }: Session, filter: string) {
  // Operations themselves are never among them.
  const [{ count, truncated }, { tasks }] = await Promise.all([
    triarch.tasks.count({ filter: `${filter} -workflow:${WORKFLOW}*`.trim() }),
    triarch.tasks.list({ filter: `${filter} -workflow:${WORKFLOW}*`.trim(), limit: SHOWN }),
  ])
  return { count, truncated, first: tasks }
}

function questionOf(action: OperationAction, count: number): string {
  const what = `${action} ${count} ${count === 1 ? 'task' : 'tasks'}`
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}${destroying.includes(action) ? ', which cannot be taken back' : ''}`
}

/** Else it would wait, and nobody would know for what. */
async function checkHands({ triarch }: Session): Promise<void> {
  const nodes = await triarch.nodes.list()
  if (nodes.some(({ runs }) => runs?.workflows.some((key) => key.startsWith(`${WORKFLOW}@`)))) return
  const message = 'no living node carries out operations: give one of them `operations: true`, or run triarch start'
  throw new Failure(exitCodes.unavailable, 'NO_OPERATIONS', message)
}

async function known(task: TaskHandle): Promise<OperationInfo> {
  const [info, steps] = await Promise.all([task.status(), task.steps()])
  const operation = operationInfo(info, steps)
  if (operation) return operation
  throw new Failure(exitCodes.absent, 'UNKNOWN_TASK', `there is no operation "${task.id}"`)
}

async function ending(
  operation: TaskHandle<OperationReport>,
  means: CommandDeps,
  report: Report,
  { timeout }: Waiting,
): Promise<void> {
  const result = operation.result(timeout === undefined ? {} : { timeout })
  const measure = async (): Promise<Measure | null> => {
    const { pending, done = 0, failed = 0, cancelled = 0 } = await known(operation)
    return pending === undefined ? null : { done: done + failed, total: done + failed + cancelled + pending }
  }
  await report.during(operation.id, result, measure)
  const ended = await known(operation)
  const { matched, done, failed = 0 } = ended
  report.one(ended, { operation: operation.id, matched, done, failed: failed || undefined })
  if (failed > 0) means.end(exitCodes.failed)
}

function isAction(text: string): text is OperationAction {
  return actions.some((known) => known === text)
}

function orderOf({ action, filter, reason }: Partial<OperationReport>): string {
  return `${action ?? ''} ${filter ?? ''}${reason ? ` ("${reason}")` : ''}`
}
