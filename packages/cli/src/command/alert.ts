import type { Command } from 'commander'
import type { AlertInfo, AlertSinkTrial } from 'triarch'
import { actorOf } from '../actor.ts'
import { parseInstant } from '../argument.ts'
import { type CommandDeps, confirm, onTasks } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { everyPage } from '../pages.ts'
import type { Column } from '../table.ts'

const columns: readonly Column<AlertInfo>[] = [
  ['ALERT', ({ name }) => name],
  ['PHASE', ({ phase }) => phase],
  ['SEVERITY', ({ severity }) => severity],
  ['SINCE', ({ since }) => since],
  ['OWNER', ({ owner }) => owner?.actor],
  ['WHAT', ({ message }) => message],
]

const trials: readonly Column<AlertSinkTrial>[] = [
  ['SINK', ({ sink }) => sink],
  ['TOLD', ({ ok }) => (ok ? 'yes' : 'no')],
  ['MS', ({ ms }) => ms],
  ['WHY NOT', ({ problem }) => problem],
]
const NOBODY = 'there is no sink: they are of processes with `alerts`, so ask a server that is one (--url)'

interface AlertFlags {
  ended?: boolean
  reason: string
  actor?: string
  until?: Date
  yes?: boolean
}

const words = {
  acknowledge: 'somebody has it in hand: nobody is told again before it ends',
  silence: 'nobody is told that it fires, until then',
  end: 'it is over, until its condition was gone once and is back',
} as const

/** What is wrong now, and the operator's word on it. */
export function addAlerts(alerts: Command, means: CommandDeps): void {
  alerts
    .command('list')
    .description('what is wrong now')
    .option('--ended', 'what was, and is over')
    .action((_, command: Command) =>
      onTasks<AlertFlags>(means, command, async ({ session, report, options }) => {
        const which = { ended: options.ended === true, limit: 1_000 }
        const found = await everyPage<AlertInfo>(report, async (page) => {
          const { alerts: rows, next } = await session.triarch.alerts.list({ ...which, ...page })
          return { rows, next }
        })
        report.rows(columns, found, options.ended ? 'nothing was wrong' : 'nothing is wrong that anybody watches for')
      }),
    )

  alerts
    .command('get')
    .description('one alert: what is wrong, since when, and who looks after it')
    .argument('<name>', 'of the alert, rule:subject')
    .action((name: string, _, command: Command) =>
      onTasks(means, command, async ({ session, report }) => {
        const found = await session.triarch.alerts.get(name).info()
        const { phase, severity, message, since, owner, silence } = found
        report.one(found, {
          ...{ alert: name, phase, severity, what: message, since, owner: owner?.actor },
          ...{ 'owned since': owner?.at, 'silent until': silence?.until },
        })
      }),
    )

  alerts
    .command('test')
    .description('tell the sinks of the server that somebody tries them, and what each answered')
    .argument('[sink]', 'this one alone')
    .option('--reason <text>', 'kept in the audit')
    .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    .action((sink: string | undefined, _, command: Command) =>
      onTasks<Partial<AlertFlags>>(means, command, async ({ session, report, options }) => {
        const { reason, actor = actorOf(means.terminal) } = options
        const which = { ...(sink !== undefined && { sink }), ...(reason !== undefined && { reason }) }
        const tried = await session.triarch.alerts.test({ ...which, ...(actor && { actor }) })
        report.rows(trials, tried, NOBODY)
        if (tried.length === 0 || tried.some(({ ok }) => !ok)) means.end(exitCodes.failed)
      }),
    )

  for (const [word, description] of Object.entries(words) as [keyof typeof words, string][]) {
    const command = alerts
      .command(word)
      .description(description)
      .argument('<name>', 'of the alert, rule:subject')
      .requiredOption('--reason <text>', 'kept with the alert')
      .option('--actor <who>', 'who wants it; TRIARCH_ACTOR, else the user of this process (USER)')
    if (word === 'silence')
      command.requiredOption('--until <instant>', 'then it may be told of again', parseInstant('--until'))
    if (word === 'end') command.option('--yes', 'do not ask')
    command.action((name: string, _, command: Command) =>
      onTasks<AlertFlags>(means, command, async ({ session, report, options }) => {
        const { reason, actor = actorOf(means.terminal), until, yes } = options
        const why = { reason, ...(actor && { actor }) }
        const alert = session.triarch.alerts.get(name)
        if (word === 'end') await confirm(means, yes, `End the alert "${name}"`)
        const found =
          word === 'silence' ? await alert.silence({ ...why, until: until as Date }) : await alert[word](why)
        const { phase, owner, silence, message } = found
        report.one(found, { alert: name, phase, owner: owner?.actor, 'silent until': silence?.until, what: message })
      }),
    )
  }
}
