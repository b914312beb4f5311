import type { Command } from 'commander'
import { migrate } from 'triarch'
import { duration } from '../argument.ts'
import type { CommandDeps } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { type Shared, storePlaceOf } from '../place.ts'
import { Report } from '../report.ts'
import { storeAt } from '../session.ts'

/** The schema of the store. */
export function addMigrate(migrations: Command, means: CommandDeps): void {
  const pending = async (command: Command) => {
    const options = command.optsWithGlobals<Shared>()
    const found = await migrate(storeAt(await storePlaceOf(options, means.terminal, 'migrate')), { dryRun: true })
    return { found, report: new Report(means.terminal, options) }
  }

  migrations
    .command('status')
    .description('what the store lacks of the schema of this version')
    .action(async (_, command: Command) => {
      const { found, report } = await pending(command)
      const rows = found.pending.map((name) => ({ name }))
      report.rows([['PENDING', ({ name }) => name]], rows, 'nothing is pending')
    })

  migrations
    .command('check')
    .description('ends with 1 while something is pending')
    .action(async (_, command: Command) => {
      const { found, report } = await pending(command)
      report.one(
        { pending: found.pending },
        { pending: found.pending.length === 0 ? 'nothing' : found.pending.join(' ') },
      )
      if (found.pending.length > 0) means.end(exitCodes.failed)
    })

  migrations
    .command('up')
    .description('brings the store to the schema of this version; a store that is not there is made')
    .option('--patience <duration>', 'while others keep the tables from us', duration('--patience'))
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<Shared & { patience?: number }>()
      const { patience } = options
      const place = await storePlaceOf(options, means.terminal, 'migrate')
      const work = migrate(storeAt(place, 'auto'), patience === undefined ? {} : { lockTimeout: patience })
      const report = new Report(means.terminal, options)
      const { done } = await report.during('migrate', work)
      report.one({ done }, { done: done.length === 0 ? 'nothing was pending' : done.join(' ') })
    })
}
