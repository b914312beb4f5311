import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { Folder } from './folder.ts'
import type { Problem } from './page.ts'
import type { Program, Sample } from './sample.ts'

/** For what hangs only. */
const patience = 120_000

export interface Listed {
  page: string
  program: Program
  /** All samples of the page: it may import those that have a name. */
  beside: Sample[]
}

/** Runs programs of pages, as many at a time as there are cores. */
export async function execute(programs: Listed[]): Promise<Problem[]> {
  const waiting = programs.values()
  const problems: Problem[] = []
  const lane = async (): Promise<void> => {
    for (const one of waiting) {
      const message = await run(one)
      if (message !== null) problems.push({ page: one.page, line: one.program.line, message })
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane))
  return problems.sort((a, b) => a.page.localeCompare(b.page) || a.line - b.line)
}

/** What is wrong with how it went, or null. */
async function run({ program, beside }: Listed): Promise<string | null> {
  const { sample, length, prints } = program
  using folder = new Folder()
  for (const { file, code } of beside) folder.write(file, code)
  folder.write(sample.file, sample.code.slice(0, length))
  const env = { ...process.env, NO_COLOR: '1' }
  for (const name of ['NODE_OPTIONS', 'FORCE_COLOR']) Reflect.deleteProperty(env, name)
  const child = spawn(process.execPath, [sample.file], { cwd: folder.path, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), patience)
  const [out, errors, [status, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(timer)
  if (signal === 'SIGKILL') return `it still ran after ${patience / 1000} s\n${out}${errors}`
  if (status !== 0) return `it ended with ${status ?? signal}\n${out}${errors}`
  if (prints === null || plain(out) === plain(prints)) return null
  return `it printed\n${plain(out)}\nand the page shows\n${plain(prints)}`
}

function plain(output: string): string {
  return stripVTControlCharacters(output)
    .replace(/[ \r]+$/gm, '')
    .trimEnd()
}
