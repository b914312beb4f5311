import type { Command } from 'commander'
import type { Duration, RateLimitInfo } from 'triarch'
import { actorOf } from '../actor.ts'
import { parseInstant } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { everyPage } from '../pages.ts'
import type { Column } from '../table.ts'

const numbers = ({ limit, per }: { limit: number; per: number }) => `${limit} in ${per} ms`

const columns: readonly Column<RateLimitInfo>[] = [
  ['RATE LIMIT', ({ name }) => name],
  ['LIMIT', numbers],
  ['FORCED', ({ forced }) => forced && (forced.lifted ? 'lifted' : numbers(forced))],
  ['UNTIL', ({ forced }) => forced?.until],
  ['RESTS', ({ rests }) => rests],
  ['WAITING', ({ waiting }) => waiting],
]

interface RateLimitFlags {
  reason: string
  actor?: string
  until?: Date
  limit?: string
  per?: string
  burst?: string
  yes?: boolean
}

const words = {
  change: 'other numbers, on all nodes',
  lift: 'no limit, on all nodes',
  restore: 'what the code or a setting says counts again',
} as const

/** Rate limits, and the operator's word on them. */
export function addRateLimits(rateLimits: Command, means: CommandDeps): void {
  rateLimits
    .command('list')
    .description('rate limits by name')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await everyPage<RateLimitInfo>(report, async (page) => {
          const { rateLimits: rows, next } = await session.triarch.rateLimits.list({ limit: 1_000, ...page })
          return { rows, next }
        })
        report.rows(columns, found, 'no rate limit')
      }),
    )

  for (const [word, description] of Object.entries(words) as [keyof typeof words, string][]) {
    const command = rateLimits
      .command(word)
      .description(description)
      .argument('<name>', 'of its agent, or agent.action; with #key that of one key')
      .requiredOption('--reason <text>', 'kept with the change')
      .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    if (word === 'change')
      command
        .requiredOption('--limit <n>', 'so many attempts begin in each --per')
        .requiredOption('--per <duration>', 'as 1s')
        .option('--burst <n>', 'so many more at once after a lull')
    if (word !== 'restore')
      command.option(
        '--until <instant>',
        'then it is as before; else once somebody restores it',
        parseInstant('--until'),
      )
    if (word === 'lift') command.option('--yes', 'do not ask')
    command.action((name: string, _, command: Command) =>
      onTasks<RateLimitFlags>(means, command, async ({ session, report, options }) => {
        const { reason, actor = actorOf(means.terminal), until, limit, per, burst, yes } = options
        const why = { reason, ...(actor && { actor }), ...(until && { until }) }
        const rate = session.triarch.rateLimits.get(name)
        if (word === 'lift') await confirm(means, yes, `Lift the rate limit of "${name}"`)
        if (word === 'lift') await rate.lift(why)
        if (word === 'restore') await rate.restore(why)
        if (word === 'change')
          await rate.change({
            ...why,
            ...{ limit: Number(limit), per: per as Duration },
            ...(burst !== undefined && { burst: Number(burst) }),
          })
        const found = await rate.info()
        const { forced } = found
        report.one(found, {
          'rate limit': name,
          limit: numbers(found),
          forced: forced && (forced.lifted ? 'lifted' : numbers(forced)),
          until: forced?.until,
        })
      }),
    )
  }
}
