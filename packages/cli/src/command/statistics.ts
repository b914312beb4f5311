import type { Command } from 'commander'
import type { Figures, FiguresColumn, FiguresQuery, FiguresRow, TriarchClient } from 'triarch'
import { actorOf } from '../actor.ts'
import { duration, parseInstant } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { now, timer } from '../environment.ts'
import { exitCodes, Failure, usage } from '../exit.ts'
import type { Measure } from '../progress.ts'
import { type Column, instant as told } from '../table.ts'

const ALL: readonly FiguresColumn[] = ['hour', 'kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag']
const USUAL: readonly FiguresColumn[] = ['kind', 'workflow', 'outcome']
const FIGURES: readonly Column<FiguresRow>[] = [
  ['COUNT', ({ count }) => count],
  ['MEAN MS', ({ mean }) => mean],
  ['P50', ({ p50 }) => p50],
  ['P95', ({ p95 }) => p95],
  ['P99', ({ p99 }) => p99],
]
const filters = {
  kind: 'only task, step, or attempt (those that failed)',
  workflow: 'only of this workflow',
  agent: 'only of this agent',
  action: 'only of this action, as agent.action',
  outcome: 'only of those that became this',
  error: 'only with this error, by its code or name',
  tag: 'only with this value of the tag that is counted by, such as a tenant',
} as const

/** Between two looks at how far something is (ms). */
const LOOK = 500

type StatisticsFlags = Partial<Record<keyof typeof filters, string>> & { by?: FiguresColumn[]; from?: Date; to?: Date }

/** What histories say, counted by the hour. */
export function addStatistics(program: Command, means: CommandDeps): void {
  const command = program
    .command('statistics')
    .description('how often tasks, steps and attempts ended how, and how long they took')
    .option('--by <columns>', `told apart by these, with commas: ${ALL.join(', ')}; ${USUAL.join(',')}`, columns)
    .option('--from <instant>', 'from the hour that it is in; a day ago', parseInstant('--from'))
    .option('--to <instant>', 'up to the hour that it is in; now', parseInstant('--to'))
  for (const [name, description] of Object.entries(filters)) command.option(`--${name} <value>`, description)
  command.action((_, command: Command) =>
    onTasks<StatisticsFlags>(means, command, async ({ session, report, options }) => {
      const { by = USUAL, from, to } = options
      const names = Object.keys(filters) as (keyof typeof filters)[]
      const chosen = Object.fromEntries(names.flatMap((it) => (options[it] === undefined ? [] : [[it, options[it]]])))
      const within = { ...(from && { from: from.getTime() }), ...(to && { to: to.getTime() }) }
      const query = { ...chosen, ...within, by } as FiguresQuery
      const found = await report.during('counting', session.triarch.statistics.figures(query))
      if (report.isData) return report.one(dated(found), {})
      report.rows([...by.map(columnOf), ...FIGURES], found.rows, 'nothing was counted')
      if (found.truncated) report.say('there is more: ask for fewer hours, or tell less apart')
      report.say(standing(found))
    }),
  )
}

/** As a server gives them: instants as such, not as milliseconds. */
function dated({ rows, asOf, recount, ...rest }: Figures): unknown {
  const dates = rows.map(({ hour, ...row }) => (hour === undefined ? row : { hour: new Date(hour), ...row }))
  return {
    ...{ rows: dates, asOf: asOf === null ? null : new Date(asOf), ...rest },
    ...(recount && { recount: { ...recount, since: new Date(recount.since) } }),
  }
}

/** Drops what was counted, for the supervisor to count it anew. */
export function addRecount(program: Command, means: CommandDeps): void {
  program
    .command('recount')
    .description('drop all statistics: the supervisor counts anew, from the histories that there are')
    .option('--reason <text>', 'kept in the audit')
    .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    .option('--yes', 'do not ask')
    .option('--wait', 'wait until all is counted anew')
    .option('--timeout <duration>', 'with --wait: no longer than this (ends with 124)', duration('--timeout'))
    .action((_, command: Command) =>
      onTasks<{ reason?: string; actor?: string; yes?: boolean; wait?: boolean; timeout?: number }>(
        means,
        command,
        async ({ session: { triarch }, report, options }) => {
          const { reason, actor = actorOf(means.terminal), yes, wait, timeout } = options
          await confirm(means, yes, 'Drop all statistics, also of tasks that are no more')
          await triarch.statistics.recount({ ...(reason !== undefined && { reason }), ...(actor && { actor }) })
          const begun = { recount: wait ? 'done' : 'begun' }
          if (!wait && report.isData) return report.one(begun, {})
          if (!wait) return report.say('it is counted again: `triarch statistics` shows how far that is')
          const measure: Measure = { done: 0, total: 100 }
          await report.during('recount', counted(triarch, measure, timeout), async () => measure)
          if (report.isData) report.one(begun, {})
          else report.say('all is counted again')
        },
      ),
    )
}

/** Looks until nothing is left to be counted anew. */
async function counted(triarch: TriarchClient, measure: Measure, timeout = Number.POSITIVE_INFINITY): Promise<void> {
  const until = now() + timeout
  for (;;) {
    const { recount } = await triarch.statistics.figures({ by: [] })
    if (!recount) return
    measure.done = Math.floor(recount.share * 100)
    if (now() >= until)
      throw new Failure(exitCodes.timeout, 'WAIT_TIMEOUT', `${measure.done} % are counted so far; it goes on`)
    await new Promise<void>((resolve) => void timer(Math.min(LOOK, until - now()), resolve))
  }
}

function columns(text: string): FiguresColumn[] {
  const names = text.split(',').map((it) => it.trim())
  const wrong = names.find((it) => !ALL.includes(it as FiguresColumn))
  if (wrong !== undefined) throw usage(`--by: "${wrong}" is none of ${ALL.join(', ')}`)
  return [...new Set(names)] as FiguresColumn[]
}

function columnOf(name: FiguresColumn): Column<FiguresRow> {
  return [
    name.toUpperCase(),
    (row) => (name === 'hour' && row.hour !== undefined ? new Date(row.hour) : (row[name] ?? '')),
  ]
}

/** How far what was counted is behind what was written. */
function standing({ asOf, behind, recount }: Figures): string {
  if (recount)
    return `it is counted anew since ${told(new Date(recount.since))}: ${Math.floor(recount.share * 100)} % so far`
  if (asOf === null) return 'nothing is counted whole yet: a supervisor counts with the option `statistics`'
  return `all is counted that was written before ${told(new Date(asOf))}, ${behind} ms ago`
}
