import type { Command } from 'commander'
import { json } from '../argument.ts'
import { type CommandDeps, onTasks } from '../command.ts'
import { usage } from '../exit.ts'

interface CacheFlags {
  key?: string
  tag?: string
  reason?: string
}

/** Answers that are kept. */
export function addCaches(caches: Command, means: CommandDeps): void {
  caches
    .command('invalidate')
    .description('kept answers are not valid any more, on any node')
    .argument('[action]', 'as agent.action')
    .option('--key <json>', 'only the answer for this key of the action')
    .option('--tag <tag>', 'all answers with this tag, of whatever action')
    .option('--reason <text>', 'kept in the audit')
    .action((action: string | undefined, _, command: Command) =>
      onTasks<CacheFlags>(means, command, async ({ session: { triarch }, report, options: { key, tag, reason } }) => {
        if ((action === undefined) === (tag === undefined)) throw usage('give an action, or --tag')
        if (tag !== undefined && key !== undefined) throw usage('--key is of an action')
        const of = key === undefined ? {} : { key: await json('--key', key, means.terminal) }
        const which = tag === undefined ? { action: action ?? '', ...of } : { tag }
        await triarch.caches.invalidate({ ...which, ...(reason !== undefined && { reason }) })
        const done = { invalidated: tag === undefined ? { action, ...of } : { tag } }
        if (report.isData) report.one(done, {})
        else report.say('done: no node gives an answer that was kept before')
      }),
    )
}
