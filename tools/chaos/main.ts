// npm run chaos -- [--seconds N] [--seed S] …: `--help` tells the options.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { UsageError } from '../../examples/orders/options.ts'
import { progress } from '../../examples/orders/progress.ts'
import { type Options, parseOptions, usage } from './options.ts'
import { summary } from './report.ts'
import { run } from './run.ts'
import { appointWarden } from './warden.ts'

/** Takeover is measured once for each of these (ms), at least once and at most so often: it takes some five seconds of peace. */
const TAKEOVER_EVERY = 40_000
const MOST_TAKEOVERS = 12

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (!options) {
    process.stdout.write(usage)
    return 0
  }
  const { data, json, ...rest } = options
  const dir = directory(data)
  const warden = appointWarden()
  if (data === undefined) warden.remove(dir)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const screen = progress(process.stdout, json)
  const takeovers = Math.min(MOST_TAKEOVERS, Math.max(1, Math.round(options.duration / TAKEOVER_EVERY)))
  const { report, remains } = await run({ ...rest, dir, takeovers, warden, screen })
  screen.end()
  if (data !== undefined) {
    report.data = dir
    writeFileSync(join(dir, 'remains.json'), JSON.stringify(remains))
  }
  console.log(json ? JSON.stringify(report, null, 2) : summary(report))
  await warden.dismiss()
  return report.ok ? 0 : 1
}

function directory(data: Options['data']): string {
  if (data === undefined) return mkdtempSync(join(tmpdir(), 'triarch-chaos-'))
  const dir = resolve(data)
  if (existsSync(join(dir, 'postgres'))) throw new UsageError(`--data ${dir}: there is a run in it already`)
  rmSync(join(dir, 'remains.json'), { force: true })
  mkdirSync(dir, { recursive: true })
  return dir
}

try {
  // At once: left to itself, Node has been seen to wait for ever for handles of processes that had long ended.
  process.exit(await main())
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${usage}`)
  process.exitCode = 2
}
