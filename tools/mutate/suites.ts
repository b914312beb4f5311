import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Server, startServer } from '../../packages/postgres/test/server.ts'
import { noSql } from './live.ts'
import { type Errand, type Judged, VARIABLE } from './plugin.ts'
import { mutantsOfSql, root, type Target } from './target.ts'

/** Tests that take so much of a processor without a mutant (ms): more than the first, up to the second. */
export type Span = readonly [over: number, upTo: number]

/** A process that tells nothing for so long (ms) turns in a circle. */
const SILENCE = 40_000

/** The model's random runs for each mutant: of those thousands that fail, the first hundred nearly always do. */
const RUNS = '150'

/** A cache of transformed modules would hand on code without mutants. */
const UNCACHED = { VITEST_FS_MODULE_CACHE: 'false', TRIARCH_MODEL_RUNS: RUNS }

/** Tells the tests of PostgreSQL where a server is: without, each run of theirs starts one. */
const SERVER = 'TRIARCH_POSTGRES_URL'

/** What a test does without a mutant: how long it takes by the clock and of a processor (ms), and which mutants it comes by, how often. */
interface Test {
  ms: number
  cpu: number
  asked: number
  reached: Set<number>
}

type Line =
  | { file: string; test: string; ms: number; cpu: number; asked: number; reached: number[] }
  | { fails: string }
  | { test: string; trying: number }
  | { test: string; noticed: number }

/** Judges many mutants by one file of tests after the other, those first that take the shortest. */
export class Suites {
  readonly #name: string
  readonly #target: Target
  readonly #by: string
  readonly #most: number
  #server: Server | null = null
  readonly #folder = mkdtempSync(join(tmpdir(), 'triarch-mutate-'))
  /** By file, by name. */
  readonly #tests = new Map<string, Map<string, Test>>()

  /** `by`: part of the path of those that judge; `most`: so many tests of a file judge a mutant at most. */
  constructor(name: string, target: Target, by: string, most: number) {
    this.#name = name
    this.#target = target
    this.#by = by
    this.#most = most
  }

  /** Numbers of the mutants that are none, for their text says nothing to the server. */
  async none(): Promise<ReadonlySet<number>> {
    if (!this.#target.sql) return new Set()
    await this.#start()
    return noSql(process.env[SERVER] ?? this.#server?.url ?? '', mutantsOfSql(this.#target))
  }

  async #start(): Promise<void> {
    if (this.#target.suites.server && !process.env[SERVER]) this.#server ??= await startServer()
  }

  /** Runs them without any mutant. Those that fail by themselves are told: they judge nothing. */
  async record(): Promise<string[]> {
    await this.#start()
    const { lines, said } = await this.#run(filesOf(this.#target, this.#by), null, () => undefined)
    if (lines.length === 0) throw new Error(`the suites do not run: ${said.slice(-2_000)}`)
    for (const line of lines) {
      if (!('reached' in line)) continue
      const tests = this.#tests.get(line.file) ?? new Map<string, Test>()
      this.#tests.set(line.file, tests)
      const known = tests.get(line.test)
      tests.set(line.test, { ...line, reached: new Set([...(known?.reached ?? []), ...line.reached]) })
    }
    return lines.flatMap((line) => ('fails' in line ? [line.fails] : []))
  }

  /** The files that have such tests, those first whose tests are the shortest. */
  filesOf(span: Span): string[] {
    const cost = (file: string) => {
      const tests = this.#within(file, span)
      return tests.reduce((sum, [, { cpu }]) => sum + cpu, 0) / tests.length
    }
    const files = [...this.#tests.keys()].filter((file) => this.#within(file, span).length > 0)
    return files.sort((a, b) => cost(a) - cost(b))
  }

  #within(file: string, [over, upTo]: Span): [string, Test][] {
    return [...(this.#tests.get(file) ?? [])].filter(([, { cpu }]) => cpu > over && cpu <= upTo)
  }

  /** Those that such tests of this file notice are told as they are found. Returns all that they come by. */
  async judge(
    file: string,
    span: Span,
    mutants: readonly number[],
    noticed: (mutant: number, by: string) => void,
  ): Promise<ReadonlySet<number>> {
    const judges = this.#within(file, span)
    const judged = new Set(mutants.filter((mutant) => judges.some(([, { reached }]) => reached.has(mutant))))
    const left = new Set(judged)
    const asked = chosen(
      judges.map(([name, { reached }]) => [name, reached]),
      judged,
      this.#most,
    )
    const tell = (mutant: number, by: string) => {
      if (left.delete(mutant)) noticed(mutant, by)
    }
    while (left.size > 0) {
      const tests: Judged['tests'] = {}
      for (const [name, test] of judges) {
        const mutants = (asked.get(name) ?? []).filter((mutant) => left.has(mutant))
        tests[name] = { ms: test.ms, asked: test.asked, mutants }
      }
      const { lines, hung } = await this.#run([file], { tests }, (line) => {
        if ('noticed' in line) tell(line.noticed, line.test)
      })
      if (!hung) return judged
      const last = lines.findLast((line) => 'trying' in line)
      if (!last) throw new Error(`${file} hangs`)
      tell(last.trying, `${last.test} ends the process`)
    }
    return judged
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true })
    await this.#server?.stop()
  }

  async #run(files: readonly string[], judge: Errand['judge'], told: (line: Line) => void): Promise<Ran> {
    const report = join(this.#folder, 'report.jsonl')
    rmSync(report, { force: true })
    const errand: Errand = { target: this.#name, report, judge }
    const asked = join(this.#folder, 'errand.json')
    writeFileSync(asked, JSON.stringify(errand))
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const flags = ['run', '--project', this.#target.suites.project, '--reporter', 'dot', '--no-color', ...files]
    const server = this.#server && { [SERVER]: this.#server.url }
    const env = { ...process.env, ...server, ...UNCACHED, [VARIABLE]: asked }
    const child = spawn(process.execPath, [vitest, ...flags], { cwd: root, env, detached: true })
    const said: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => said.push(String(text)))
    const lines: Line[] = []
    let hung = false
    const look = () => {
      for (const line of linesOf(report).slice(lines.length)) {
        lines.push(line)
        told(line)
      }
    }
    const watch = setInterval(() => {
      look()
      const silent = existsSync(report) && Date.now() - statSync(report).mtimeMs > SILENCE
      if (!silent || child.pid === undefined) return
      hung = true
      process.kill(-child.pid, 'SIGKILL')
    }, 1_000)
    await new Promise((resolve) => child.once('close', resolve))
    clearInterval(watch)
    look()
    // A worker that a mutant ended leaves its tests without a result.
    return { lines, said: said.join(''), hung: hung || /Worker (exited|forks)|terminated/.test(said.join('')) }
  }
}

/**
 * Which test judges which mutants: of those that come by a mutant at most so many, spread over all of them, for what stands next
 * to each other is alike.
 */
export function chosen(
  tests: readonly (readonly [name: string, reached: ReadonlySet<number>])[],
  mutants: Iterable<number>,
  most: number,
): Map<string, number[]> {
  const asked = new Map<string, number[]>(tests.map(([name]) => [name, []]))
  for (const mutant of mutants) {
    const able = tests.filter(([, reached]) => reached.has(mutant))
    const count = Math.min(able.length, most)
    for (let n = 0; n < count; n++) asked.get(able[Math.floor((n * able.length) / count)]?.[0] ?? '')?.push(mutant)
  }
  return asked
}

interface Ran {
  lines: Line[]
  said: string
  hung: boolean
}

function linesOf(report: string): Line[] {
  if (!existsSync(report)) return []
  const text = readFileSync(report, 'utf8')
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
}

function filesOf({ suites }: Target, by: string): string[] {
  return suites.files
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: [...(suites.without ?? [])] }))
    .filter((file) => file.includes(by))
    .sort()
}
