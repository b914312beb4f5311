import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Random } from './random.ts'

const script = fileURLToPath(new URL('worker.ts', import.meta.url))

export type Fault = 'kill' | 'freeze' | 'drain'

/** The nodes under test: real processes that die, stand still, leave and come back. */
export class Fleet {
  readonly faults: Record<Fault, number> = { kill: 0, freeze: 0, drain: 0 }
  /** What nodes said before they died of themselves. */
  readonly complaints: string[] = []
  readonly #members: Member[]

  constructor(paths: { store: string; ledger: string }, roles: readonly string[]) {
    this.#members = roles.map((role) => new Member([paths.store, paths.ledger, role], this.complaints))
  }

  async start(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.start()))
  }

  /** Hurts one node, and brings it back. */
  async hurt(fault: Fault, random: Random): Promise<void> {
    const member = random.pick(this.#members.filter(({ hurt }) => !hurt))
    if (!member) return
    this.faults[fault]++
    member.hurt = true
    try {
      if (fault === 'kill') await member.end('SIGKILL')
      if (fault === 'drain') await member.end('SIGTERM')
      if (fault === 'freeze') await member.freeze(700 + random.below(900))
      else await member.start()
    } finally {
      member.hurt = false
    }
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await Promise.all(this.#members.map((member) => member.end(signal)))
  }
}

class Member {
  hurt = false
  readonly #args: string[]
  readonly #complaints: string[]
  #process: ChildProcess | null = null
  #ending = false

  constructor(args: string[], complaints: string[]) {
    this.#args = args
    this.#complaints = complaints
  }

  async start(): Promise<void> {
    this.#ending = false
    const child = spawn(process.execPath, [script, ...this.#args], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
    this.#process = child
    let said = ''
    child.stderr?.on('data', (chunk) => {
      said += chunk
    })
    child.once('exit', (code, signal) => {
      if (!this.#ending || (signal === null && code !== 0)) this.#complaints.push(`exit ${code ?? signal}: ${said}`)
    })
    await Promise.race([once(child, 'message'), once(child, 'exit')])
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    this.#ending = true
    const exit = once(child, 'exit')
    child.kill(signal)
    const slow = setTimeout(() => {
      this.#complaints.push(`${signal} was not obeyed within 8 s`)
      child.kill('SIGKILL')
    }, 8_000)
    await exit
    clearTimeout(slow)
  }

  /** Longer than its lease: others take over, then it goes on as if nothing had happened. */
  async freeze(ms: number): Promise<void> {
    this.#process?.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, ms))
    this.#process?.kill('SIGCONT')
  }
}
