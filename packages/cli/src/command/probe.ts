import type { Command } from 'commander'
import type { KeptEndpoint, ProbeResult } from 'triarch'
import { type CommandDeps, onTasks } from '../command.ts'
import { exitCodes, Failure } from '../exit.ts'
import { everyPage } from '../pages.ts'
import type { Column } from '../table.ts'

const endpoints: readonly Column<KeptEndpoint>[] = [
  ['ENDPOINT', ({ name }) => name],
  ['STATE', ({ state }) => state],
  ['SINCE', ({ since }) => since],
  ['PROBED', ({ last }) => last?.at],
  ['MS', ({ last }) => last && Math.round(last.ms)],
  ['URL', ({ url }) => url],
  ['FOUND', ({ last }) => last?.problem?.message],
]

const looks: readonly Column<ProbeResult>[] = [
  ['AT', ({ at }) => at],
  ['MS', ({ ms }) => Math.round(ms)],
  ['STATUS', ({ status }) => status],
  ['ADDRESS', ({ address }) => address],
  ['CERTIFICATE UNTIL', ({ certificateUntil }) => certificateUntil],
  ['FOUND', ({ problem }) => problem && `${problem.code}: ${problem.message}`],
]

/** Endpoints that a prober watches from outside, as it has kept them. */
export function addProbes(probes: Command, means: CommandDeps): void {
  probes
    .command('list')
    .description('endpoints by name, and what the last look saw')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await everyPage<KeptEndpoint>(report, async (page) => {
          const { endpoints: rows, next } = await session.triarch.health.probes({ limit: 1_000, ...page })
          return { rows, next }
        })
        report.rows(endpoints, found, 'no endpoint is watched by a prober that keeps what it finds')
      }),
    )

  probes
    .command('history')
    .description('what the last looks at an endpoint saw, the oldest first')
    .argument('<name>', 'the name of the endpoint')
    .action((name: string, _, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const [found] = (await session.triarch.health.probes({ names: [name], history: true })).endpoints
        if (!found) throw new Failure(exitCodes.absent, 'NO_ENDPOINT', `no prober has kept an endpoint "${name}"`)
        report.rows(looks, found.history ?? [], 'nobody has looked at it yet')
      }),
    )
}
