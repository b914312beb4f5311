import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { capabilities } from '../../src/definition/action.ts'
import { toRecordedPolicy } from '../../src/definition/policy.ts'
import type { Decision } from '../../src/kernel/event.ts'
import type { Json } from '../../src/kernel/json.ts'
import type { Rebuilt } from '../../src/kernel/rebuild.ts'
import type { Delivery } from '../../src/kernel/state.ts'
import type { Turn } from '../../src/kernel/turn.ts'
import type { Command } from '../../src/scheduler/command.ts'
import { decide } from '../../src/scheduler/decisions.ts'
import type { Driver } from '../../src/scheduler/driver.ts'
import type { RunnerHost } from '../../src/scheduler/host.ts'
import type { NewTask } from '../../src/store/port.ts'

type Said = { type: 'step'; id: number; action: string; input: Json } | { type: 'returned'; output: Json }

/** A process that holds the code of workflows, and answers what it decides. */
export class Remote {
  readonly #process: ChildProcess = fork(fileURLToPath(new URL('./remote.process.ts', import.meta.url)), [], {
    execArgv: [],
  })
  readonly #asked = new Map<number, (decisions: Said[]) => void>()
  readonly ended: Promise<void>
  asked = 0

  constructor() {
    this.#process.on('message', (answer: { id: number; decisions: Said[] }) =>
      this.#asked.get(answer.id)?.(answer.decisions),
    )
    this.ended = new Promise((resolve) => this.#process.once('exit', () => resolve()))
  }

  ask(question: { first: number; input: Json; told: [number, Json][] }): Promise<Said[]> {
    const id = this.asked++
    return new Promise((resolve) => {
      this.#asked.set(id, resolve)
      this.#process.send({ id, ...question })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.ended
  }
}

/** A third driver: the code runs elsewhere, is told outcomes and answers with decisions, in its own time. */
export class RemoteDriver implements Driver {
  readonly begins = 'function'
  readonly #remote: Remote
  readonly #host: RunnerHost
  readonly #wake: () => void
  readonly #first: number
  readonly #input: Json
  readonly #told: [number, Json][] = []
  readonly #commands: Command[] = []
  /** Of its decisions so many were taken down already. */
  #taken: number

  constructor(remote: Remote, rebuilt: Rebuilt, host: RunnerHost, wake: () => void) {
    this.#remote = remote
    this.#host = host
    this.#wake = wake
    this.#first = rebuilt.state.firstId
    this.#input = rebuilt.state.input
    this.#taken = rebuilt.decisions.length
  }

  get urgent(): boolean {
    return this.#commands.length > 0
  }

  replay(rebuilt: Rebuilt): Promise<void> {
    this.#hear(rebuilt.deliveries)
    if (rebuilt.startedAt > 0) this.#ask()
    return Promise.resolve()
  }

  begin(): boolean {
    this.#ask()
    return false
  }

  tell(turn: Turn, children: NewTask[]): boolean {
    decide(turn, this.#commands, children)
    if (turn.deliveries.length > 0) {
      this.#hear(turn.deliveries.splice(0))
      this.#ask()
    }
    return false
  }

  advance(): void {}

  code(): undefined {}

  isStranded(): boolean {
    return false
  }

  #hear(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) if (delivery.ok) this.#told.push([delivery.id, delivery.value])
  }

  #ask(): void {
    const question = { first: this.#first, input: this.#input, told: [...this.#told] }
    void this.#remote.ask(question).then((said) => {
      const decisions = said.slice(this.#taken).map((one) => this.#decision(one))
      this.#commands.push(...decisions.map((decision) => ({ decision })))
      this.#taken += decisions.length
      this.#wake()
    })
  }

  #decision(said: Said): Decision {
    if (said.type === 'returned') return said
    const action = this.#host.action(said.action)
    if (!action) throw new Error(`unknown action ${said.action}`)
    const policy = toRecordedPolicy(action, undefined, {}, capabilities(action.definition))
    return { type: 'stepRequested', id: said.id, action: action.key, name: action.name, input: said.input, policy }
  }
}
