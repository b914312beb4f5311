import { Worker } from 'node:worker_threads'
import type { Environment } from '../../environment/environment.ts'
import { Register } from '../../environment/register.ts'
import { threadArguments } from '../../environment/thread.ts'
import { TriarchError } from '../../error/error.ts'
import type { Migration } from '../migration.ts'
import type { Transition } from '../port.ts'
import { writerThread } from './bundled.ts'
import { receive, type SentError, unopened } from './failure.ts'
import { packed } from './parcel.ts'
import { patiently } from './patience.ts'
import type { Arguments, OperationName, Operations, Runner } from './runner.ts'

/**
 * A request to the thread. The thread may not read a clock, so the request contains the time. Arguments and answers are
 * sent as JSON, which for many small objects costs half of a structured clone. Transitions, the most frequent
 * arguments, are packed.
 */
export type Request = { id: number; now: number } & (
  | { name: Exclude<OperationName, 'commit'> | 'open' | 'close'; args: string }
  | { name: 'commit'; batch: ReturnType<typeof packed> }
)

export type Response = { id: number; value: string | undefined } | { id: number; error: SentError }

export interface ThreadData {
  path: string
  /** How long a request may wait for a lock inside the thread (ms). */
  block: number
  /** Only tests pass these. */
  migrations?: readonly Migration[]
}

/**
 * The longest time that the thread blocks on a lock (ms). This side does longer waits, because the holder of the lock
 * may itself need an answer of the thread before it releases it.
 */
const BLOCK = 25

/** A thread that has had a request for this long is stuck (ms): it never waits for locks that long. */
const STUCK = 30_000

interface PendingWorker {
  worker: Worker
  /** When it was sent, by the monotonic clock. */
  since: number
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

/**
 * Runs the operations in a thread of their own, so that this thread stays free where commits are slow. A thread that
 * died is replaced with the next request; its outstanding requests are rejected, because it is not known whether they
 * were done.
 */
export class WorkerRunner implements Runner {
  readonly #environment: Environment
  readonly #data: ThreadData
  readonly #busyTimeout: number
  readonly #pending = new Register<number, PendingWorker>()
  #open = false
  #worker: Worker | null = null
  #abandoned: Worker | null = null
  #starting: Promise<Worker> | null = null
  #lastId = 0

  constructor(environment: Environment, path: string, busyTimeout: number, migrations?: readonly Migration[]) {
    this.#environment = environment
    this.#busyTimeout = busyTimeout
    this.#data = { path, block: Math.min(BLOCK, busyTimeout), ...(migrations && { migrations }) }
  }

  async open(): Promise<void> {
    this.#open = true
    await this.#started()
  }

  /** Whether the thread can still answer requests. */
  get alive(): boolean {
    return this.#worker !== null
  }

  async run<Name extends OperationName>(name: Name, ...args: Arguments<Name>): Promise<ReturnType<Operations[Name]>> {
    return (await this.#patiently(name, args)) as ReturnType<Operations[Name]>
  }

  /** Abandons a thread that is stuck: its outstanding requests are rejected, and the next request starts another thread. */
  unanswered(): void {
    const long = this.#environment.monotonic() - STUCK
    const stuck = [...this.#pending.values()].filter(({ since }) => since <= long)
    for (const worker of new Set(stuck.map((pending) => pending.worker))) this.#abandon(worker)
  }

  async close(): Promise<void> {
    this.#open = false // later requests are refused; earlier ones are answered first
    await this.#starting?.catch(() => undefined)
    const worker = this.#worker
    if (!worker) return
    const closed = this.#request(worker, 'close', []).catch(() => undefined) // a dead thread is closed as well
    this.#worker = null
    const timer = this.#environment.timer(STUCK, () => this.#abandon(worker))
    await closed
    timer.cancel()
    // A thread that is stuck inside SQLite cannot even be terminated.
    if (this.#abandoned !== worker) await worker.terminate()
  }

  #patiently(name: OperationName, args: readonly unknown[]): Promise<unknown> {
    return patiently(this.#environment, this.#busyTimeout, () => {
      if (!this.#open) throw unopened()
      const worker = this.#worker
      return worker ? this.#request(worker, name, args) : this.#started().then((it) => this.#request(it, name, args))
    })
  }

  /** Starts one thread, however many requests wait for it. */
  #started(): Promise<Worker> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null
    })
    return this.#starting
  }

  async #start(): Promise<Worker> {
    const options = { workerData: this.#data, name: 'triarch-sqlite', ...threadArguments() }
    const worker = new Worker(writerThread, { ...options, eval: typeof writerThread === 'string' })
    worker.on('message', (response: Response) => this.#settle(worker, response))
    worker.on('error', (error) => this.#died(worker, error))
    worker.on('exit', () => this.#died(worker, undefined))
    try {
      await patiently(this.#environment, this.#busyTimeout, () => this.#request(worker, 'open', []))
    } catch (error) {
      await worker.terminate()
      throw error
    }
    this.#worker = worker
    return worker
  }

  #request(worker: Worker, name: Request['name'], args: readonly unknown[]): Promise<unknown> {
    const [id, now] = [++this.#lastId, this.#environment.now()]
    const request: Request =
      name === 'commit'
        ? { id, now, name, batch: packed(args[0] as readonly Transition[]) }
        : { id, now, name, args: JSON.stringify(args) }
    if (this.#pending.size === 0) worker.ref()
    return new Promise((resolve, reject) => {
      this.#pending.set(request.id, { worker, since: this.#environment.monotonic(), resolve, reject })
      worker.postMessage(request)
    })
  }

  #settle(worker: Worker, response: Response): void {
    const pending = this.#pending.get(response.id)
    this.#pending.delete(response.id)
    if (this.#pending.size === 0) worker.unref() // an idle store does not keep the process alive
    if ('error' in response) pending?.reject(receive(response.error))
    else pending?.resolve(response.value === undefined ? undefined : JSON.parse(response.value))
  }

  #abandon(worker: Worker): void {
    this.#abandoned = worker
    this.#died(worker, undefined)
    worker.unref()
    void worker.terminate()
  }

  #died(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = null
    for (const [id, pending] of this.#pending) {
      if (pending.worker !== worker) continue
      this.#pending.delete(id)
      pending.reject(new TriarchError('STORE_UNANSWERED', 'the thread of the store ended', { cause }))
    }
  }
}
