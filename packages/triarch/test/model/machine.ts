import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Message, Outcome, Reply } from '../../src/kernel/message.ts'
import { type DatedEvent, type Rebuilt, rebuild } from '../../src/kernel/rebuild.ts'
import { receive } from '../../src/kernel/receive.ts'
import type { TaskState } from '../../src/kernel/state.ts'
import { dispatchable } from '../../src/kernel/step/dispatch.ts'
import type { Operation } from '../../src/kernel/step/step.ts'
import { close } from '../../src/kernel/task/close.ts'
import { notifyParent } from '../../src/kernel/task/stop.ts'
import { begin, nextWake } from '../../src/kernel/tick.ts'
import { emit, isOutstanding, newTurn, type Turn } from '../../src/kernel/turn.ts'
import { bound } from '../../src/scheduler/decisions.ts'
import { Code, type Program } from './code.ts'
import { Judge } from './judge.ts'

export interface Attempt {
  step: number
  operation: Operation
  attempt: number
  /** Somebody runs it; otherwise it has answered, was lost, or counts for nothing any more. */
  out: boolean
  /** Asked to give up. */
  aborted: boolean
  /** Given back without having begun: nobody is left to answer for it. */
  withdrawn: boolean
}

export interface Birth {
  program: Program
  startIn: number | null
  startBefore: number | null
  completeBy: number | null
}

const limits = { history: 80, fanOut: 8, payload: 100_000 }

/** Thrown away with the turn it happened in: the process died before the commit. */
export class Crash extends Error {}

/**
 * One task without I/O: what the runner does with kernel, code and history, on instants that the test sets. Everything
 * that leaves the process ends in `attempts` and `children`.
 */
export class Machine {
  now = 1_000
  state: TaskState
  readonly history: DatedEvent[] = []
  readonly attempts: Attempt[] = []
  /** Children and what their parent last asked of them. */
  readonly children = new Map<number, 'running' | 'cancelling' | 'compensating' | 'reporting' | 'stopped'>()
  readonly #program: Program
  readonly #judge: Judge
  readonly #random: () => number
  #code: Code | null = null

  constructor({ program, startIn, startBefore, completeBy }: Birth, random: () => number) {
    this.#program = program
    this.#random = random
    const submitted: TaskEvent = {
      type: 'submitted',
      workflow: 'w',
      version: '1',
      input: program.runs,
      ...(startIn !== null && { startAt: this.now + startIn }),
      ...(startBefore !== null && { startBefore: this.now + startBefore }),
      ...(completeBy !== null && { completeBy: this.now + completeBy }),
      parent: { task: 'parent', step: 1 },
    }
    this.history.push({ at: this.now, event: submitted })
    const rebuilt = rebuild('t', this.history)
    this.state = rebuilt.state
    this.#judge = new Judge(rebuilt.state)
    this.#code = new Code(program, rebuilt)
    this.turn([])
  }

  get outstanding(): Attempt[] {
    return this.attempts.filter(({ out }) => out)
  }

  /** One turn: the clock, the mail, the code, the commit. `crash`: the process dies just before the commit. */
  turn(mail: readonly Message[], { crash = false } = {}): void {
    const waiting = [...mail]
    const attempts = structuredClone(this.attempts)
    const turn = newTurn(this.state, this.now, this.#random, limits)
    const before = new Set(this.outstanding.map(nameOf))
    receive(turn, { type: 'tick' })
    this.#play(turn)
    while (waiting.length > 0 && !turn.reload) {
      const message = waiting.shift() as Message
      const events = turn.events.length
      const late = message.type === 'reply' && !before.delete(nameOf(message))
      receive(turn, message)
      if (late && turn.events.length > events)
        throw new Error(`a late reply counted: ${JSON.stringify([message, turn.events])}`)
      if (message.type === 'reply') this.#answered(message, !late)
      if (message.type === 'reply' && message.outcome.kind === 'withdrawn' && !late) {
        // It never began: the same attempt is still awaited.
        this.#judge.withdrawn(message)
        before.add(nameOf(message))
      }
      this.#play(turn)
    }
    if (begin(turn, this.#code === null ? 'none' : 'function')) this.#play(turn, true)
    bound(turn)
    close(turn)
    notifyParent(turn)
    if (crash) {
      this.attempts.splice(0, Infinity, ...attempts)
      throw new Crash()
    }
    this.#commit(turn)
    if (turn.reload) {
      this.#load(rebuild('t', this.history), true)
      return this.turn(waiting)
    }
    // The runner's timer is for what is due already, too; a turn that leaves that as it was would be repeated for ever.
    if (turn.events.length > 0 && (nextWake(this.state) ?? Infinity) <= this.now) return this.turn([])
    this.#judge.rest(this.state, {
      now: this.now,
      attempts: this.outstanding,
      children: this.children,
      coded: this.#code !== null,
    })
    this.#replaysTheSame()
  }

  /** Another owner: what lived in the process is gone, what is in the queues lives on. */
  takeover(queued: (attempt: Attempt) => boolean, mail: readonly Message[], coded: boolean): void {
    const alive = this.outstanding.filter(queued)
    for (const attempt of this.outstanding) if (!alive.includes(attempt)) attempt.out = false
    // What was on its way from within the dead process went with it.
    const names = new Set(alive.map(nameOf))
    const letters = mail.filter((message) => message.type !== 'reply' || names.has(nameOf(message)))
    const answered = new Set(letters.flatMap((message) => (message.type === 'reply' ? [nameOf(message)] : [])))
    this.#load(rebuild('t', this.history), false, coded)
    for (const step of this.state.steps.values()) {
      const { id, operation, attempt } = step
      const name = nameOf({ step: id, operation, attempt })
      step.dispatched = names.has(name) && !answered.has(name)
    }
    const lost = [...this.state.steps.values()].filter(
      (step) => isOutstanding(step) && !names.has(nameOf({ ...step, step: step.id })),
    )
    this.turn([...lost.map((step): Message => ({ type: 'takeover', step: step.id })), ...letters])
  }

  /** The reply of an attempt, fit for its operation. */
  reply({ step, operation, attempt }: Attempt, outcome: Outcome): Message {
    const { now } = this
    return { type: 'reply', step, operation, attempt, outcome, startedAt: now, endedAt: now, node: 'n' }
  }

  #answered({ step, operation, attempt, outcome }: Reply, current: boolean): void {
    const found = this.attempts.find((it) => it.step === step && it.operation === operation && it.attempt === attempt)
    if (!found) return
    found.out = false
    found.withdrawn = current && outcome.kind === 'withdrawn'
  }

  #play(turn: Turn, start = false): void {
    const code = this.#code
    if (!code) {
      turn.deliveries.length = 0
      return
    }
    if (start) code.start(turn.at)
    this.#decide(turn, code)
    for (let delivery = turn.deliveries.shift(); delivery; delivery = turn.deliveries.shift()) {
      code.deliver(delivery, turn.at)
      this.#decide(turn, code)
    }
  }

  #decide(turn: Turn, code: Code): void {
    for (;;) {
      const { closing, status, pause } = turn.state
      if (status === 'paused' && !closing && !pause?.broken) return
      const decision = code.commands.shift()
      if (!decision) return
      if (closing || status === 'stopped' || status === 'paused') continue
      if (decision.type === 'threw' && decision.rescue === 'pause') {
        emit(turn, { type: 'paused', reason: 'error', error: decision.error })
        continue
      }
      emit(turn, decision)
      if (decision.type === 'childStarted') this.children.set(decision.id, 'running')
    }
  }

  #commit(turn: Turn): void {
    for (const event of turn.events) this.history.push({ at: turn.at, event })
    const going = turn.reload ? [] : dispatchable(this.state, turn.at)
    this.#judge.record(this.history, turn, going)
    for (const step of going) {
      step.dispatched = true
      const { id, operation, attempt } = step
      const again = this.attempts.find((it) => it.step === id && it.operation === operation && it.attempt === attempt)
      if (again) Object.assign(again, { out: true, aborted: false, withdrawn: false })
      else this.attempts.push({ step: id, operation, attempt, out: true, aborted: false, withdrawn: false })
    }
    for (const attempt of this.outstanding) {
      if (turn.forgotten.includes(attempt.step)) attempt.out = false
      if (turn.aborts.includes(attempt.step)) attempt.aborted = true
    }
    for (const { task, message } of turn.posts) this.#tellChild(Number(task.split('-').at(-1)), message)
    if (turn.events.some(({ type }) => type === 'continuedAsNew')) this.#carry(turn)
  }

  /** The new run has of the children of the one before those that are carried. */
  #carry({ events }: Turn): void {
    const before = new Map(this.children)
    this.children.clear()
    for (const event of events)
      if (event.type === 'childCarried')
        this.children.set(event.id, event.ended ? 'stopped' : (before.get(event.id) ?? 'running'))
  }

  #tellChild(id: number, message: Message): void {
    if (message.type === 'cancel' && this.children.get(id) === 'running') this.children.set(id, 'cancelling')
    if (message.type === 'compensate') this.children.set(id, 'compensating')
    if (message.type === 'report') this.children.set(id, 'reporting')
  }

  /** The state from the history, and the code up to where it stood. `here`: attempts under way stay so. */
  #load(rebuilt: Rebuilt, here: boolean, coded = true): void {
    for (const step of rebuilt.state.steps.values()) {
      const before = here ? this.state.steps.get(step.id) : undefined
      step.dispatched =
        before?.dispatched === true && before.operation === step.operation && before.attempt === step.attempt
    }
    this.state = rebuilt.state
    this.#code = coded ? this.#replayed(rebuilt) : null
  }

  #replayed(rebuilt: Rebuilt): Code {
    const { status, pause } = rebuilt.state
    const from = pause?.from ?? status
    const begun = from !== 'pending' && from !== 'scheduled' && status !== 'stopped'
    return begun ? Code.replayed(this.#program, rebuilt) : new Code(this.#program, rebuilt)
  }

  /** Code that another node would start from this history stands where ours does. */
  #replaysTheSame(): void {
    const { status, closing } = this.state
    if (!this.#code || status === 'stopped' || closing) return
    const fresh = this.#replayed(rebuild('t', this.history))
    const [mine, theirs] = [this.#code.position, fresh.position].map((it) => JSON.stringify(it))
    if (mine !== theirs) throw new Error(`replay ends at ${theirs}, the code was at ${mine}`)
  }
}

function nameOf({ step, operation, attempt }: Pick<Attempt, 'step' | 'operation' | 'attempt'>): string {
  return `${step}:${operation}:${attempt}`
}
