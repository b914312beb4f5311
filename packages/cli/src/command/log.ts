import { type Command, Option } from 'commander'
import type { LogLevel, LogLine, LogOptions } from 'triarch'
import { whole } from '../argument.ts'
import { type CommandDeps, onTasks } from '../command.ts'
import { cell, instant } from '../table.ts'

interface Logs {
  step?: number
  attempt?: number
  level?: LogLevel
  limit: number
  follow?: true
}

/** What steps and workflows wrote into a task's log. */
export function addLogs(tasks: Command, means: CommandDeps): void {
  tasks
    .command('logs')
    .description('what its steps and its code wrote into its log, the oldest line first')
    .argument('<id>', 'the id of the task')
    .option('--step <n>', "of this step; 0: of the workflow's code", whole('--step', 0, Number.MAX_SAFE_INTEGER))
    .option('--attempt <n>', 'of attempts with this number', whole('--attempt', 1, Number.MAX_SAFE_INTEGER))
    .addOption(
      new Option('--level <level>', 'what matters at least as much').choices(['debug', 'info', 'warn', 'error']),
    )
    .option('--limit <n>', 'most lines: 1 to 10,000', whole('--limit', 1, 10_000), 1_000)
    .option('--follow', 'and what comes, until the task has stopped')
    .action((id: string, _, command: Command) =>
      onTasks<Logs>(means, command, async ({ session, report, options }) => {
        const { step, attempt, level, limit, follow } = options
        const task = session.triarch.tasks.get(id)
        const which: LogOptions = {
          ...(step !== undefined && { step }),
          ...(attempt !== undefined && { attempt }),
          ...(level !== undefined && { level }),
        }
        if (follow) {
          for await (const line of task.watchLogs(which)) report.next(line, shown(line))
          return
        }
        const lines: LogLine[] = []
        let after: number | undefined = 0
        let shed = 0
        while (after !== undefined && lines.length < limit) {
          const read = task.logs({ ...which, after, limit: Math.min(1_000, limit - lines.length) })
          const page = await report.during('reading', read)
          lines.push(...page.lines)
          after = page.next
          shed = page.shed
        }
        if (report.isData) report.rows<LogLine>([], lines, '')
        else for (const line of lines) report.say(shown(line))
        if (lines.length === 0) report.say('no lines')
        if (shed > 0) means.terminal.err(`triarch: ${shed} older lines are not kept any more\n`)
        if (after !== undefined) means.terminal.err('triarch: there may be more: raise --limit\n')
      }),
    )
}

function shown({ at, level, step, attempt, message, fields }: LogLine): string {
  const where = step === undefined ? '' : `${step}/${attempt}`
  const about = Object.keys(fields).length > 0 ? cell(fields) : ''
  return `${instant(at)}  ${level.padEnd(5)}  ${where.padEnd(5)}  ${cell(message)}  ${about}`.trimEnd()
}
