import type { Command } from 'commander'
import type { NodeInfo } from 'triarch'
import { type CommandDeps, onTasks } from '../command.ts'
import type { Column } from '../table.ts'

const columns: readonly Column<NodeInfo>[] = [
  ['NODE', ({ id }) => id],
  ['ROLES', ({ roles }) => roles.join(' ')],
  ['STARTED', ({ startedAt }) => startedAt],
  ['LEASE UNTIL', ({ leaseUntil }) => leaseUntil],
  ['WHERE', ({ place }) => place && `${place.host} ${place.pid}`],
  ['RUNS', ({ runs }) => runs && [...runs.workflows, ...runs.actions].join(' ')],
]

/** Processes that live, and how much there is. */
export function addNodes(program: Command, means: CommandDeps): void {
  program
    .command('node')
    .description('processes')
    .command('list')
    .description('the nodes that live, where, and what they run')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) =>
        report.rows(columns, await report.during('looking', session.triarch.nodes.list()), 'no node lives'),
      ),
    )

  program
    .command('stats')
    .description('how much is in the store')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const {
          tasks,
          ready,
          work,
          inbox,
          truncated = [],
        } = await report.during('counting', session.triarch.statistics.get())
        const counts = { tasks, ready, work, inbox }
        const shown = Object.entries(counts).map(([name, count]) => [
          name,
          truncated.some((one) => one === name) ? `${count} or more` : count,
        ])
        report.one({ ...counts, ...(truncated.length > 0 && { truncated }) }, Object.fromEntries(shown))
      }),
    )
}
