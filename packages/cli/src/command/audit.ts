import type { Command } from 'commander'
import type { AuditOptions, AuditRecord } from 'triarch'
import { parseInstant, whole } from '../argument.ts'
import { type CommandDeps, onTasks } from '../command.ts'
import type { Column } from '../table.ts'

const columns: readonly Column<AuditRecord>[] = [
  ['AT', ({ at }) => at],
  ['WHO', ({ actor }) => actor],
  ['WHAT', ({ action, outcome }) => (outcome === 'refused' ? `${action} (refused)` : action)],
  ['ON', ({ subject }) => subject],
  ['REQUEST', ({ request }) => request],
  ['WHY', ({ reason }) => reason],
]

interface AuditFlags {
  actor?: string
  action?: string
  on?: string
  since?: Date
  until?: Date
  limit?: number
}

const PAGE = 1_000

/** Who did what to the system. */
export function addAudit(program: Command, means: CommandDeps): void {
  program
    .command('audit')
    .description('who did what to the system, the last first')
    .option('--actor <who>', 'by whom')
    .option('--action <name>', 'what, such as task.cancel')
    .option('--on <subject>', 'on what, such as task:o-1 or breaker:payments')
    .option('--since <instant>', 'from then on', parseInstant('--since'))
    .option('--until <instant>', 'before then', parseInstant('--until'))
    .option('--limit <n>', 'most entries; 100', whole('--limit', 1, 100_000))
    .action((_, command: Command) =>
      onTasks<AuditFlags>(means, command, async ({ session, report, options }) => {
        const { actor, action, on, since, until, limit = 100 } = options
        const query: AuditOptions = {
          ...(actor !== undefined && { actor }),
          ...(action !== undefined && { action }),
          ...(on !== undefined && { subject: on }),
          ...(since && { since }),
          ...(until && { until }),
        }
        const found: AuditRecord[] = []
        let cursor: string | undefined
        const look = async () => {
          do {
            const most = Math.min(PAGE, limit - found.length)
            const page = await session.triarch.audit.list({
              ...query,
              limit: most,
              ...(cursor !== undefined && { cursor }),
            })
            found.push(...page.entries)
            cursor = page.next
          } while (cursor !== undefined && found.length < limit)
        }
        await report.during('looking', look(), async () => ({ done: found.length, total: limit }))
        report.rows(columns, found, 'nobody did anything')
      }),
    )
}
