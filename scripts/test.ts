// npm test [-- what vitest takes]. The tests run in a process of their own, and what they and their dependencies do there when it
// ends decides nothing: the status comes from the counts of the run, and a run that has none has failed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COUNTS, type Counts } from './counts.ts'

const root = join(import.meta.dirname, '..')

async function main(args: string[]): Promise<Counts> {
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
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
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
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 }
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
  if (wrong === null) return { passed, failed, skipped }
  console.error(`test: ${wrong}`)
  return { passed, failed: failed + 1, skipped }
}

const { passed, failed, skipped } = await main(process.argv.slice(2))
process.exitCode = failed === 0 ? 0 : 1
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
