// npm run simulate: `-- --help` tells the options.
import { Campaign, type Failure } from './campaign.ts'
import { explain } from './explain.ts'
import { type Options, parseOptions, UsageError, usage } from './options.ts'
import { scenarios } from './scenario.ts'
import { summary } from './summary.ts'

/** Failures that are made small and told in full; of the rest only the name. */
const MOST_EXPLAINED = 10

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (!options) {
    process.stdout.write(usage)
    return 0
  }
  const rejections: unknown[] = []
  process.on('unhandledRejection', (reason) => void rejections.push(reason))
  const untold: Failure[] = []
  const campaign = new Campaign((failure) => void untold.push(failure))
  const began = performance.now()
  let told = 0
  let interrupted = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      interrupted = true
    })
  for await (const name of work(campaign, options)) {
    // Unhandled rejections show when the event loop turns.
    await new Promise((resolve) => setImmediate(resolve))
    for (const reason of rejections.splice(0)) {
      campaign.reject(name, `rejections: ${(reason as Error)?.stack ?? reason}`)
    }
    for (const failure of untold.splice(0)) {
      const lines = ++told <= MOST_EXPLAINED ? await explain(failure) : [`✗ ${failure.name}: ${failure.violations[0]}`]
      console.log(`\n${lines.join('\n')}`)
    }
    // What was done so far is told all the same.
    if (interrupted) break
  }
  console.log(summary(campaign, (performance.now() - began) / 1_000))
  return campaign.failures.length > 0 ? 1 : 0
}

/** Does it piece by piece, and tells each piece's name when it is done. */
async function* work(campaign: Campaign, options: Options): AsyncGenerator<string> {
  if (options.run === 'plan') {
    await campaign.plan('the plan', options.plan)
    yield 'the plan'
  } else if (options.run === 'seeds') {
    for (let seed = options.first; seed < options.first + options.count; seed++) {
      await campaign.seed(seed, options.world)
      yield `seed ${seed}`
    }
  } else {
    for (const name of options.names) {
      const plan = scenarios[name]
      if (!plan) continue
      const before = campaign.failures.length
      const runs = await campaign.scenario(name, plan)
      console.log(`${campaign.failures.length === before ? '✓' : '✗'} ${name}: ${runs} runs`)
      yield name
    }
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${usage}`)
  process.exitCode = 2
}
