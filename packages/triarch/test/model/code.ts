import type { Decision } from '../../src/kernel/event.ts'
import type { Rebuilt } from '../../src/kernel/rebuild.ts'
import type { Delivery } from '../../src/kernel/state.ts'
import type { RecordedPolicy, RescueStrategy } from '../../src/kernel/step/policy.ts'
import type { ParentPolicy } from '../../src/kernel/task/order.ts'

/** A workflow drawn at random: what its code asks for, in order, a few things at once. */
export interface Program {
  wants: Want[]
  /** Wants asked for at the start, and again upon each outcome. */
  width: number
  /** Goes on when something fails; otherwise it throws. */
  catches: boolean
  /** Throws at its end. */
  throws: boolean
  /** How often it continues as new before it returns. */
  runs: number
  /** The workflow's own rescue strategy. */
  rescue: RescueStrategy
}

export type Want =
  | { type: 'step'; policy: RecordedPolicy }
  | { type: 'timer'; ms: number }
  | { type: 'wait'; name: string; ms: number | null }
  | { type: 'child'; mode: 'call' | 'start'; onCancel: ParentPolicy; undo: boolean }
  | { type: 'undo' }
  | { type: 'progress' }

/** The code of a program while it runs: a function of the outcomes it was told, like every durable function. */
export class Code {
  readonly commands: Decision[] = []
  readonly #program: Program
  readonly #recorded: readonly Decision[]
  readonly #outstanding = new Set<number>()
  readonly #run: number
  #compared = 0
  #cursor = 0
  #nextId: number
  #ended = false

  constructor(program: Program, { state, decisions }: Rebuilt) {
    this.#program = program
    this.#recorded = decisions.filter((it) => it.type !== 'progressed')
    this.#nextId = state.firstId
    this.#run = Number(state.input)
  }

  /** Code that has replayed all that was recorded. Throws when it does not ask for the same again. */
  static replayed(program: Program, rebuilt: Rebuilt): Code {
    const code = new Code(program, rebuilt)
    code.start(rebuilt.startedAt)
    for (const [index, delivery] of rebuilt.deliveries.entries())
      code.deliver(delivery, rebuilt.deliveredAt[index] ?? 0)
    const missing = code.#recorded[code.#compared]
    if (missing) throw new Error(`replay never asks for ${JSON.stringify(missing)}`)
    return code
  }

  start(at: number): void {
    this.#ask(at)
  }

  deliver(delivery: Delivery, at: number): void {
    if (!this.#outstanding.delete(delivery.id))
      throw new Error(`told of ${delivery.id}, which nothing waits for: ${JSON.stringify(delivery)}`)
    if (this.#ended) return
    if (delivery.ok || this.#program.catches) return this.#ask(at)
    this.#ended = true
    const rescue = delivery.reason === 'step' ? delivery.step.policy.rescue : this.#program.rescue
    this.#issue({ type: 'threw', error: thrownFor(delivery), rescue })
  }

  /** What two runs of the same code must have in common. */
  get position(): unknown {
    const outstanding = [...this.#outstanding].sort((a, b) => a - b)
    return { cursor: this.#cursor, nextId: this.#nextId, ended: this.#ended, outstanding }
  }

  #ask(at: number): void {
    const wants = this.#program.wants.slice(this.#cursor, this.#cursor + this.#program.width)
    this.#cursor += wants.length
    for (const want of wants) this.#want(want, at)
    if (this.#outstanding.size > 0 || this.#ended) return
    if (this.#cursor < this.#program.wants.length) return this.#ask(at)
    this.#ended = true
    if (this.#run > 0) return this.#issue({ type: 'continueAsNewRequested', input: this.#run - 1 })
    if (!this.#program.throws) return this.#issue({ type: 'returned', output: 'done' })
    this.#issue({ type: 'threw', error: { name: 'Error', message: 'thrown' }, rescue: this.#program.rescue })
  }

  #want(want: Want, at: number): void {
    if (want.type === 'progress') return this.#issue({ type: 'progressed', progress: this.#cursor })
    const id = this.#nextId++
    if (want.type === 'undo') return this.#issue({ type: 'undoRegistered', id, name: 'registered' })
    this.#outstanding.add(id)
    switch (want.type) {
      case 'step':
        return this.#issue({
          type: 'stepRequested',
          id,
          action: 'svc.act',
          name: 'act',
          input: id,
          policy: want.policy,
        })
      case 'timer':
        return this.#issue({ type: 'timerStarted', id, until: at + want.ms })
      case 'wait':
        return this.#issue({ type: 'waitStarted', id, name: want.name, until: want.ms === null ? null : at + want.ms })
      case 'child': {
        const { mode, onCancel, undo } = want
        const task = `child-${this.#run}-${id}`
        return this.#issue({ type: 'childStarted', id, task, workflow: 'w', version: '1', mode, onCancel, undo })
      }
    }
  }

  #issue(decision: Decision): void {
    const recorded = this.#recorded[this.#compared]
    if (!recorded || decision.type === 'progressed') {
      if (!recorded) this.commands.push(decision)
      return
    }
    this.#compared++
    const same = recorded.type === decision.type && idOf(recorded) === idOf(decision)
    if (!same) throw new Error(`replay asks for ${JSON.stringify(decision)}, recorded is ${JSON.stringify(recorded)}`)
  }
}

function idOf(decision: Decision): number | null {
  return 'id' in decision ? decision.id : null
}

/** As the engine's own errors say it: where a retry of the task goes on. */
function thrownFor(delivery: Extract<Delivery, { ok: false }>) {
  if (delivery.reason === 'timeout') return { name: 'SignalTimeoutError', message: 'timeout' }
  if (delivery.reason === 'lock') return delivery.error
  const [code, details] =
    delivery.reason === 'step'
      ? ['STEP_FAILED', { stepId: delivery.step.id }]
      : ['CHILD_FAILED', { childId: delivery.task }]
  return { name: 'Error', code, message: 'failed', details }
}
