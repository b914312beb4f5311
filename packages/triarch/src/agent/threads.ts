import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { ActionDefinition } from '../definition/definition.ts'
import type { LogFields, LogWriter } from '../definition/log.ts'
import type { StepContext } from '../definition/step.ts'
import type { Environment } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { threadArguments } from '../environment/thread.ts'
import { detailsOf } from '../error/details.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { fromRecord, toRecord } from '../error/record.ts'
import { PermanentError, type StepErrorKind, TransientError, UnknownOutcomeError } from '../error/step-error.ts'
import type { Limit } from '../flow/slots.ts'
import type { ErrorRecord } from '../kernel/json.ts'
import type { Operation } from '../kernel/step/step.ts'

interface ThreadCall {
  module: string
  operation: Operation
  args: readonly unknown[]
  step: StepContext
  resolve: (output: unknown) => void
  reject: (error: unknown) => void
}

/** A message from a thread about its call. */
type ThreadMessage = { id: number } & (
  | { type: 'done'; output: unknown }
  | { type: 'failed'; error: ErrorRecord; kind: StepErrorKind | undefined; retryAfter: number | undefined }
  | { type: 'heartbeat'; beat: { progress?: unknown; checkpoint?: unknown } }
  | { type: 'log'; level: keyof LogWriter; message: string; fields: LogFields }
)

/** After an abort for one of these reasons the answer is not awaited: the thread is terminated, whatever it does. */
const overCodes = ['STEP_TIMEOUT', 'HEARTBEAT_MISSED', 'STEP_LOST', 'NODE_FENCED', 'UNHANDLED_ERROR'] as const

/** The number of threads if none is configured. */
export function defaultThreads(): number {
  return availableParallelism()
}

/** Worker threads for CPU-bound code: started when needed, running one call at a time each, and replaced when they end. */
export class Threads implements Service {
  /** Limit of concurrent calls, for hosts that reserve slots. */
  readonly limit: Limit
  readonly #idle: Worker[] = []
  /** The port of each thread, known only to the engine's code in it: messages that user code posts to its parent are ignored. */
  readonly #ports = new WeakMap<Worker, MessagePort>()
  readonly #all = new Set<Worker>()
  readonly #waiting: ThreadCall[] = []
  /** The call that each thread runs. */
  readonly #calls = new Map<Worker, { hear(word: ThreadMessage): void; over(error: unknown): void }>()
  #lastId = 0
  #open = true

  constructor(most: number) {
    this.limit = { most, taken: 0 }
  }

  /** Null if the environment has no real threads (a simulated one); the code then runs in this thread. */
  static in(environment: Environment, most: number): Threads | null {
    return environment.hrtimeOrigin === undefined ? null : new Threads(most)
  }

  perform(module: string, operation: Operation, args: readonly unknown[], step: StepContext): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.#open) return reject(new TriarchError('NODE_STOPPED', 'the node is stopping'))
      const call = { module, operation, args, step, resolve, reject }
      const worker = this.#idle.pop() ?? (this.#all.size < this.limit.most ? this.#start() : undefined)
      if (worker) return this.#give(worker, call)
      this.#waiting.push(call)
      step.signal.addEventListener('abort', () => this.#forget(call), { once: true })
    })
  }

  start(): void {
    // Threads are started when they are needed.
  }

  stop(): void {
    // Attempts under way go on, and may need threads.
  }

  /** Ends all threads. Called once the attempts have drained. */
  async drain(): Promise<void> {
    this.#open = false
    for (const call of this.#waiting.splice(0)) call.reject(new TriarchError('NODE_STOPPED', 'the node is stopping'))
    await Promise.all([...this.#all].map((worker) => worker.terminate()))
  }

  abandon(): void {
    void this.drain()
  }

  #start(): Worker {
    const { port1: here, port2: port } = new MessageChannel()
    const given = { workerData: { port }, transferList: [port] }
    const worker = new Worker(THREAD, { eval: true, name: 'triarch-step', ...given, ...threadArguments() })
    this.#ports.set(worker, here)
    this.#all.add(worker)
    here.on('message', (word: ThreadMessage) => this.#calls.get(worker)?.hear(word))
    worker.unref()
    here.unref()
    worker.on('error', (error) => this.#ended(worker, error))
    worker.on('exit', () => this.#ended(worker, undefined))
    return worker
  }

  /** A thread ended, possibly an idle one in which something left behind by its code failed later. */
  #ended(worker: Worker, cause: unknown): void {
    const place = this.#idle.indexOf(worker)
    if (place >= 0) this.#idle.splice(place, 1)
    this.#all.delete(worker)
    this.#ports.get(worker)?.close()
    this.#calls.get(worker)?.over(new UnknownOutcomeError('the thread that ran the attempt ended', { cause }))
  }

  /** Gives up a call that was aborted before it got a thread. */
  #forget(call: ThreadCall): void {
    const place = this.#waiting.indexOf(call)
    if (place < 0) return
    this.#waiting.splice(place, 1)
    call.reject(call.step.signal.reason)
  }

  #give(worker: Worker, call: ThreadCall): void {
    const { module, operation, args, step } = call
    const port = this.#ports.get(worker) as MessagePort
    const id = ++this.#lastId
    const end = () => {
      this.#calls.delete(worker)
      step.signal.removeEventListener('abort', abort)
    }
    const over = (error: unknown) => {
      end()
      this.#all.delete(worker)
      void worker.terminate()
      call.reject(error)
      this.#next()
    }
    const hear = (word: ThreadMessage) => {
      if (word.id !== id) return // from an earlier call, whose code still runs
      if (word.type === 'log') return step.log[word.level](word.message, word.fields)
      if (word.type === 'heartbeat') {
        try {
          return step.heartbeat(word.beat)
        } catch (error) {
          return over(error)
        }
      }
      end()
      worker.unref()
      port.unref()
      this.#idle.push(worker)
      if (word.type === 'done') call.resolve(word.output)
      else call.reject(errorOf(word))
      this.#next()
    }
    const abort = () => {
      const { reason } = step.signal
      if (overCodes.some((code) => isTriarchError(reason, code))) return over(reason)
      port.postMessage({ type: 'abort', id, reason: toRecord(reason) })
    }
    this.#calls.set(worker, { hear, over })
    worker.ref()
    port.ref()
    const { attempt, idempotencyKey, fence, taskId, stepId, metadata, checkpoint, received, token, completeBy } = step
    const told = { attempt, idempotencyKey, fence, taskId, stepId, metadata, checkpoint, received, token, completeBy }
    try {
      port.postMessage({ type: 'call', id, module, operation, args, step: told })
    } catch (error) {
      return over(error)
    }
    step.signal.addEventListener('abort', abort)
    if (step.signal.aborted) abort()
  }

  #next(): void {
    const call = this.#waiting[0]
    const worker =
      call && (this.#idle.pop() ?? (this.#open && this.#all.size < this.limit.most ? this.#start() : undefined))
    if (!call || !worker) return
    this.#waiting.shift()
    this.#give(worker, call)
  }
}

/** The definition with the code that runs: that of an action with a module runs in threads, if there are any. */
export function inThreads(definition: ActionDefinition, threads: Threads | null): ActionDefinition {
  const { thread } = definition
  if (!thread) return definition
  const { module, undo, verify } = thread
  const perform = async (operation: Operation, args: readonly unknown[], step: StepContext): Promise<never> => {
    if (threads) return (await threads.perform(module, operation, args, step)) as never
    const code = (await import(/* webpackIgnore: true */ /* @vite-ignore */ module)) as Record<
      string,
      (...args: unknown[]) => unknown
    >
    return (await (code[operation] ?? missing(module, operation))(...args, ...after(operation, step))) as never
  }
  return {
    ...definition,
    run: (input, step) => perform('run', [input], step),
    ...(undo && { undo: (done, step) => perform('undo', [done], step) }),
    ...(verify && { verify: (input, step) => perform('verify', [input], step) }),
  }
}

/** The arguments after the input. */
function after(operation: Operation, step: StepContext): readonly unknown[] {
  return operation === 'run' && step.received ? [step, step.received] : [step]
}

function missing(module: string, operation: Operation): never {
  throw new PermanentError(`${module} does not export ${operation}`)
}

/** The error as it was thrown in the thread, of the same kind. */
function errorOf({ error: told, kind, retryAfter }: Extract<ThreadMessage, { type: 'failed' }>): unknown {
  const error = withDetails(told)
  const plain = fromRecord(error)
  if (kind === undefined) return plain
  const options = {
    ...(plain.cause !== undefined && { cause: plain.cause }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
  const kinds = { transient: TransientError, permanent: PermanentError, 'unknown-outcome': UnknownOutcomeError }
  const { name, stack } = plain
  const { code, details } = error
  return Object.assign(new kinds[kind](error.message, options), {
    ...(code !== undefined && { code }),
    ...(details !== undefined && { details }),
    ...(name !== kinds[kind].name && { name }),
    stack,
  })
}

/** The record with details as values, for itself and its causes: a thread posts them as JSON texts. */
function withDetails({ details, cause, ...error }: ErrorRecord): ErrorRecord {
  return {
    ...error,
    ...(typeof details === 'string' && { details: detailsOf(JSON.parse(details)) ?? null }),
    ...(cause && { cause: withDetails(cause) }),
  }
}

/** Runs in each thread. It is plain JavaScript in a string, because a bundler would not find a file of ours. */
const THREAD = `
const { workerData } = require('node:worker_threads')
const { AsyncLocalStorage } = require('node:async_hooks')
const { port } = workerData
delete workerData.port
const calls = new AsyncLocalStorage()
const brand = Symbol.for('triarch.step-error')
let current = null

function revived({ name, message, code, stack }) {
  const error = Object.assign(new Error(message), code === undefined ? {} : { code })
  for (const [key, value] of [['name', name], ['stack', stack]]) if (value) Object.defineProperty(error, key, { value, configurable: true, writable: true })
  return error
}

function record(error, depth = 0) {
  if (typeof error !== 'object' || error === null) return { name: 'Error', message: 'Thrown: ' + String(error) }
  const { name, message, code, stack, cause, details } = error
  const told = { name: String(name ?? 'Error'), message: String(message ?? error) }
  if (code !== undefined) told.code = String(code)
  if (typeof stack === 'string') told.stack = stack
  if (cause !== undefined && depth < 5) told.cause = record(cause, depth + 1)
  // As a text: deeply nested values cannot be posted.
  try { if (details !== undefined) told.details = JSON.stringify(details) } catch {}
  return told
}

function failed(id, error) {
  try {
    const own = typeof error === 'object' && error !== null
    const retryAfter = own && typeof error.retryAfter === 'number' ? error.retryAfter : undefined
    port.postMessage({ id, type: 'failed', error: record(error), kind: own ? error[brand] : undefined, retryAfter })
  } catch {
    port.postMessage({ id, type: 'failed', error: { name: 'Error', message: 'what the code threw cannot leave its thread' } })
  }
}

// Lines beyond this are dropped: otherwise this process could be kept busy with nothing else.
const MOST_LINES = 2000
function logOf(id) {
  let left = MOST_LINES
  const say = (level) => (message, fields = {}) => {
    if (left-- <= 0) return
    const told = left > 0 ? { message: String(message), fields } : { message: 'more lines of the thread are dropped', fields: {} }
    try {
      port.postMessage({ id, type: 'log', level, ...told })
    } catch {
      port.postMessage({ id, type: 'log', level, message: told.message, fields: { omitted: 'they cannot leave their thread' } })
    }
  }
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
}

// An error left behind by a call ends that call, and no other call of this thread.
for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, (cause) => {
    const id = calls.getStore()
    if (id === undefined) throw cause
    const error = new Error('the code of a thread left an error behind that nobody handled: ' + (cause?.message ?? cause), { cause })
    failed(id, Object.assign(error, { code: 'UNHANDLED_ERROR', [brand]: 'unknown-outcome' }))
  })
}

async function act({ id, module, operation, args, step }) {
  const controller = new AbortController()
  current = { id, controller }
  const { signal } = controller
  try {
    const code = (await import(module))[operation]
    if (typeof code !== 'function') {
      throw Object.assign(new Error(module + ' does not export ' + operation), { [brand]: 'permanent' })
    }
    const context = {
      ...step,
      log: logOf(id),
      signal,
      suspend() {
        throw Object.assign(new Error('a step cannot be suspended from a thread'), { code: 'STEP_MISUSE', [brand]: 'permanent' })
      },
      heartbeat(beat = {}) {
        port.postMessage({ id, type: 'heartbeat', beat })
      },
    }
    const output = await code(...args, context, ...(operation === 'run' && step.received ? [step.received] : []))
    try {
      port.postMessage({ id, type: 'done', output })
    } catch (error) {
      throw Object.assign(new Error('the output cannot leave its thread: ' + error.message), { name: 'TriarchError', code: 'INVALID_OUTPUT' })
    }
  } catch (error) {
    failed(id, error)
  }
}

port.on('message', (message) => {
  if (message.type === 'call') calls.run(message.id, act, message)
  else if (current?.id === message.id) current.controller.abort(revived(message.reason))
})
`
