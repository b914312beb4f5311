import type { Command } from 'commander'
import { type IssuedKey, type KeyInfo, type Right, rights } from 'triarch'
import { actorOf } from '../actor.ts'
import { duration } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { everyPage } from '../pages.ts'
import type { Report } from '../report.ts'
import type { Column } from '../table.ts'

const columns: readonly Column<KeyInfo>[] = [
  ['KEY', ({ name }) => name],
  ['STATUS', ({ status }) => status],
  ['RIGHTS', ({ rights }) => rights.join(' ')],
  ['EXPIRES', ({ expiresAt }) => expiresAt],
  ['USED', ({ usedAt }) => usedAt],
  ['MADE BY', ({ made }) => made.actor],
  ['NOTE', ({ note }) => note],
]

interface KeyFlags {
  reason: string
  actor?: string
  rights: readonly Right[]
  expires?: number
  overlap?: number
  note?: string
  yes?: boolean
}

/** Keys by which others ask a server: made, listed, rotated, taken away. */
export function addKeys(keys: Command, means: CommandDeps): void {
  const one = (word: string, description: string) =>
    keys.command(word).description(description).argument('<name>', 'the name of the key')
  const why = (command: Command) =>
    command
      .requiredOption('--reason <text>', 'kept with the key, and in the audit')
      .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
  const word = ({ reason, actor = actorOf(means.terminal) }: Pick<KeyFlags, 'reason' | 'actor'>) => ({
    reason,
    ...(actor && { actor }),
  })

  keys
    .command('list')
    .description('keys by name, those that have ended among them')
    .action((_, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await everyPage<KeyInfo>(report, async (page) => {
          const { keys: rows, next } = await session.triarch.keys.list({ limit: 1_000, ...page })
          return { rows, next }
        })
        report.rows(columns, found, 'no key')
      }),
    )

  one('get', 'a key as it stands').action((name: string, _, command: Command) =>
    onTasks(means, command, async ({ session, report }) => {
      const found = await session.triarch.keys.get(name).info()
      report.one(found, fieldsOf(found))
    }),
  )

  one('create', 'make a key: what it prints as `secret` is shown this once')
    .requiredOption('--rights <rights>', `of ${rights.join(', ')}, with commas between; or "all"`, rightsOf)
    .option('--expires <duration>', 'for how long it holds; until it is revoked', duration('--expires'))
    .option('--note <text>', 'what it is for')
    .option('--reason <text>', 'kept with the key, and in the audit')
    .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    .action((name: string, _, command: Command) =>
      onTasks<KeyFlags>(means, command, async ({ session, report, options }) => {
        const { rights, expires, note, reason, actor = actorOf(means.terminal) } = options
        const more = { ...(expires !== undefined && { expiresIn: expires }), ...(note !== undefined && { note }) }
        const by = { ...(reason !== undefined && { reason }), ...(actor && { actor }) }
        handOut(report, await session.triarch.keys.get(name).create({ rights, ...more, ...by }))
      }),
    )

  why(one('rotate', 'give a key another secret, which is shown this once'))
    .option('--overlap <duration>', 'for how long the one so far holds, too; a day', duration('--overlap'))
    .action((name: string, _, command: Command) =>
      onTasks<KeyFlags>(means, command, async ({ session, report, options }) => {
        const { overlap } = options
        const more = overlap !== undefined && { overlap }
        handOut(report, await session.triarch.keys.get(name).rotate({ ...word(options), ...more }))
      }),
    )

  why(one('revoke', 'take a key away, for ever, on all servers'))
    .option('--yes', 'do not ask')
    .action((name: string, _, command: Command) =>
      onTasks<KeyFlags>(means, command, async ({ session, report, options }) => {
        await confirm(means, options.yes, `Revoke the key "${name}"`)
        const found = await session.triarch.keys.get(name).revoke(word(options))
        report.one(found, fieldsOf(found))
      }),
    )
}

function handOut(report: Report, issued: IssuedKey): void {
  report.one(issued, { ...fieldsOf(issued.key), secret: issued.secret })
}

function fieldsOf({ name, status, rights, expiresAt, usedAt, overlapsUntil, ...key }: KeyInfo) {
  const said = (it: { actor: string; reason: string } | undefined) =>
    it && (it.reason === '' ? it.actor : `${it.actor}: ${it.reason}`)
  return {
    ...{ key: name, status, rights: rights.join(' '), expires: expiresAt, used: usedAt, note: key.note },
    ...{ made: said(key.made), rotated: said(key.rotated), 'old secret until': overlapsUntil },
    revoked: said(key.revoked),
  }
}

/** What is no right is refused by whoever makes the key. */
function rightsOf(text: string): Right[] {
  return text === 'all' ? [...rights] : text.split(',').map((right) => right.trim() as Right)
}
