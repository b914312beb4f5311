import { execFileSync, fork } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const script = join(import.meta.dirname, 'member.ts')
const modules = join(import.meta.dirname, '../../../../node_modules')

/** What the released version calls what the program uses: decision 0060 has the names of today. */
const words = {
  '.waitForSignal(': '.event(',
  '.signal(': '.emit(',
  '.received': '.event',
  attemptWithin: 'completeWithin',
  continueAsNew: 'continueAs',
  outcome: 'result',
  '.schedule(name).register(': '.schedule(name, ',
  '.schedules()).schedules': '.schedules())',
}

function inItsWords(program: string): string {
  return Object.entries(words).reduce((text, [now, then]) => text.replaceAll(now, then), program)
}

/** The packages as they were at a commit, unpacked below this folder: the program a process of that version runs. */
export function released(commit: string, below: string): string {
  const folder = join(below, commit)
  if (!existsSync(folder)) {
    mkdirSync(folder)
    execFileSync('tar', ['xzf', join(import.meta.dirname, 'fixtures', `${commit}.tar.gz`), '-C', folder])
    for (const name of ['croner', 'pg']) symlinkSync(join(modules, name), join(folder, 'node_modules', name))
    writeFileSync(join(folder, 'member.ts'), inItsWords(readFileSync(script, 'utf8')))
  }
  return join(folder, 'member.ts')
}

/** The program of a process of this very version. */
export const current: string = script

type Answer = { id: number; value?: unknown; error?: string }

/** A process of some version, which does what it is told. */
export class Member {
  readonly #process: ReturnType<typeof fork>
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  readonly #exited: Promise<void>
  #complaints = ''
  #last = 0

  constructor(program: string, store: string, journal: string) {
    this.#process = fork(program, [store, journal], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'], execArgv: [] })
    this.#process.stderr?.on('data', (chunk) => {
      this.#complaints += chunk
    })
    this.#process.on('message', (answer: Answer) => {
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
    this.#exited = new Promise((resolve) => this.#process.once('exit', () => resolve()))
    void this.#exited.then(() => {
      for (const wake of this.#waiting.values()) wake({ id: 0, error: `the process ended: ${this.#complaints}` })
    })
  }

  /** A process that has started its node. */
  static async start(program: string, store: string, journal: string): Promise<Member> {
    const member = new Member(program, store, journal)
    await member.#answer(0)
    return member
  }

  async ask<T>(name: string, ...args: unknown[]): Promise<T> {
    const id = ++this.#last
    const answer = this.#answer(id)
    this.#process.send({ id, name, args })
    return (await answer) as T
  }

  async stop(): Promise<void> {
    await this.ask('stop')
    await this.#exited
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#exited
  }

  async #answer(id: number): Promise<unknown> {
    const { error, value } = await new Promise<Answer>((resolve) => this.#waiting.set(id, resolve))
    if (error !== undefined) throw new Error(error)
    return value
  }
}

export interface Effect {
  kind: string
  task: string
  key: string
}

export function effectsIn(journal: string): Effect[] {
  const lines = existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : []
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Effect)
}
