import type { Command } from 'commander'
import type { Demand, WorkDemand } from 'triarch'
import { duration } from '../argument.ts'
import { type CommandDeps, onTasks } from '../command.ts'
import type { Column } from '../table.ts'

type Row = WorkDemand & { kind: 'agent' | 'workflow'; name: string; held?: Demand['agents'][number]['held'] }

const columns: readonly Column<Row>[] = [
  ['KIND', ({ kind }) => kind],
  ['NAME', ({ name }) => name],
  ['WAITING', ({ waiting, truncated }) => (truncated ? `${waiting} or more` : waiting)],
  ['SINCE', ({ since }) => since],
  ['RUNNING', ({ running, has }) => `${running} of ${has.slots}`],
  ['PROCESSES', ({ has }) => has.processes],
  ['WANTED', ({ wanted }) => wanted.processes],
  ['HELD BY', ({ held }) => held?.by],
]

/** What an autoscaler goes by. */
export function addDemand(program: Command, means: CommandDeps): void {
  program
    .command('demand')
    .description('how many processes the work asks for that waits and runs, by agent and by workflow')
    .option('--within <duration>', 'how long work may wait: 30s if not given', duration('--within'))
    .action((options: { within?: number }, command: Command) =>
      onTasks(means, command, async ({ session: { triarch }, report }) => {
        const { within } = options
        const counted = triarch.nodes.demand(within === undefined ? {} : { within })
        const { agents, schedulers } = await report.during('counting', counted)
        const rows: Row[] = [
          ...agents.map(({ agent, ...work }) => ({ kind: 'agent' as const, name: agent, ...work })),
          ...schedulers.map(({ workflow, version, ...work }) => ({
            ...{ kind: 'workflow' as const, name: `${workflow}@${version}` },
            ...work,
          })),
        ]
        report.rows(columns, rows, 'nothing runs, and nothing waits')
      }),
    )
}
