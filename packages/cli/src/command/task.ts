import type { Command } from 'commander'
import type { HistoryEntry, HistoryEvent, HistoryRemark, StepView, TaskDetails, TaskInfo, WorkflowRef } from 'triarch'
import { duration, json, pairs, parseInstant, whole } from '../argument.ts'
import { appFor, type CommandDeps, onTasks } from '../command.ts'
import { timer } from '../environment.ts'
import { exitCodes, Failure } from '../exit.ts'
import { placeOf, type Shared } from '../place.ts'
import { type Column, cell, instant as shown } from '../table.ts'
import { endedWell, type Waiting, wait, waitable } from '../wait.ts'

const columns: readonly Column<TaskInfo>[] = [
  ['TASK', ({ id }) => id],
  ['WORKFLOW', ({ workflow, version }) => `${workflow}@${version}`],
  ['STATUS', standing],
  ['SUBMITTED', ({ submittedAt }) => submittedAt],
  ['FAILURES', ({ failures }) => failures],
  ['ABOUT', about],
]

/** Where the task is, in a word: once it has stopped, how it ended. */
function standing({ status, outcome }: TaskInfo): string {
  return status === 'stopped' ? outcome : status
}

function about({ error, pause, waits, progress }: TaskInfo): unknown {
  return (
    pause?.error?.message ??
    pause?.reason ??
    error?.message ??
    pause?.cause ??
    waits?.map(({ text }) => text).join('; ') ??
    percent(progress)
  )
}

/** A share of the work is a number from 0 to 1. */
function percent(progress: unknown): unknown {
  return typeof progress === 'number' && progress >= 0 && progress <= 1 ? `${Math.round(progress * 100)} %` : progress
}

/** Looking at tasks, and starting them. */
export function addTasks(tasks: Command, means: CommandDeps): void {
  tasks
    .command('list')
    .description('tasks by a filter, the newest first; the filter is docs/reference/filter.md')
    .argument('[filter...]', 'such as status:paused workflow:fulfil')
    .option('--limit <n>', 'most tasks: 1 to 100,000', whole('--limit', 1, 100_000), 100)
    .option('--all', 'also those that the engine runs for itself: operations on many tasks')
    .action((filter: string[], _, command: Command) =>
      onTasks<{ limit: number; all?: true }>(means, command, async ({ session, report, options }) => {
        const found: TaskInfo[] = []
        const text = filterOf(filter, options.all === true)
        let cursor: string | undefined
        const look = async () => {
          do {
            const limit = Math.min(options.limit - found.length, 1_000)
            const page = await session.triarch.tasks.list({
              filter: text,
              limit,
              ...(cursor !== undefined && { cursor }),
            })
            found.push(...page.tasks)
            cursor = page.next
          } while (cursor !== undefined && found.length < options.limit)
        }
        await report.during('looking', look(), async () => ({ done: found.length, total: options.limit }))
        report.rows(columns, found, 'no task')
        if (cursor !== undefined) means.terminal.err('triarch: there are more: raise --limit, or narrow the filter\n')
      }),
    )

  one(tasks, 'get', 'a task, and its steps under way').action((id: string, _, command: Command) =>
    onTasks(means, command, async ({ session, report }) => {
      const found = await report.during('looking', session.triarch.tasks.get(id).status())
      report.one(found, fields(found))
    }),
  )

  one(tasks, 'watch', 'a line for each change, until it stops; ends with 1 when it did not succeed')
    .option('--timeout <duration>', 'give up watching after this long', duration('--timeout'))
    .action((id: string, _, command: Command) =>
      onTasks<Waiting>(means, command, async ({ session, report, options }) => {
        const { triarch } = session
        const over = new AbortController()
        const stop = options.timeout === undefined ? null : timer(options.timeout, () => over.abort(expired(id)))
        try {
          let last: TaskInfo | undefined
          for await (const info of triarch.tasks.get(id).watch({ signal: over.signal })) {
            report.next(info, `${shown(info.updatedAt)}  ${standing(info)}  ${cell(about(info))}`.trimEnd())
            last = info
          }
          over.signal.throwIfAborted()
          if (last && !endedWell(last.outcome)) means.end(exitCodes.failed)
        } finally {
          stop?.()
        }
      }),
    )

  one(tasks, 'history', 'all that happened to it, record by record').action((id: string, _, command: Command) =>
    onTasks(means, command, async ({ session, report }) => {
      const columns: readonly Column<HistoryEntry>[] = [
        ['RECORD', ({ seq }) => seq],
        ['AT', ({ at }) => at],
        ['EVENTS', ({ events, error }) => error?.message ?? events.map(happened).join(', ')],
      ]
      report.rows(columns, await report.during('looking', session.triarch.tasks.get(id).history()), 'no records')
    }),
  )

  one(tasks, 'steps', 'every step, past and to come').action((id: string, _, command: Command) =>
    onTasks(means, command, async ({ session, report }) => {
      const columns: readonly Column<StepView>[] = [
        ['STEP', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['ACTION', ({ action }) => action],
        ['STATUS', ({ status }) => status],
        ['ATTEMPTS', ({ attempts }) => attempts],
        ['ABOUT', ({ summary, error, output }) => summary ?? error?.message ?? output],
      ]
      report.rows(columns, await report.during('looking', session.triarch.tasks.get(id).steps()), 'no steps')
    }),
  )

  one(tasks, 'explain', 'why it does not move').action((id: string, _, command: Command) =>
    onTasks(means, command, async ({ session, report }) => {
      const found = await report.during('looking', session.triarch.tasks.get(id).explain())
      report.one(found, {
        task: found.task,
        status: found.status,
        why: found.text,
        holds: found.holds.length > 0 ? found.holds.map(({ lock }) => lock).join(', ') : undefined,
      })
    }),
  )

  waitable(
    tasks
      .command('start')
      .description('submits a task; prints its id')
      .argument('<workflow>', 'the name of a workflow: of the module, or of the server')
      .option('--app <module>', 'the module with the workflow; a server has its own')
      .option('--input <json>', 'its input: JSON, @file, or - for the standard input; null')
      .option('--id <id>', 'the same id twice is the same task')
      .option('--version <version>', 'of the workflow; the last of the module')
      .option('--tag <name=value>', 'for finding it; any number of times', pairs('--tag'))
      .option('--metadata <name=value>', 'for its steps; any number of times', pairs('--metadata'))
      .option('--priority <n>', 'higher first', Number)
      .option('--start-at <instant>', 'not before', parseInstant('--start-at')),
  ).action(async (name: string, _, command: Command) => {
    const { app: path, ...given } = command.opts<Start>()
    const { askKey: _key, ...shared } = command.optsWithGlobals<Shared>()
    const { type } = await placeOf(shared, means.terminal)
    // A server knows its workflows, and checks the input by them.
    const app = type === 'server' ? undefined : await appFor(path)
    const input = given.input === undefined ? null : await json('--input', given.input, means.terminal)
    await onTasks<Waiting>(
      means,
      command,
      async ({ session, report, options }) => {
        const { id, tag, metadata, priority, startAt, version } = given
        const ref: WorkflowRef<unknown, unknown> = { name, ...(version !== undefined && { version }) }
        const task = await session.triarch.submit(ref, input, {
          ...(id !== undefined && { id }),
          ...(tag && { tags: tag }),
          ...(metadata && { metadata }),
          ...(priority !== undefined && { priority }),
          ...(startAt && { startAt }),
        })
        if (options.wait) return wait(task, { means, report, options })
        report.one({ id: task.id }, { task: task.id })
      },
      app,
    )
  })
}

/** Who asks for a workflow, a task or its children by name means what it says. */
function filterOf(given: readonly string[], all: boolean): string {
  const text = given.join(' ')
  return all || /(?:^|[\s(])-?(?:workflow|id|parent):/.test(text)
    ? text
    : `${text} -workflow:"triarch-operation"*`.trim()
}

interface Start {
  app?: string
  input?: string
  id?: string
  version?: string
  tag?: Record<string, string>
  metadata?: Record<string, string>
  priority?: number
  startAt?: Date
}

function one(tasks: Command, name: string, description: string): Command {
  return tasks.command(name).description(description).argument('<id>', 'the id of the task')
}

function fields(task: TaskDetails): Record<string, unknown> {
  const { id, workflow, version, status, pause, error, output, tags, metadata, steps, parent, lockedBy, wakeAt } = task
  const { waits } = task
  return {
    task: id,
    workflow: `${workflow}@${version}`,
    status,
    outcome: status === 'stopped' ? task.outcome : undefined,
    submitted: task.submittedAt,
    updated: task.updatedAt,
    wakes: wakeAt,
    node: lockedBy,
    parent,
    tags: Object.keys(tags).length > 0 ? tags : undefined,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    failures: task.failures,
    progress: percent(task.progress),
    paused: pause && [pause.cause, pause.actor, pause.reason, pause.error?.message].filter(Boolean).join(': '),
    waits: waits?.map(({ code, text }) => `${code}: ${text}`).join('; '),
    error: error && [error.code, error.message].filter(Boolean).join(': '),
    output: status === 'stopped' && !error ? output : undefined,
    ...Object.fromEntries(
      steps.map((step) => [
        `step ${step.id}`,
        `${step.name}, attempt ${step.attempt}${step.held === undefined ? '' : `, held: ${step.held}`}${step.error ? `, ${step.error.message}` : ''}`,
      ]),
    ),
  }
}

/** An event in a few words. */
function happened(event: HistoryEvent): string {
  const of = ['id' in event ? event.id : '', 'name' in event ? event.name : ''].filter((part) => part !== '')
  const { reason, actor } = event as HistoryRemark
  const { code, message } = 'error' in event && event.error ? event.error : {}
  const wrong = [code, message].filter(Boolean).join(': ')
  const said = [actor && `by ${actor}`, reason && `"${reason}"`, wrong].filter(Boolean).join(': ')
  return [event.type, ...of, ...(said === '' ? [] : [`(${said})`])].join(' ')
}

function expired(id: string): Failure {
  return new Failure(exitCodes.timeout, 'WAIT_TIMEOUT', `task "${id}" has not stopped yet; it goes on`)
}
