import { encode } from '../definition/payload.ts'
import { invalid, validate, validateSync } from '../definition/schema.ts'
import { ownRescue, type Workflow } from '../definition/workflow.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { fromRecord, toRecord } from '../error/record.ts'
import { ChildFailedError, EventTimeoutError, StepFailedError } from '../error/task-error.ts'
import type { Decision, Submission } from '../kernel/event.ts'
import type { Json } from '../kernel/json.ts'
import type { Rebuilt } from '../kernel/rebuild.ts'
import { scrub, secretsAt } from '../kernel/secret.ts'
import type { Delivery } from '../kernel/state.ts'
import { functionContext } from './context.ts'
import type { LocalCode } from './effect.ts'
import { describe, matches } from './match.ts'
import { Watch } from './watch.ts'

/** A decision of the workflow's code, with what the history needs not keep. */
export interface Command {
  decision: Decision
  /** Why it asks again for an event that came. */
  refused?: string
  /** For `childStarted`: what the child is submitted with. */
  child?: Pick<Submission, 'input' | 'exclusive' | 'hooks'> & {
    priority?: number
    tags?: Record<string, string>
    completeWithin?: number
    secrets?: readonly string[]
  }
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * Runs a durable function: ordinary code whose every effect is a decision. While it replays, its decisions are compared
 * with the recorded ones and its deliveries come from the history; after that they are new.
 */
export class FunctionDriver {
  /** New decisions, for the runner to take. */
  readonly commands: Command[] = []
  /** Code of local steps and registered compensations, by decision id. */
  readonly locals: Map<number, LocalCode> = new Map()
  /** The code and the history disagree, or the code broke the rules of the game: the task pauses. */
  failure: TriarchError | null = null
  /** Steps that the code asked for, and whether it ever looks at what becomes of them. */
  readonly watch: Watch = new Watch()
  /** The instant of the delivery at hand: what `task.now()` says. */
  at = 0
  readonly workflow: Workflow
  readonly taskId: string
  /** Part of the ids of its children. */
  readonly life: string | null
  readonly payloadLimit: number
  readonly firstId: number
  readonly #stray: (error: TriarchError) => void
  readonly #recorded: readonly Decision[]
  readonly #patches: ReadonlySet<string>
  readonly #patched = new Map<string, boolean>()
  readonly #waiting = new Map<number, Waiting>()
  readonly #input: Json
  #cursor = 0
  #undelivered: number
  #nextId: number
  #active = false

  constructor(workflow: Workflow, rebuilt: Rebuilt, payloadLimit: number, stray: (error: TriarchError) => void) {
    this.workflow = workflow
    this.taskId = rebuilt.state.id
    this.life = rebuilt.state.life
    this.payloadLimit = payloadLimit
    this.firstId = rebuilt.state.firstId
    this.#stray = stray
    this.#input = rebuilt.state.input
    this.#recorded = rebuilt.decisions
    this.#patches = new Set(rebuilt.state.patches)
    this.#undelivered = rebuilt.deliveries.length
    this.#nextId = rebuilt.state.firstId
  }

  /** The runner says when the code may decide: from a delivery until every promise reaction has run. */
  activate(active: boolean): void {
    this.#active = active
  }

  start(at: number): void {
    this.at = at
    this.#active = true
    const { definition } = this.workflow
    const context = functionContext(this)
    const run = async () => {
      let input: unknown = this.#input
      if (definition.input) {
        const checked = validateSync(definition.input, input)
        if (checked === 'async')
          throw new TriarchError('INVALID_OPTION', `${this.workflow.name}: its input schema is asynchronous`)
        if ('issues' in checked) throw invalid(checked.issues, 'INVALID_INPUT', `input of ${this.workflow.name}`)
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
    const waiting = this.#waiting.get(delivery.id)
    if (!waiting) {
      const recorded = this.#recorded.find((decision) => 'id' in decision && decision.id === delivery.id)
      return this.fail(mismatch(recorded, undefined))
    }
    this.#waiting.delete(delivery.id)
    if (delivery.ok) waiting.resolve(copy(delivery.value))
    else waiting.reject(this.#error(delivery))
  }

  /** After replay: everything recorded must have been asked for again. */
  finishReplay(): void {
    this.#skipMarkers()
    const missing = this.#recorded[this.#cursor]
    if (missing && !this.failure) this.fail(mismatch(missing, undefined))
  }

  /** Takes the next decision id. */
  nextId(): number {
    return this.#nextId++
  }

  /** Keeps the code of a local step or compensation, unless the history holds something else under this id. */
  keep(id: number, code: LocalCode): void {
    if (!this.failure) this.locals.set(id, code)
  }

  /** Makes a decision whose outcome will be delivered. */
  decide(command: Command & { decision: { id: number } }): Promise<never> {
    this.issue(command)
    return new Promise<never>((resolve, reject) => {
      this.#waiting.set(command.decision.id, { resolve: resolve as (value: unknown) => void, reject })
    })
  }

  /** Makes a decision: compared with the history while that lasts, new afterwards. */
  issue(command: Command): void {
    if (this.failure) return
    if (!this.#active) {
      const error = new TriarchError(
        'WORKFLOW_MISUSE',
        `the workflow asked for ${describe(command.decision)} after awaiting something that is not durable`,
      )
      this.#stray(error)
      throw error
    }
    if (command.decision.type === 'progressed' && this.#replaying()) return
    this.#skipMarkers()
    const recorded = this.#recorded[this.#cursor]
    if (recorded) {
      this.#cursor++
      if (!matches(recorded, command.decision)) this.fail(mismatch(recorded, command.decision))
      return
    }
    // Nothing is recorded for it: nobody ran the code when the outcome at hand came (a node without it did). It is new.
    this.commands.push(command)
  }

  /** Whether code that refuses the payload of this event waits on: a history of before it did so holds something else here. */
  waitsOn(name: string): boolean {
    const next = this.#recorded.find((decision, at) => at >= this.#cursor && !isMarker(decision))
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

  fail(error: TriarchError): void {
    this.failure ??= error
  }

  #replaying(): boolean {
    return (
      this.#undelivered > 0 ||
      this.#recorded.findIndex((decision, at) => at >= this.#cursor && !isMarker(decision)) >= 0
    )
  }

  #skipMarkers(): void {
    for (;;) {
      const next = this.#recorded[this.#cursor]
      if (!next || !isMarker(next)) return
      this.#cursor++
    }
  }

  #returned(output: unknown): void {
    try {
      this.#skipMarkers()
      // What is recorded stands: code that returned before this was looked at has returned.
      const forgotten = this.#recorded[this.#cursor]?.type === 'returned' ? null : this.watch.forgotten()
      if (forgotten) throw forgotten
      this.#end({ type: 'returned', output: encode(output, `output of ${this.workflow.name}`, this.payloadLimit) })
    } catch (error) {
      this.#threw(error)
    }
  }

  #threw(error: unknown): void {
    const rescue = isTriarchError(error, 'STEP_FAILED') ? (error as StepFailedError).rescue : ownRescue(this.workflow)
    const secrets = secretsAt(this.#input, this.workflow.definition.secrets ?? [])
    this.#end({ type: 'threw', error: scrub(toRecord(error), secrets), rescue })
  }

  #end(decision: Decision): void {
    try {
      this.issue({ decision })
    } catch {
      // Told as a stray already: the code ended in a turn that was not its own.
    }
  }

  #error(delivery: Extract<Delivery, { ok: false }>): Error {
    switch (delivery.reason) {
      case 'step': {
        const { id, action, name, attempts, policy } = delivery.step
        return new StepFailedError({
          id,
          action: action ?? name,
          attempts: attempts.run,
          rescue: policy.rescue,
          error: delivery.error,
        })
      }
      case 'timeout':
        return new EventTimeoutError(delivery.name)
      case 'lock':
        return fromRecord(delivery.error)
      case 'child':
        return new ChildFailedError(delivery.task, delivery.result, delivery.error)
    }
  }
}

function isMarker(decision: Decision): boolean {
  return decision.type === 'patched' || decision.type === 'progressed'
}

/** Each side gets its own copy: what the code does to a value must not reach the history. */
function copy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const copied: { [key: string]: Json } = {}
  for (const key of Object.keys(value)) {
    // Defined, not assigned: a key named __proto__ stays a key.
    if (key === '__proto__')
      Object.defineProperty(copied, key, {
        value: copy(value[key] as Json),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    else copied[key] = copy(value[key] as Json)
  }
  return copied
}

function mismatch(recorded: Decision | undefined, asked: Decision | undefined): TriarchError {
  const [was, is] = [recorded ? describe(recorded) : 'nothing', asked ? describe(asked) : 'nothing']
  const found = recorded ?? asked
  const id = found && 'id' in found ? found.id : 0
  return new TriarchError('HISTORY_MISMATCH', `at decision ${id} the history has ${was}, the code asks for ${is}`, {
    details: { decision: id, recorded: was, asked: is },
  })
}
