import { fork } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const script = join(import.meta.dirname, 'member.ts')

/** What a process of some version runs. */
export interface Program {
  /** `member.ts`, beside the packages of that version. */
  path: string
  args: readonly string[]
}

/** Of this very version, until another is released: then of the packages of that. */
export const today: Program = { path: script, args: [] }
/** Of a version that comes after it: this one, with one migration more. */
export const later: Program = { path: script, args: ['later'] }

type Answer = { id: number; value?: unknown; error?: string }

/** A process of some version, which does what it is told. */
export class Member {
  readonly #process: ReturnType<typeof fork>
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  readonly #exited: Promise<void>
  #complaints = ''
  #last = 0

  constructor({ path, args }: Program, store: string, journal: string) {
    this.#process = fork(path, [store, journal, ...args], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'], execArgv: [] })
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
  static async start(program: Program, store: string, journal: string): Promise<Member> {
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
