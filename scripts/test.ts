// npm test [-- what vitest takes]. The tests run in a process of their own, and what they and their dependencies do there when it
// ends decides nothing: the status comes from the counts of the run, and a run that has none has failed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { COUNTS, type Counts, type Failure } from './counts.ts'

const root = join(import.meta.dirname, '..')

/** So many failures may be a matter of what else ran at the time. */
const MOST_AGAIN = 5

/** Runs what is asked for; where all of a configuration was, and a few tests failed, these once more with nothing beside them. */
async function main(args: readonly string[]): Promise<Counts> {
  const all = await run(args)
  const { failures } = all
  const isWhole = args.length === 0 || (args.length === 2 && args[0] === '--config')
  if (!isWhole || failures.length === 0 || failures.length < all.failed || failures.length > MOST_AGAIN) return all
  console.log(`\ntest: ${failures.length} failed, and are run again by themselves`)
  const again = await run([...args, ...new Set(failures.map(({ file }) => file)), '-t', patternOf(failures)])
  if (again.failed > 0 || again.passed < failures.length) return all
  for (const { file, name } of failures) console.log(`test: passed only by itself: ${relative(root, file)}: ${name}`)
  return { ...all, passed: all.passed + failures.length, failed: 0, failures: [] }
}

/** What vitest takes for these tests and no others. */
function patternOf(failures: readonly Failure[]): string {
  return `^(${failures.map(({ name }) => name.replace(/[^\w ]/g, '\\$&')).join('|')})$`
}

async function run(args: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-test-'))
  const file = join(folder, 'counts.json')
  try {
    const shown = args.some((arg) => arg.startsWith('--reporter')) ? [] : ['--reporter=default']
    const own = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...shown]
    const child = spawn(process.execPath, [...own, `--reporter=${join(root, 'scripts/counts.ts')}`, ...args], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, [COUNTS]: file },
    })
    // It ends by itself when it is told to, and tells what it had got to.
    const stop = (signal: NodeJS.Signals) => void child.kill(signal)
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    for (const signal of signals) process.on(signal, stop)
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    for (const it of signals) process.off(it, stop)
    return judge(read(file), signal ?? status ?? 'no status')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function read(file: string): Counts | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Counts
  } catch {
    return null
  }
}

function judge(counts: Counts | null, end: number | string): Counts {
  const { passed, failed, skipped, failures } = counts ?? { passed: 0, failed: 0, skipped: 0, failures: [] }
  const wrong =
    counts === null
      ? `the run ended (${end}) before it had a result`
      : failed > 0
        ? null
        : end !== 0
          ? `the run ended with ${end}`
          : passed === 0
            ? 'not one test has passed'
            : null
  if (wrong === null) return { passed, failed, skipped, failures }
  console.error(`test: ${wrong}`)
  return { passed, failed: failed + 1, skipped, failures }
}

const { passed, failed, skipped } = await main(process.argv.slice(2))
process.exitCode = failed === 0 ? 0 : 1
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
