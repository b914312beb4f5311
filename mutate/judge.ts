import { type ChildProcess, fork, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { VARIABLE } from './plugin.ts'
import { root, type Target } from './target.ts'

/** Seeds that hang are noticed; so are suites, which have time limits of their own (ms). */
const SEEDS_WITHIN = 60_000
const SUITES_WITHIN = 600_000

/** Each mutant leaves a copy of the engine in the memory of the process that judged it. */
const MOST_COPIES = 60

/** A cache of transformed modules would hand one mutant on to the next. */
const UNCACHED = { VITEST_FS_MODULE_CACHE: 'false' }

/** Judges mutants one after the other. Several side by side share nothing. */
export class Judge {
  readonly #target: Target
  readonly #seeds: number
  readonly #suites: boolean
  #child: ChildProcess | null = null
  #copies = 0

  /** Without the suites the simulation alone judges. */
  constructor(target: Target, seeds: number, suites: boolean = true) {
    this.#target = target
    this.#seeds = seeds
    this.#suites = suites
  }

  /** What noticed it; null: nothing did. */
  async judge(mutant: Mutant): Promise<string | null> {
    const noticed = this.#target.simulated && this.#seeds > 0 ? await this.#bySeeds(mutant) : null
    return noticed ?? (this.#suites ? await bySuites(mutant, this.#target.suites) : null)
  }

  /** What fails without any mutant; null: nothing, as it must be. */
  unmutated(): Promise<string | null> {
    return bySuites(null, this.#target.suites)
  }

  close(): void {
    this.#child?.kill('SIGKILL')
    this.#child = null
  }

  #bySeeds(mutant: Mutant): Promise<string | null> {
    if (this.#copies++ >= MOST_COPIES) this.close()
    if (!this.#child) {
      this.#copies = 1
      this.#child = fork(join(import.meta.dirname, 'seeds.ts'), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    }
    const child = this.#child
    return new Promise((resolve) => {
      const end = (noticed: string | null) => {
        clearTimeout(timer)
        child.removeAllListeners()
        if (child.exitCode !== null || child.signalCode !== null) this.#child = null
        resolve(noticed)
      }
      const timer = setTimeout(() => {
        this.close()
        end('hangs in the simulation')
      }, SEEDS_WITHIN)
      child.once('message', ({ noticed }: { noticed: string | null }) => end(noticed))
      child.once('exit', (code, signal) => end(`ends the simulation with ${signal ?? code}`))
      child.send({ mutant, seeds: this.#seeds })
    })
  }
}

/** A failure counts when it comes again: a suite that fails by chance on a busy machine notices nothing. */
async function bySuites(mutant: Mutant | null, { project, files }: Target['suites']): Promise<string | null> {
  const failed = await run(mutant, project, files)
  if (failed === null) return null
  const file = /\S+\.test\.ts/.exec(failed)?.[0]
  return file === undefined || (await run(mutant, project, [file])) !== null ? failed : run(mutant, project, files)
}

/** The first test that failed. */
function run(mutant: Mutant | null, project: string, files: readonly string[]): Promise<string | null> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const flags = ['run', '--project', project, '--bail', '1', '--reporter', 'dot', '--no-color']
  const env = { ...process.env, ...UNCACHED, ...(mutant && { [VARIABLE]: JSON.stringify(mutant) }) }
  const child = spawn(process.execPath, [vitest, ...flags, ...files], { cwd: root, env })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => said.push(String(text)))
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      resolve('hangs in the suites')
    }, SUITES_WITHIN)
    child.once('close', (code) => {
      clearTimeout(timer)
      const failed = /FAIL +(.*)/.exec(said.join(''))?.[1]
      resolve(failed ?? (code === 0 ? null : `the suites end with ${code}`))
    })
  })
}
