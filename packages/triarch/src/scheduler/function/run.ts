import type { Workflow } from '../../definition/definition.ts'
import type { LogFields, LogWriter } from '../../definition/log.ts'
import { ownRescue } from '../../definition/workflow.ts'
import { isTriarchError, TriarchError } from '../../error/error.ts'
import { toRecord } from '../../error/record.ts'
import type { StepFailedError } from '../../error/task-error.ts'
import type { Decision } from '../../kernel/event.ts'
import type { Json } from '../../kernel/json.ts'
import type { Rebuilt } from '../../kernel/rebuild.ts'
import { SecretTexts } from '../../kernel/secret.ts'
import type { Delivery, TaskState } from '../../kernel/state.ts'
import { Table } from '../../kernel/table.ts'
import type { LogEntry } from '../../store/port.ts'
import { copy } from '../../value/copy.ts'
import { encode } from '../../value/payload.ts'
import { invalid, validate, validateSync } from '../../value/schema.ts'
import type { Command } from '../command.ts'
import type { LocalCode } from '../effect.ts'
import { TrackedPromise } from './audience.ts'
import { functionContext } from './context.ts'
import type { Decider } from './decider.ts'
import { CodeLog } from './log.ts'
import { describe, isCode, isMarker, matches, mismatch, misuse } from './match.ts'
import { rejection } from './rejection.ts'
import { UnawaitedWatch } from './watch.ts'
import { type Wish, type Wished, withdrawal } from './wish.ts'

const NO_SECRETS = new SecretTexts()
const NO_PATCHES: ReadonlySet<string> = new Set()
const NONE: Readonly<Record<string, string>> = Object.freeze({})

/**
 * Runs a durable function: ordinary code whose every effect is a decision. During replay its decisions are compared with the recorded
 * ones and outcomes come from the history; after that, decisions are new.
 */
export class FunctionRun implements Decider {
  /** New decisions, which the driver takes into a turn. */
  readonly commands: Command[] = []
  /** Code of local steps and registered compensations, by decision id. */
  readonly locals: Table<number, LocalCode> = new Table()
  /** Set when the code and the history disagree, or the code broke the rules of durable functions: the task pauses. */
  failure: TriarchError | null = null
  /** Tracks whether the code awaits the steps that it asked for. */
  readonly watch: UnawaitedWatch = new UnawaitedWatch()
  /** The time of the outcome being delivered, which `task.now()` returns. */
  at = 0
  readonly workflow: Workflow
  readonly taskId: string
  /** Part of the ids of the task's children. */
  readonly incarnation: string
  readonly metadata: Readonly<Record<string, string>>
  readonly payloadLimit: number
  readonly firstId: number
  readonly #stray: (error: TriarchError) => void
  readonly #recorded: readonly Decision[]
  readonly #patches: ReadonlySet<string>
  readonly #patched = new Table<string, boolean>()
  readonly #waiting = new Table<number, TrackedPromise<never>>()
  readonly #wished = new Table<number, Wished>()
  /** Waits that were withdrawn, by decision id; null: what came for the wait was passed on. */
  readonly #left = new Table<number, Wish | null>()
  /** Waits to which the code may no longer be listening. */
  readonly #doubtful = new Table<Wished, true>()
  readonly #input: Json
  #cursor = 0
  #undelivered: number
  #nextId: number
  #active = false
  /** Created when the code logs its first line. */
  #log: CodeLog | null = null
  /** The runner's state: its set of secrets grows during the run. */
  readonly #state: Pick<TaskState, 'secrets'>

  constructor(workflow: Workflow, rebuilt: Rebuilt, payloadLimit: number, stray: (error: TriarchError) => void) {
    this.workflow = workflow
    this.taskId = rebuilt.state.id
    this.incarnation = rebuilt.state.incarnation
    this.metadata = rebuilt.state.metadata ?? NONE
    this.payloadLimit = payloadLimit
    this.firstId = rebuilt.state.firstId
    this.#stray = stray
    this.#input = rebuilt.state.input
    this.#state = rebuilt.state
    this.#recorded = rebuilt.decisions
    const { patches } = rebuilt.state
    this.#patches = patches.size === 0 ? NO_PATCHES : new Set(patches.keys())
    this.#undelivered = rebuilt.deliveries.length
    this.#nextId = rebuilt.state.firstId
  }

  /** The driver allows decisions from the delivery of an outcome until all promise reactions have run. */
  activate(active: boolean): void {
    this.#active = active
  }

  start(at: number): void {
    this.at = at
    this.#active = true
    const { definition } = this.workflow
    const context = functionContext(this)
    const run = async () => {
      let input: unknown = copy(this.#input)
      if (definition.input) {
        const checked = validateSync(definition.input, input)
        if (checked === 'async')
          throw new TriarchError('INVALID_OPTION', `${this.workflow.name}: its input schema is asynchronous`)
        if ('issues' in checked) throw invalid(checked, 'INVALID_INPUT', `input of ${this.workflow.name}`)
        input = checked.value
      }
      const output = await definition.run?.(input, context)
      return definition.output
        ? validate(definition.output, output, 'INVALID_OUTPUT', `output of ${this.workflow.name}`)
        : output
    }
    run().then(
      (output) => this.#returned(output),
      (error) => this.#threw(error),
    )
  }

  deliver(delivery: Delivery, at: number): void {
    this.at = at
    if (this.#undelivered > 0) this.#undelivered--
    const wished = this.#wished.get(delivery.id)
    if (wished) return this.#grant(wished, delivery)
    const left = this.#left.get(delivery.id)
    if (left && delivery.ok) this.#withdraw(left, delivery.id, { payload: delivery.value })
    if (left !== undefined) return
    const waiting = this.#waiting.get(delivery.id)
    if (!waiting) {
      const recorded = this.#recorded.find((decision) => 'id' in decision && decision.id === delivery.id)
      return this.fail(mismatch(recorded, undefined))
    }
    this.#waiting.delete(delivery.id)
    if (delivery.ok) TrackedPromise.fulfil(waiting, copy(delivery.value))
    else this.watch.refuse(waiting, rejection(delivery))
  }

  /** The task continues as new: signals that were not delivered yet are kept for the next run. */
  giveBack(deliveries: readonly Delivery[]): void {
    if (this.failure) return
    for (const delivery of deliveries) {
      const wished = this.#wished.get(delivery.id)
      const signal = wished?.ask(wished.id).type === 'waitStarted'
      if (wished && signal && delivery.ok) this.#leave(wished, { payload: delivery.value })
    }
  }

  /** The code has gone as far as it can; waits to which it no longer listens are withdrawn. */
  rest(): void {
    if (this.#doubtful.size === 0) return
    for (const wished of this.#doubtful.keys()) {
      if (wished.standing !== 'asked' || wished.promise.heard) this.#doubtful.delete(wished)
      // If the history holds something else here, it was recorded by a version that kept waiting: the wait stays until the recorded
      // decisions end.
      else if (this.#leave(wished)) this.#doubtful.delete(wished)
    }
  }

  /** After replay, the code must have asked for everything that is recorded. */
  finishReplay(): void {
    this.#follow()
    this.rest()
    const missing = this.#recorded[this.#cursor]
    if (missing && !this.failure) this.fail(mismatch(missing, undefined))
  }

  nextId(): number {
    return this.#nextId++
  }

  /** Keeps the code of a local step or compensation. */
  keep(id: number, code: LocalCode): void {
    if (!this.failure) this.locals.set(id, code)
  }

  /** Makes a decision whose outcome will be delivered. `name`: set if the code must not forget to await it. */
  decide(command: Command & { decision: { id: number } }, name: string | null = null): TrackedPromise<never> {
    this.issue(command)
    const promise = TrackedPromise.make(name)
    this.#waiting.set(command.decision.id, promise)
    return promise
  }

  /**
   * Makes a wait that the code may abandon: it is withdrawn once the code stops listening to its promise, and asked for again if the code
   * listens anew.
   */
  wish(wish: Wish): TrackedPromise<never> {
    const promise = TrackedPromise.make(null)
    const { signal } = wish
    const abort = (): void => this.#abort(wished, signal?.reason)
    const over = (): void => signal?.removeEventListener('abort', abort)
    const wished: Wished = { ...wish, promise, over, id: 0, standing: 'asked' }
    signal?.throwIfAborted()
    this.#ask(wished)
    promise.attend({
      looked: () => {
        if (wished.standing !== 'left') return
        try {
          this.#ask(wished)
        } catch (error) {
          wished.standing = 'done'
          TrackedPromise.refuse(promise, error)
        }
      },
      lost: () => this.#doubtful.set(wished, true),
    })
    signal?.addEventListener('abort', abort)
    return promise
  }

  #ask(wished: Wished, refused?: string): void {
    const id = this.nextId()
    this.issue({ decision: wished.ask(id), ...(refused !== undefined && { refused }) })
    wished.id = id
    wished.standing = 'asked'
    this.#wished.set(id, wished)
  }

  #abort(wished: Wished, reason: unknown): void {
    if (wished.standing === 'done') return
    if (!this.#active) return this.#stray(misuse(`aborted wait ${wished.id}`))
    if (wished.standing === 'asked') this.#leave(wished)
    this.#done(wished)
    TrackedPromise.refuse(wished.promise, reason)
  }

  /**
   * What the code waited for has come. If the code no longer listens, it is passed on; a payload that the code refuses is skipped and the
   * wait goes on.
   */
  #grant(wished: Wished, delivery: Delivery): void {
    const { id } = wished
    if (delivery.ok && !wished.promise.heard && this.#leave(wished, { payload: delivery.value })) return
    if (!delivery.ok) {
      this.#done(wished)
      return TrackedPromise.refuse(wished.promise, rejection(delivery))
    }
    const taken = wished.take(copy(delivery.value), id)
    if (taken instanceof Error && this.#waitsOn(wished.ask(id).name)) {
      this.#wished.delete(id)
      return this.#ask(wished, taken.message)
    }
    this.#done(wished)
    if (taken instanceof Error) TrackedPromise.refuse(wished.promise, taken)
    else TrackedPromise.fulfil(wished.promise, taken.value)
  }

  #done(wished: Wished): void {
    this.#wished.delete(wished.id)
    wished.standing = 'done'
    wished.over()
  }

  #leave(wished: Wished, came?: { payload: Json }): boolean {
    const { id } = wished
    if (!this.#withdraw(wished, id, came)) return false
    this.#wished.delete(id)
    this.#left.set(id, came ? null : wished)
    wished.standing = 'left'
    return true
  }

  /** Returns false if the history holds another decision here. */
  #withdraw(wish: Wish, id: number, came?: { payload: Json }): boolean {
    this.#skipMarkers()
    const recorded = this.#recorded[this.#cursor]
    if (!recorded) this.commands.push({ decision: withdrawal(wish, id, came) })
    else if (recorded.type !== 'waitCancelled' || recorded.id !== id) return false
    else this.#cursor++
    return true
  }

  /** Makes a decision: compared with the history during replay, new afterwards. */
  issue(command: Command): void {
    if (this.failure) return
    if (!this.#active) {
      const error = misuse(`asked for ${describe(command.decision)}`)
      this.#stray(error)
      throw error
    }
    if (command.decision.type === 'progressed' && this.#replaying()) return
    this.#follow()
    const recorded = this.#recorded[this.#cursor]
    if (recorded) {
      this.#cursor++
      if (!matches(recorded, command.decision)) this.fail(mismatch(recorded, command.decision))
      return
    }
    // The history ends here without this decision, because the turn that got the outcome ran on a node without the code. The decision is
    // new.
    this.commands.push(command)
  }

  /** Whether code that refuses this signal's payload may wait on. Histories written before it did so hold another decision here. */
  #waitsOn(name: string): boolean {
    const next = this.#recorded.find((decision, at) => at >= this.#cursor && isCode(decision))
    return next === undefined || (next.type === 'waitStarted' && next.name === name)
  }

  patched(patch: string): boolean {
    const known = this.#patched.get(patch)
    if (known !== undefined) return known
    const replaying = this.#replaying()
    const answer = replaying ? this.#patches.has(patch) : true
    this.#patched.set(patch, answer)
    if (!replaying && !this.#patches.has(patch)) this.issue({ decision: { type: 'patched', patch } })
    return answer
  }

  say(level: keyof LogWriter, message: string, fields: LogFields): void {
    if (this.failure) return
    if (!this.#active) {
      const error = misuse('logged')
      this.#stray(error)
      throw error
    }
    this.#log ??= new CodeLog()
    this.#log.say(this.at, level, message, fields, this.#state.secrets?.texts ?? NO_SECRETS)
  }

  /** The log lines of the code since the last call; null: none. */
  said(): readonly LogEntry[] | null {
    return this.#log?.take() ?? null
  }

  fail(error: TriarchError): void {
    this.failure ??= error
  }

  #replaying(): boolean {
    return (
      this.#undelivered > 0 || this.#recorded.findIndex((decision, at) => at >= this.#cursor && isCode(decision)) >= 0
    )
  }

  #skipMarkers(): void {
    for (;;) {
      const next = this.#recorded[this.#cursor]
      if (!next || !isMarker(next)) return
      this.#cursor++
    }
  }

  /** Withdrawals are made by the engine, not by the code. Recorded ones that were not reached yet are carried out. */
  #follow(): void {
    for (;;) {
      this.#skipMarkers()
      const next = this.#recorded[this.#cursor]
      if (next?.type !== 'waitCancelled') return
      const wished = this.#wished.get(next.id)
      if (!wished || !this.#leave(wished)) this.#cursor++
      if (next.signal) this.#left.set(next.id, null)
    }
  }

  #returned(output: unknown): void {
    try {
      this.#follow()
      // A recorded return stands, even if it was recorded before unawaited steps were checked.
      const forgotten =
        this.#recorded[this.#cursor]?.type === 'returned' ? null : this.watch.forgotten(this.#waiting.values())
      if (forgotten) throw forgotten
      const { name, definition } = this.workflow
      const encoded = encode(output, `output of ${name}`, this.payloadLimit, definition.secrets)
      this.#end({ type: 'returned', output: encoded })
    } catch (error) {
      this.#threw(error)
    }
  }

  #threw(error: unknown): void {
    // The error was reported already, or it comes from something outside the task.
    if (!this.#active) {
      if (this.failure) return
      const text = error instanceof Error ? error.message : String(error)
      return this.#stray(isTriarchError(error, 'WORKFLOW_MISUSE') ? error : misuse(`failed with "${text}"`, error))
    }
    const rescue = isTriarchError(error, 'STEP_FAILED') ? (error as StepFailedError).rescue : ownRescue(this.workflow)
    this.#end({ type: 'threw', error: toRecord(error), rescue })
  }

  #end(decision: Decision): void {
    if (this.#active) this.issue({ decision })
    else this.#stray(misuse('returned', null))
  }
}
