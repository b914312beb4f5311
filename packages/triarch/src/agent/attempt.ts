import { isPage, toPage } from '../definition/batching.ts'
import type { LogWriter } from '../definition/log.ts'
import type { StepContext, StepSignal, SuspendOptions } from '../definition/step.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { owned } from '../environment/owner.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import { retryAfterOf, stepErrorKind } from '../error/step-error.ts'
import { unhandled } from '../error/unhandled.ts'
import { isCutOff, lossBy, mayRetry, refusedCodes, unrecordableCodes } from '../flow/verdict.ts'
import type { Json } from '../kernel/json.ts'
import type { Outcome } from '../kernel/message.ts'
import { SecretTexts, secretsAt } from '../kernel/secret.ts'
import type { StepRequest } from '../store/port.ts'
import { encode } from '../value/payload.ts'
import type { TokenContent } from '../value/token.ts'
import { Context } from './context.ts'
import { AttemptLog, type LogSink } from './log.ts'
import { suspensionOf, suspensionReport, waits } from './suspension.ts'
import { pacing, REPORT_EVERY, throttle } from './throttle.ts'

/** The code that an attempt runs: that of an action, or the closures of a local step. */
export interface Handler {
  run(input: unknown, step: StepContext, received?: StepSignal): unknown
  undo?: ((done: { input: unknown; output: unknown }, step: StepContext) => unknown) | undefined
  verify?: ((input: unknown, step: StepContext) => unknown) | undefined
  retryIf?: ((error: unknown) => boolean) | undefined
  /** For undo and verify; `retryIf` if not given. */
  undoRetryIf?: ((error: unknown) => boolean) | undefined
  /** Paths of secrets in payloads; secret texts are removed from errors. */
  secrets?: readonly string[] | undefined
}

/** Runs attempts whose code is in another process. */
export interface Relay {
  /** How long that code may run without a heartbeat while no node here is alive (ms). */
  readonly lease: number
  /** Returns why the attempt cannot begin now; null: a process has room for it. */
  meet(request: StepRequest): Outcome | null
  /** Runs the attempt there; progress and outcome are reported to the attempt (`heartbeat`, `told`). */
  send(attempt: Attempt, options: AttemptOptions): Relayed
}

/** An attempt that runs in another process. */
export interface Relayed {
  /** When its process was last heard from (monotonic clock). */
  readonly heardAt: number
  /** Asks the code to end. */
  abort(reason: unknown): void
}

/** What came with an outcome from another process. */
export interface Telling {
  checkpoint?: Json | undefined
  /** Called once the outcome is durable (true) or counts for nothing (false). */
  recorded: (counts: boolean) => void
}

export interface AttemptOptions {
  request: StepRequest
  /** The number of the attempt's request in the work queue, if it came from there. */
  work?: number
  completeBy: number
  heartbeatWithin: number | null
  /** The attempt's resume token, if it came with the request. */
  token?: string
  beat: (progress?: Json, checkpoint?: Json) => void
}

export interface AttemptBounds {
  /** Largest payload, in bytes of JSON. */
  payload: number
  /** Called when the code answers after its attempt is over. */
  late: () => void
  /** Receives the attempt's log lines. */
  logs: LogSink
  /** Makes the attempt's resume token if none came with the request. */
  token: (content: TokenContent) => string
  /** Called with errors that the code leaves behind after its attempt is over. */
  failed: (error: unknown) => void
}

/**
 * One attempt under its complete-by. `settle` is called once: with the code's answer if it comes in time, otherwise at complete-by with a
 * timeout of unknown outcome. What the code does later counts for nothing.
 */
export class Attempt {
  readonly startedAt: number
  checkpoint: Json | undefined
  readonly #settle: (outcome: Outcome) => void
  /** The code has returned, which may be after the attempt's end. */
  returned = false
  #outlived: (() => void) | undefined
  #settled = false
  /** What the code has returned. An output means that its work is done; a page of a batch was only read, and changed nothing. */
  #gave: 'nothing' | 'page' | 'output' = 'nothing'
  #timer: Timer | undefined
  #pulse: Timer | undefined
  /** Created when the code asks for its signal. Listeners run in the context in which it asked. */
  #abortion: { controller: AbortController; context: CallContext } | undefined
  #aborted: unknown
  #progress: Json | undefined
  #beat: (() => void) | undefined
  /** Set if the code runs in another process. */
  relayed: Relayed | undefined
  /** Set with an outcome from another process: called once the outcome is durable. */
  recorded: Telling['recorded'] | undefined
  #pulseOut: AttemptOptions['beat'] | undefined
  #suspension: Outcome | undefined
  #secretPaths: readonly string[] = []
  /** Created when the code logs its first line. */
  #log: AttemptLog | undefined
  /** Secret texts to be removed from log lines, as of this checkpoint. */
  #hidden: { checkpoint: Json | undefined; texts: SecretTexts } | undefined
  readonly #environment: Environment
  /** The request and its limits. */
  readonly order: AttemptOptions
  readonly #bounds: AttemptBounds

  constructor(
    environment: Environment,
    options: AttemptOptions,
    bounds: AttemptBounds,
    startedAt: number,
    settle: (outcome: Outcome) => void,
  ) {
    this.#settle = settle
    this.#bounds = bounds
    this.#environment = environment
    this.order = options
    this.startedAt = startedAt
    this.#timer = environment.timer(Math.max(0, options.completeBy - startedAt), () =>
      this.#expire('STEP_TIMEOUT', 'the attempt was not done by its complete-by'),
    )
    this.#expectPulse()
  }

  /** The resume token, made when the code asks for it. */
  get token(): string {
    const { request, token } = this.order
    const { task, step, idempotencyKey: key } = request
    return token ?? this.#bounds.token({ task, step, key })
  }

  start(handler: Handler): void {
    this.#secretPaths = handler.secrets ?? []
    void owned({ left: (error) => this.#left(handler, error) }, () => this.#run(handler))
  }

  /** Runs the code in another process. */
  send(relay: Relay): void {
    this.relayed = relay.send(this, this.order)
  }

  /** Takes the outcome from the other process. */
  told(outcome: Outcome, { checkpoint, recorded }: Telling): void {
    if (this.#settled) recorded(false)
    else this.recorded = recorded
    this.checkpoint = checkpoint ?? this.checkpoint
    this.#answer(outcome)
  }

  /** Whether this is that attempt of its step: a newer one may already run when a message for an older one arrives. */
  is({ operation, attempt }: Pick<StepRequest, 'operation' | 'attempt'>): boolean {
    return this.order.request.operation === operation && this.order.request.attempt === attempt
  }

  /** The attempt was told to stop before it had an answer, so its answer is a consequence of that. */
  get cutOff(): boolean {
    return isCutOff(this.#aborted)
  }

  /** Fires the step's signal. The attempt still ends by its code's answer or at complete-by. */
  abort(reason: unknown): void {
    this.#aborted = reason
    const to = this.#abortion
    to?.context.run(() => to.controller.abort(reason))
    this.relayed?.abort(reason)
  }

  /** Ends the attempt as lost: its answer is not awaited any more. */
  abandon(reason: unknown): void {
    const lost = lossBy(reason)
    this.#finish({ kind: 'failed', error: toRecord(reason), retryable: true, unknown: true, ...(lost && { lost }) })
    this.abort(reason)
  }

  async #run(handler: Handler): Promise<void> {
    const { request, completeBy } = this.order
    const { payload } = this.#bounds
    try {
      const step = new Context(this, request, completeBy)
      if (request.operation === 'run') {
        const output = await handler.run(request.input, step, request.event)
        this.#gave = isPage(output) ? 'page' : 'output'
        if (waits(output, step)) return this.#answer(this.#suspension ?? { kind: 'suspended' })
        if (isPage(output)) return this.#answer({ kind: 'suspended', page: toPage(output, payload) })
        return this.#answer({ kind: 'done', output: encode(output, 'output', payload, handler.secrets) })
      }
      this.#answer(await perform(handler, request, step, payload))
    } catch (error) {
      this.#answer(this.#failure(error, handler))
    }
  }

  /** The code left an error unhandled. The rest of the code may still run, or wait for the failed branch for ever. */
  #left(handler: Handler, cause: unknown): void {
    const { action, name, step, task } = this.order.request
    const error = unhandled(`${action || name} (step ${step} of task ${task})`, cause)
    if (this.#settled) return this.#bounds.failed(error)
    const { kind: _, ...failure } = this.#failure(cause, handler) as Extract<Outcome, { kind: 'failed' }>
    const record = this.#secrets(handler.secrets).scrub(toRecord(error))
    this.#finish({ kind: 'failed', ...failure, error: record, unknown: true })
    this.abort(error)
  }

  #failure(error: unknown, handler: Handler): Outcome {
    const kind = stepErrorKind(error)
    // The work was done, but its result cannot be recorded: retrying does not help, verifying may.
    const unfit = unrecordableCodes.some((code) => isTriarchError(error, code))
    const unrecordable = unfit && this.#gave !== 'page'
    const refused = kind === 'permanent' || unfit || refusedCodes.some((code) => isTriarchError(error, code))
    const unknown = kind === 'unknown-outcome' || unrecordable || (this.#aborted !== undefined && kind !== 'permanent')
    const lost = refused ? undefined : lossBy(this.#aborted)
    const done = unrecordable && (this.#gave === 'output' || isTriarchError(error, 'INVALID_OUTPUT'))
    const retryAfter = retryAfterOf(error)
    return {
      kind: 'failed',
      error: this.#secrets(handler.secrets).scrub(toRecord(error)),
      retryable: !refused && (lost !== undefined || mayRetry(handler, this.order.request.operation, error)),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(unknown && { unknown: true as const }),
      ...(lost && { lost }),
      ...(done && { done }),
    }
  }

  #secrets(secrets: readonly string[] | undefined): SecretTexts {
    const { input, output, checkpoint, event, secretTexts } = this.order.request
    const found = new SecretTexts(secretTexts)
    // A finalizer's input holds the input and the output of its run.
    const given = [input, output, checkpoint, this.checkpoint, event?.payload, partOf(input, 'input'), partOf(input, 'output')] // biome-ignore format: one line
    if (secrets) for (const payload of given) secretsAt(payload, secrets, found)
    return found
  }

  #expire(code: 'STEP_TIMEOUT' | 'HEARTBEAT_MISSED', message: string): void {
    const error = new TriarchError(code, message)
    this.#finish({ kind: 'failed', error: toRecord(error), retryable: true, unknown: true })
    this.abort(error)
  }

  /** The code has returned. */
  #answer(outcome: Outcome): void {
    this.returned = true
    this.#finish(outcome)
    this.#outlived?.()
  }

  /** Calls back when the code returns, if the attempt or its node ended before that. */
  whenReturned(callback: () => void): void {
    const others = this.#outlived
    this.#outlived = () => {
      others?.()
      callback()
    }
  }

  #finish(outcome: Outcome): void {
    if (this.#settled) return this.#bounds.late()
    this.#settled = true
    this.#timer?.cancel()
    this.#pulse?.cancel()
    this.#log?.end()
    this.#settle(outcome)
  }

  #expectPulse(): void {
    const within = this.order.heartbeatWithin
    this.#pulse?.cancel()
    if (within === null || this.#settled) return
    this.#pulse = this.#environment.timer(within, () =>
      this.#expire('HEARTBEAT_MISSED', `no heartbeat within ${within} ms`),
    )
  }

  get log(): LogWriter {
    return this.logFrom(undefined).writer
  }

  /** `source`: identifies the lines of code in another process. */
  logFrom(source: string | undefined): AttemptLog {
    const { logs } = this.#bounds
    this.#log ??= new AttemptLog(this.#environment, logs.source(this.order.request, source), () => this.#unsayable())
    return this.#log
  }

  #unsayable(): SecretTexts {
    const { checkpoint } = this
    if (this.#hidden === undefined || this.#hidden.checkpoint !== checkpoint)
      this.#hidden = { checkpoint, texts: this.#secrets(this.#secretPaths) }
    return this.#hidden.texts
  }

  get signal(): AbortSignal {
    this.#abortion ??= { controller: new AbortController(), context: CallContext.here() }
    const { controller } = this.#abortion
    if (this.#aborted !== undefined && !controller.signal.aborted) controller.abort(this.#aborted)
    return controller.signal
  }

  /** The reason for which the signal was fired; undefined: it was not. */
  get aborted(): unknown {
    return this.#aborted
  }

  get suspended(): boolean {
    return this.#suspension !== undefined
  }

  suspend(options: SuspendOptions): void {
    if (this.order.request.operation !== 'run') throw new TriarchError('STEP_MISUSE', 'only run can be suspended')
    this.#suspension = suspensionOf(options, this.#bounds.payload, this.#secretPaths)
  }

  heartbeat(beat: { progress?: unknown; checkpoint?: unknown }): void {
    if (this.#settled) return
    this.#expectPulse()
    const { progress, checkpoint } = suspensionReport(beat, this.#bounds.payload, this.#secretPaths)
    if (checkpoint !== undefined) this.checkpoint = checkpoint
    if (progress !== undefined) this.#progress = progress
    if (this.order.heartbeatWithin !== null) {
      const pulse = () => this.order.beat()
      this.#pulseOut ??= throttle(this.#environment, () => REPORT_EVERY.least, pulse)
      this.#pulseOut(undefined, undefined)
    }
    if (progress === undefined && checkpoint === undefined) return
    this.#beat ??= throttle(this.#environment, pacing(this.#environment, this, this.#bounds.payload), () => {
      if (!this.#settled) this.order.beat(this.#progress, this.checkpoint)
    })
    this.#beat()
  }
}

function partOf(value: Json, key: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[key] : undefined
}

/** Runs undo and verify, which are rarer than run. */
async function perform(handler: Handler, request: StepRequest, step: StepContext, limit: number): Promise<Outcome> {
  if (request.operation === 'verify') return verification(await handler.verify?.(request.input, step), limit, handler)
  await handler.undo?.({ input: request.input, output: request.output }, step)
  return { kind: 'done', output: null }
}

function verification(answer: unknown, limit: number, { secrets }: Handler): Outcome {
  const done = typeof answer === 'object' && answer !== null && 'done' in answer ? answer.done : undefined
  if (done === false) return { kind: 'not-done' }
  if (done === 'unknown') return { kind: 'unknown' }
  if (done !== true) {
    throw new TriarchError(
      'INVALID_OUTPUT',
      "verify must answer { done: true, output }, { done: false } or { done: 'unknown' }",
    )
  }
  const output = typeof answer === 'object' && answer !== null && 'output' in answer ? answer.output : undefined
  return { kind: 'done', output: encode(output, 'output', limit, secrets) }
}
