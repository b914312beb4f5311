import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Folder } from './folder.ts'
import { type Problem, root } from './page.ts'
import type { Sample } from './sample.ts'

/** What a page's samples import that is not in a package, and where it is. */
const lent: Record<string, string> = {
  // What Prisma generates stands beside an application's code.
  'docs/prisma': 'packages/postgres/test/prisma',
}

/** What the compiler finds wrong with the samples, by their pages: all in one run, for most of its time goes to the packages. */
export async function compile(samples: Map<string, Sample[]>): Promise<Problem[]> {
  using folder = new Folder()
  for (const [at, path] of Object.entries(lent)) folder.lend(path, at)
  for (const [page, own] of samples) for (const { file, code } of own) folder.write(`${page}/${file}`, code)
  const settings = {
    extends: join(root, 'tsconfig.json'),
    // A sample may name what only its reader will use.
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, moduleDetection: 'force' },
    include: [...samples].flatMap(([page, own]) => own.map(({ file }) => `${page}/${file}`)),
    exclude: [],
  }
  folder.write('tsconfig.json', JSON.stringify(settings))
  const args = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json', '--pretty', 'false']
  const child = spawn(process.execPath, args, { cwd: folder.path, stdio: ['ignore', 'pipe', 'inherit'] })
  const [told, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  const problems = located(told, samples)
  if (status !== 0 && problems.length === 0) throw new Error(`tsc ended with ${status}\n${told}`)
  return problems
}

/** The compiler's complaints, with the lines of modules turned into those of pages. */
export function located(told: string, samples: Map<string, Sample[]>): Problem[] {
  const problems: Problem[] = []
  for (const line of told.split(/\r?\n/)) {
    const [, page = '', file, at, message] = /^(?:(.+)\/)?([^/]+\.ts)\((\d+),\d+\): (?:error )?(.+)$/.exec(line) ?? []
    if (message === undefined) {
      const last = problems.at(-1)
      if (last && line.startsWith(' ')) last.message += `\n${line}`
      else if (line !== '') problems.push({ page: 'tsc', line: 0, message: line })
      continue
    }
    const code = samples.get(page)?.find((sample) => sample.file === file)?.code
    if (!code) problems.push({ page: `${page}/${file}`, line: Number(at), message })
    // What is missing at the end of a module is told of the line behind it.
    else problems.push({ page, line: (code[Number(at) - 1] ?? code.at(-1))?.line ?? 1, message })
  }
  return problems
}
