import type { Command } from 'commander'
import type { HealthCheckReport } from 'triarch'
import { type CommandDeps, onTasks } from '../command.ts'
import { exitCodes } from '../exit.ts'
import type { Column } from '../table.ts'

const columns: readonly Column<HealthCheckReport>[] = [
  ['CHECK', ({ name }) => name],
  ['STATUS', ({ status }) => status],
  ['MS', ({ ms }) => ms],
  ['FOUND', ({ message }) => message],
]

/** How the engine on the store is, as whoever is asked sees it. */
export function addHealth(program: Command, means: CommandDeps): void {
  program
    .command('health')
    .description('how the store and all that works on it are; ends with 1 when something is critical')
    .option('--strict', 'ends with 1 for a warning, too')
    .argument('[checks...]', 'only these')
    .action((checks: string[], _, command: Command) =>
      onTasks<{ strict?: true }>(means, command, async ({ session, report, options }) => {
        const found = await report.during('looking', session.triarch.health.check(checks.length > 0 ? { checks } : {}))
        report.rows(columns, found.checks, '')
        if (found.status === 'critical' || (options.strict && found.status === 'warning')) means.end(exitCodes.failed)
      }),
    )
}
