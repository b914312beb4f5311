import type { Command } from 'commander'
import type { BreakerInfo } from 'triarch'
import { actorOf } from '../actor.ts'
import { parseInstant } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { everyPage } from '../pages.ts'
import type { Column } from '../table.ts'

const columns: readonly Column<BreakerInfo>[] = [
  ['BREAKER', ({ name }) => name],
  ['STATE', ({ state, keyed }) => (keyed ? 'by key' : state)],
  ['SINCE', ({ since }) => since],
  ['NEXT PROBE', ({ nextProbe }) => nextProbe],
  ['WAITING', ({ waiting }) => waiting],
  ['SEEN', ({ seen }) => (seen.answers > 0 ? `${seen.ill} ill, ${seen.slow} slow of ${seen.answers}` : '')],
]

interface BreakerFlags {
  reason: string
  actor?: string
  until?: Date
  yes?: boolean
}

const words = {
  open: 'no attempt of the agent starts any more, on any node',
  close: 'lets what waits go out, in waves',
  reset: 'closes it, and forgets what was seen',
} as const

/** Circuit breakers, and the operator's word on them. */
export function addBreakers(breakers: Command, means: CommandDeps): void {
  breakers
    .command('list')
    .description('circuit breakers by name')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await everyPage<BreakerInfo>(report, async (page) => {
          const { breakers: rows, next } = await session.triarch.breakers.list({ limit: 1_000, ...page })
          return { rows, next }
        })
        report.rows(columns, found, 'no circuit breaker')
      }),
    )

  breakers
    .command('get')
    .description('one circuit breaker: its state, since when and why, and what it saw')
    .argument('<name>', 'of its agent, or agent#key')
    .action((name: string, _, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await session.triarch.breakers.get(name).info()
        const { state, since, nextProbe, idle, waiting, seen, changes } = found
        const last = changes.at(-1)
        report.one(found, {
          ...{ breaker: name, state, since, why: last?.reason, by: last?.actor },
          ...{ 'next probe': idle ? 'the next step of the agent' : nextProbe, waiting },
          seen: seen.answers > 0 ? `${seen.ill} failed and ${seen.slow} slow of ${seen.answers} calls` : undefined,
        })
      }),
    )

  for (const [word, description] of Object.entries(words) as [keyof typeof words, string][]) {
    const command = breakers
      .command(word)
      .description(description)
      .argument('<name>', 'of its agent, or agent#key')
      .requiredOption('--reason <text>', 'kept with the change')
      .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    if (word === 'open')
      command
        .option(
          '--until <instant>',
          'then its probes try the service; else until somebody closes it',
          parseInstant('--until'),
        )
        .option('--yes', 'do not ask')
    command.action((name: string, _, command: Command) =>
      onTasks<BreakerFlags>(means, command, async ({ session, report, options }) => {
        const { reason, actor = actorOf(means.terminal), until, yes } = options
        if (word === 'open') await confirm(means, yes, `Hold back all attempts of "${name}"`)
        const breaker = session.triarch.breakers.get(name)
        await breaker[word]({ reason, ...(actor && { actor }), ...(until && { until }) })
        const found = await breaker.info()
        report.one(found, { breaker: name, state: found.state, 'next probe': found.nextProbe })
      }),
    )
  }
}
