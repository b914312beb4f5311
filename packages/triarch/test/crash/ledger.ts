import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { Book } from './workload.ts'

/** What the services saw. One line of the ledger; written by the node's process, read by the rules. */
export interface Entry {
  kind: 'call' | 'effect' | 'undo' | 'error'
  operation: 'run' | 'verify' | 'undo' | ''
  /** Idempotency key of the step (an undo has its step's). */
  key: string
  action: string
  task: string
  step: number
  attempt: number
  at: number
  pid: number
  /** The process stood still for longer than a lease may bear, a moment ago: others may have taken over its tasks. */
  zombie: boolean
  note: string
}

export type Place = Pick<Entry, 'operation' | 'key' | 'action' | 'task' | 'step' | 'attempt'>

/** A standstill this long may have cost the node its lease (ms); how long afterwards its acts may still be those of before. */
const STANDSTILL = 200
const AFTERMATH = 400

/**
 * The ledger of all services: one append-only file. Each line is a single write, which a killed process has either made or
 * not made; what it made stays, for the machine lives on.
 */
export class Ledger implements Book {
  readonly #path: string
  readonly #now: () => number
  #ticked: number
  #stood = 0

  /** `now`: the true time. */
  constructor(path: string, now: () => number = Date.now) {
    this.#path = path
    this.#now = now
    this.#ticked = now()
    setInterval(() => this.#tick(), 20).unref()
  }

  write(kind: Entry['kind'], place: Place, at: number = this.#now(), note: string = ''): void {
    this.#tick()
    const zombie = this.#now() - this.#stood < AFTERMATH
    appendFileSync(this.#path, `${JSON.stringify({ kind, ...place, at, pid: process.pid, zombie, note })}\n`)
  }

  /** Whether the service did what it was asked to under this key. */
  did(key: string): boolean {
    return readLedger(this.#path).some((entry) => entry.kind === 'effect' && entry.key === key)
  }

  pause(ms: number, signal: AbortSignal): Promise<void> {
    return pause(ms, signal)
  }

  #tick(): void {
    const now = this.#now()
    if (now - this.#ticked > STANDSTILL) this.#stood = now
    this.#ticked = now
  }
}

export function readLedger(path: string): Entry[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry)
}

/** Rejects with the signal's reason, as soon as it fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
