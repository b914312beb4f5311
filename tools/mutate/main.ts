// npm run mutate: `-- --help` tells the options.
import { Journal } from './journal.ts'
import { parseOptions, UsageError, usage } from './options.ts'
import { chosen, gone, score } from './score.ts'
import { targets } from './target.ts'

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (!options) {
    process.stdout.write(usage)
    return 0
  }
  const stale = gone()
  for (const key of stale) console.log(`✗ listed as equivalent, but not there: ${key}`)
  let missed = stale.length
  const journal = new Journal(options.journal, options.again)
  for (const name of options.in) {
    if (options.list) {
      for (const { key, line } of targets[name] ? chosen(targets[name], options) : []) console.log(`${line}: ${key}`)
      continue
    }
    const { judged, noticed, survivors, share, least } = await score(name, options, journal, ({ key }, by) =>
      console.log(`✓ ${key} (${by})`),
    )
    console.log(`\n${name}: ${noticed} of ${judged} noticed, ${(share * 100).toFixed(1)} % (at least ${least * 100} %)`)
    for (const { key, line } of survivors) console.log(`  ${line}: ${key}`)
    if (share < least) missed++
  }
  return missed > 0 ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${usage}`)
  process.exitCode = 2
}
