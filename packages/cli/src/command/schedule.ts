import type { Command } from 'commander'
import type { BackfillOptions, ScheduleHandle, ScheduleInfo } from 'triarch'
import { parseInstant, whole } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { usage } from '../exit.ts'
import { everyPage } from '../pages.ts'
import { said } from '../pause.ts'
import type { Shared } from '../place.ts'
import type { Report } from '../report.ts'
import type { Column } from '../table.ts'

const columns: readonly Column<ScheduleInfo>[] = [
  ['SCHEDULE', ({ name }) => name],
  ['WORKFLOW', ({ workflow, version }) => `${workflow}@${version}`],
  ['WHEN', when],
  ['NEXT', ({ next, paused, pausedBy }) => (paused || pausedBy ? 'paused' : next)],
  ['STARTED', ({ started }) => started],
  ['MISSED', ({ missed }) => missed],
  [
    'ABOUT',
    ({ failing, paused, pausedBy }) => failing?.error.message ?? paused?.reason ?? (pausedBy && said(pausedBy)),
  ],
]

function when({ recurrence }: ScheduleInfo): string {
  const { cron, every, timeZone } = { cron: undefined, every: undefined, timeZone: undefined, ...recurrence }
  return cron === undefined ? `every ${every} ms` : `${cron} ${timeZone ?? ''}`.trim()
}

export function addSchedules(schedules: Command, means: CommandDeps): void {
  schedules
    .command('list')
    .description('schedules by their names')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await everyPage<ScheduleInfo>(report, async (page) => {
          const { schedules: rows, next } = await session.triarch.schedules.list({ limit: 1_000, ...page })
          return { rows, next }
        })
        report.rows(columns, found, 'no schedule')
      }),
    )

  const one = (name: string, description: string) =>
    schedules.command(name).description(description).argument('<name>', 'the name of the schedule')

  one('get', 'a schedule as it stands').action((name: string, _, command: Command) =>
    on(means, command, name, async ({ schedule, report }) => {
      const found = await schedule.info()
      const { workflow, version, input, overlap, paused, next, last, started, skipped, missed, failing } = found
      report.one(found, {
        ...{ schedule: name, workflow: `${workflow}@${version}`, when: when(found), input, overlap, next, last },
        ...{
          started,
          skipped,
          missed,
          paused: paused ? (paused.reason ?? paused.since) : found.pausedBy && said(found.pausedBy),
          failing: failing?.error.message,
        },
      })
    }),
  )

  one('pause', 'occurrences pass unattended until it is resumed')
    .option('--reason <text>', 'kept with it')
    .action((name: string, _, command: Command) =>
      on<{ reason?: string }>(means, command, name, async ({ schedule, report, options: { reason } }) => {
        await schedule.pause(reason === undefined ? {} : { reason })
        report.one({ name, accepted: 'pause' }, { schedule: name, accepted: 'paused' })
      }),
    )

  one('resume', 'goes on with the next occurrence')
    .option('--reason <text>', 'kept in the audit')
    .action((name: string, _, command: Command) =>
      on<{ reason?: string }>(means, command, name, async ({ schedule, report, options: { reason } }) => {
        await schedule.resume(reason === undefined ? {} : { reason })
        report.one({ name, accepted: 'resume' }, { schedule: name, accepted: 'resumed' })
      }),
    )

  one('run', 'starts one of its tasks now, beside its occurrences')
    .option('--id <id>', 'of the task: once more with the same, and nothing happens')
    .option('--overlap <what>', 'while one has not stopped: skip, queue, allow or cancel-previous')
    .option('--reason <text>', 'kept in the audit')
    .action((name: string, _, command: Command) =>
      on<Run>(means, command, name, async ({ schedule, report, options: { id, overlap, reason } }) => {
        const given = { ...(id !== undefined && { id }), ...(reason !== undefined && { reason }) }
        const task = await schedule.run({ ...given, ...(overlap !== undefined && { overlap: overlapOf(overlap) }) })
        report.one({ task }, { task })
      }),
    )

  one('remove', 'forgets it; its tasks stay')
    .option('--reason <text>', 'kept in the audit')
    .option('--yes', 'do not ask')
    .action((name: string, _, command: Command) =>
      on<{ yes?: boolean; reason?: string }>(means, command, name, async ({ schedule, report, options }) => {
        const { yes, reason } = options
        await confirm(means, yes, `Remove schedule "${name}"`)
        await schedule.remove(reason === undefined ? {} : { reason })
        report.one({ name, accepted: 'remove' }, { schedule: name, accepted: 'removed' })
      }),
    )

  one('next', 'its next occurrences')
    .option('--count <n>', 'how many: 1 to 1,000', whole('--count', 1, 1_000), 5)
    .action((name: string, _, command: Command) =>
      on<{ count: number }>(means, command, name, async ({ schedule, report, options }) => {
        const found = (await schedule.next(options.count)).map((at) => ({ at }))
        report.rows([['AT', ({ at }) => at]], found, 'never again')
      }),
    )

  one('backfill', 'starts the occurrences of a time that has passed')
    .requiredOption('--from <instant>', 'after this', parseInstant('--from'))
    .requiredOption('--to <instant>', 'up to this', parseInstant('--to'))
    .option('--overlap <what>', 'while an earlier one has not stopped: skip, queue, allow or cancel-previous')
    .option('--reason <text>', 'kept in the audit')
    .option('--yes', 'do not ask')
    .action((name: string, _, command: Command) =>
      on<Backfill>(means, command, name, async ({ schedule, report, options }) => {
        const { from, to, overlap, reason, yes } = options
        const as = overlap === undefined ? undefined : overlapOf(overlap)
        await confirm(means, yes, `Start what schedule "${name}" had from ${from.toISOString()} to ${to.toISOString()}`)
        const why = reason === undefined ? {} : { reason }
        const work = schedule.backfill({ from, to, ...why, ...(as && { overlap: as }) })
        const ids = await report.during('backfill', work)
        report.rows(
          [['TASK', ({ id }) => id]],
          ids.map((id) => ({ id })),
          'nothing to start',
        )
      }),
    )
}

type Overlap = NonNullable<BackfillOptions['overlap']>
const overlaps: readonly Overlap[] = ['skip', 'queue', 'allow', 'cancel-previous']

function overlapOf(said: string): Overlap {
  const overlap = overlaps.find((known) => known === said)
  if (overlap === undefined) throw usage(`--overlap: give one of ${overlaps.join(', ')}`)
  return overlap
}

interface Run {
  id?: string
  overlap?: string
  reason?: string
}

interface Backfill {
  from: Date
  to: Date
  overlap?: string
  reason?: string
  yes?: boolean
}

function on<O extends object>(
  means: CommandDeps,
  command: Command,
  name: string,
  work: (of: { schedule: ScheduleHandle; report: Report; options: O & Shared }) => Promise<void>,
): Promise<void> {
  return onTasks<O>(means, command, async ({ session, report, options }) =>
    work({ schedule: session.triarch.schedules.get(name), report, options }),
  )
}
