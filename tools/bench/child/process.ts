import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { FLAGS } from '../machine.ts'

/** A process that runs a script of this folder; killed at the end of the block that uses it. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #lines: AsyncIterator<string>

  constructor(script: string, args: readonly (string | number)[], flags: readonly string[] = []) {
    const path = fileURLToPath(new URL(script, import.meta.url))
    const child = spawn(process.execPath, [...FLAGS, ...flags, path, ...args.map(String)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#process = child
    this.#exited = new Promise((resolve) => child.once('close', resolve))
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** The next line it prints. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error(`${this.#process.spawnargs.join(' ')}: ended early`)
    return value
  }

  /** The next line it prints once it is asked. */
  ask(): Promise<string> {
    this.#process.stdin?.write('\n')
    return this.line()
  }

  /** SIGKILL: the process gets no chance to say goodbye. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}
