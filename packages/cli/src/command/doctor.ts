import type { Command } from 'commander'
import { migrate } from 'triarch'
import type { CommandDeps } from '../command.ts'
import { agents, breakers, clocks, living, nodes, versions } from '../doctor/cluster.ts'
import { type Finding, fail, ok } from '../doctor/finding.ts'
import { postgresFindings } from '../doctor/postgres.ts'
import { sqliteFindings } from '../doctor/sqlite.ts'
import { endOf, exitCodes } from '../exit.ts'
import { version } from '../manifest.ts'
import { placeOf, type Shared, type StorePlace } from '../place.ts'
import { Report } from '../report.ts'
import { open, sessionAt, storeAt } from '../session.ts'
import type { Column } from '../table.ts'

/** Looks at everything that a healthy system needs. Each look stands by itself: one that fails is a finding. */
export function addDoctor(program: Command, means: CommandDeps): void {
  program
    .command('doctor')
    .description(
      'looks for what is wrong: versions, clocks, the store and its schema, nodes, agents, breakers, code that tasks need; ends with 1 when something is',
    )
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<Shared>()
      const place = await placeOf(options, means.terminal)
      const findings: Finding[] = [ok('versions', `triarch ${version}, Node ${process.versions.node}`)]
      const look: Look = async (check, work) => {
        try {
          findings.push(...[await work()].flat())
        } catch (error) {
          const { line } = endOf(error)
          findings.push(fail(check, line ?? String(error), 'see the code in docs/reference/errors.md'))
        }
      }
      const report = new Report(means.terminal, options)
      const all = async () => {
        if (place.type !== 'server') return lookAtStore(place, look)
        return look('server', async () => {
          await using session = await sessionAt(place)
          await session.triarch.statistics.get()
          findings.push(ok('server', `${place.url} answers`))
          for (const part of [living, versions, agents, breakers]) await look(part.name, async () => part(session))
          return []
        })
      }
      await report.during('looking', all())
      report.rows(columns, findings, '')
      if (findings.some(({ verdict }) => verdict === 'fail')) means.end(exitCodes.failed)
    })
}

type Look = (check: string, work: () => Promise<Finding | Finding[]>) => Promise<void>

async function lookAtStore(place: StorePlace, look: Look): Promise<void> {
  const store = storeAt(place)
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
    for (const part of [clocks, nodes, versions, agents, breakers]) await look(part.name, async () => part(session))
    return []
  })
}

const columns: readonly Column<Finding>[] = [
  ['VERDICT', ({ verdict }) => verdict],
  ['CHECK', ({ check }) => check],
  ['FOUND', ({ found, advice }) => (advice === undefined ? found : `${found}: ${advice}`)],
]
