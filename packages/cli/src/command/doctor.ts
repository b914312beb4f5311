import type { Command } from 'commander'
import { migrate } from 'triarch'
import type { Means } from '../command.ts'
import { clocks, nodes, versions } from '../doctor/cluster.ts'
import { type Finding, fail, ok } from '../doctor/finding.ts'
import { postgresFindings } from '../doctor/postgres.ts'
import { sqliteFindings } from '../doctor/sqlite.ts'
import { endOf, exitCodes } from '../exit.ts'
import { Report } from '../report.ts'
import { open, placeOf, type Shared, storeAt } from '../session.ts'
import type { Column } from '../table.ts'
import { version } from '../version.ts'

/** Looks at everything that a healthy system needs. Each look stands by itself: one that fails is a finding. */
export function addDoctor(program: Command, means: Means): void {
  program
    .command('doctor')
    .description(
      'looks for what is wrong: versions, clocks, the store and its schema, nodes, code that tasks need; ends with 1 when something is',
    )
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<Shared>()
      const place = placeOf(options, means.terminal)
      const store = storeAt(place)
      const findings: Finding[] = [ok('versions', `triarch ${version}, Node ${process.versions.node}`)]
      const look = async (check: string, work: () => Promise<Finding | Finding[]>) => {
        try {
          findings.push(...[await work()].flat())
        } catch (error) {
          const { line } = endOf(error)
          findings.push(fail(check, line ?? String(error), 'see the code in docs/reference/errors.md'))
        }
      }
      await look(place.type, async () =>
        place.type === 'sqlite' ? sqliteFindings(place.path) : postgresFindings(place.url, place.schema),
      )
      await look('schema', async () => {
        const { pending } = await migrate(store, { dryRun: true })
        if (pending.length === 0) return ok('schema', 'nothing is pending')
        return fail('schema', `the store lacks ${pending.join(', ')}`, 'triarch migrate up')
      })
      await look('store', async () => {
        await using session = await open(store)
        for (const part of [clocks, nodes, versions]) await look(part.name, async () => part(session))
        return []
      })
      new Report(means.terminal, options).rows(columns, findings, '')
      if (findings.some(({ verdict }) => verdict === 'fail')) means.end(exitCodes.failed)
    })
}

const columns: readonly Column<Finding>[] = [
  ['VERDICT', ({ verdict }) => verdict],
  ['CHECK', ({ check }) => check],
  ['FOUND', ({ found, advice }) => (advice === undefined ? found : `${found}: ${advice}`)],
]
