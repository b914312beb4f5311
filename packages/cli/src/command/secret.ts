import type { Command } from 'commander'
import { actorOf } from '../actor.ts'
import { duration } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'

interface SecretFlags {
  reason: string
  actor?: string
  overlap?: number
  yes?: boolean
}

/** The secret by which the store signs resume tokens and the tickets of connected agents. */
export function addSecret(secret: Command, means: CommandDeps): void {
  secret
    .command('rotate')
    .description('sign resume tokens and the tickets of connected agents by another secret')
    .requiredOption('--reason <text>', 'kept in the audit')
    .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    .option('--overlap <duration>', 'for how long what was signed before is taken; 30 days', duration('--overlap'))
    .option('--yes', 'do not ask')
    .action((_, command: Command) =>
      onTasks<SecretFlags>(means, command, async ({ session, report, options }) => {
        const { reason, overlap, yes, actor = actorOf(means.terminal) } = options
        if (overlap === 0) await confirm(means, yes, 'Refuse all resume tokens that were handed out so far')
        const more = { ...(overlap !== undefined && { overlap }), ...(actor && { actor }) }
        const done = await session.triarch.keys.rotateSecret({ reason, ...more })
        report.one(done, { 'old tokens until': done.overlapsUntil })
      }),
    )
}
