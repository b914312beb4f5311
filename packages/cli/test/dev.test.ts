import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, afterEach, expect, it } from 'vitest'
import { main, shop } from './binary.ts'
import type { letter } from './shop.ts'

const folder = mkdtempSync(join(tmpdir(), 'triarch-dev-'))
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGTERM')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The command, and what it has printed so far. */
function running(...args: string[]): { child: ChildProcess; lines: string[] } {
  const lines: string[] = []
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output as NodeJS.ReadableStream }).on('line', (line) => lines.push(line))
  return { child, lines }
}

const count = (lines: readonly string[], what: RegExp) => lines.filter((line) => what.test(line)).length

it('dev starts the module anew when it changes, and a task goes on with the new code', async () => {
  const triarch = new URL(import.meta.resolve('triarch')).href
  const module = join(folder, 'app.mjs')
  let written = 0
  const write = (word: string) => {
    const run = `async (_, task) => \`${word} \${await task.waitForSignal('go')}\` // ${++written}`
    writeFileSync(
      module,
      `import { workflow } from '${triarch}'\nexport const wait = workflow('wait', { run: ${run}\n})\n`,
    )
  }
  write('old')
  const { child, lines } = running('dev', module, '--store', join(folder, 'dev.db'))
  await expect.poll(() => count(lines, /started with wait/)).toBe(1)

  await using client = new Triarch({ store: sqlite(join(folder, 'dev.db')), notices: false })
  const { wait } = (await import(module)) as { wait: typeof letter }
  const task = await client.submit(wait, '', { id: 'w-1' })
  await expect.poll(() => count(lines, /wait w-1 started/)).toBe(1)
  // The watch may begin a little later than the program: it is written until it was seen.
  const changed = () => {
    if (count(lines, /Restarting/) === 0) write('new')
    return count(lines, /Restarting/)
  }
  await expect.poll(changed, { interval: 1_000 }).toBeGreaterThan(0)
  await expect.poll(() => count(lines, /started with wait/)).toBeGreaterThan(1)
  await client.task('w-1').signal('go', 'on')
  expect(await task.result()).toBe('new on')
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
})

it('start serves tasks over HTTP where it is asked to', async () => {
  const { lines } = running('start', shop, '--store', join(folder, 'served.db'), '--port', '0')
  await expect.poll(() => count(lines, /serves http/)).toBe(1)
  const [url = ''] = /http:\S+/.exec(lines.find((line) => /serves/.test(line)) ?? '') ?? []
  const document = (await (await fetch(url)).json()) as { openapi: string }
  expect(document.openapi).toMatch(/^3\.1/)
})
