import { Worker } from 'node:worker_threads'
import type { Environment } from '../../environment/environment.ts'
import { TriarchError } from '../../error/error.ts'
import { receive, type SentError, unopened } from './failure.ts'
import { patiently } from './patience.ts'
import type { Arguments, OperationName, Operations, Runner } from './runner.ts'

/**
 * A request to the thread. It may not read a clock, so the time comes with it. Arguments and answers travel as JSON: for
 * many small objects half the cost of the copy that threads make otherwise.
 */
export interface Request {
  id: number
  name: OperationName | 'open' | 'close'
  now: number
  args: string
}

export type Response = { id: number; value: string | undefined } | { id: number; error: SentError }

export interface ThreadData {
  path: string
  /** How long a request may wait for a lock inside the thread (ms). */
  block: number
}

/** Longer waits are this side's: whoever holds the lock may well need an answer of the thread before it lets go. */
const BLOCK = 25

interface Pending {
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

/** Runs the operations in a thread of their own: where commits are slow, this one stays free. */
export class WorkerRunner implements Runner {
  readonly #environment: Environment
  readonly #data: ThreadData
  readonly #busyTimeout: number
  readonly #pending: Map<number, Pending> = new Map()
  #worker: Worker | null = null
  #lastId = 0

  constructor(environment: Environment, path: string, busyTimeout: number) {
    this.#environment = environment
    this.#busyTimeout = busyTimeout
    this.#data = { path, block: Math.min(BLOCK, busyTimeout) }
  }

  async open(): Promise<void> {
    // The thread's file lies beside this one, under the same extension: .ts in development, .js when published.
    const file = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
    const worker = new Worker(file, { workerData: this.#data, name: 'triarch-sqlite' })
    this.#worker = worker
    worker.unref()
    worker.on('message', (response: Response) => this.#settle(response))
    worker.on('error', (error) => this.#died(worker, error))
    worker.on('exit', () => this.#died(worker, undefined))
    try {
      await this.#patiently('open', [])
    } catch (error) {
      this.#worker = null
      await worker.terminate()
      throw error
    }
  }

  /** Whether requests can still be answered. */
  get alive(): boolean {
    return this.#worker !== null
  }

  async run<Name extends OperationName>(name: Name, ...args: Arguments<Name>): Promise<ReturnType<Operations[Name]>> {
    return (await this.#patiently(name, args)) as ReturnType<Operations[Name]>
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    const closed = this.#request('close', [])
    this.#worker = null // later requests are refused; those before are answered first
    await closed
    await worker.terminate()
  }

  #patiently(name: Request['name'], args: readonly unknown[]): Promise<unknown> {
    return patiently(this.#environment, this.#busyTimeout, () => this.#request(name, args))
  }

  #request(name: Request['name'], args: readonly unknown[]): Promise<unknown> {
    const worker = this.#worker
    if (!worker) return Promise.reject(unopened())
    const request: Request = { id: ++this.#lastId, name, now: this.#environment.now(), args: JSON.stringify(args) }
    if (this.#pending.size === 0) worker.ref()
    return new Promise((resolve, reject) => {
      this.#pending.set(request.id, { resolve, reject })
      worker.postMessage(request)
    })
  }

  #settle(response: Response): void {
    const pending = this.#pending.get(response.id)
    this.#pending.delete(response.id)
    if (this.#pending.size === 0) this.#worker?.unref() // an idle store does not keep the process alive
    if ('error' in response) pending?.reject(receive(response.error))
    else pending?.resolve(response.value === undefined ? undefined : JSON.parse(response.value))
  }

  #died(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = null
    const waiting = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of waiting) {
      reject(new TriarchError('STORE_FAILED', 'the thread of the store ended', { cause }))
    }
  }
}
