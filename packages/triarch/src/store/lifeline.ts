import { Worker } from 'node:worker_threads'
import type { Environment } from '../environment/environment.ts'
import { threadArguments } from '../environment/thread.ts'
import type { NodeHeartbeat } from './supervision.ts'

/** A report of the thread that renews a lease. Instants are of this process's monotonic clock. */
export type LifelineReport =
  /** The lease was renewed for this long (ms); `now` is the store's clock, read between the two instants. */
  | { type: 'renewed'; asked: number; now: number; answered: number; lease: number }
  /** The store has declared the node dead. */
  | { type: 'dead' }
  /** The renewal fails and the lease is in danger; reported once until a renewal succeeds again. */
  | { type: 'failed'; error: Error; code?: unknown; errcode?: unknown }
  /** The event loop runs again after it was blocked for this long; `ran` names what ran meanwhile. */
  | { type: 'blocked'; ms: number; ran: readonly string[] }
  /** The thread ended: the node must renew its lease in another way. */
  | { type: 'ended' }

/** The lease that a thread renews, and where it reports. */
export interface KeepAlive {
  /** The heartbeat of the node. */
  node: NodeHeartbeat
  /** For how long the lease is renewed while the event loop is blocked (ms). */
  stall: number
  /** Whether it writes nothing to stderr. */
  quiet: boolean
  /** Called with the reports of the thread, in the order of events. */
  report: (report: LifelineReport) => void
}

/** The store's part of the thread's code: `connect(data, wall)` returns `{ renew(lease), close() }`. */
export interface LifelineCode {
  /** The source of this part: the text of a CommonJS module. */
  source: string
  /** The first argument of `connect`. */
  data: unknown
}

/** Places in shared memory for the names of running steps; a step that finds no place is not named. */
const PLACES = 16
const WIDTH = 256
const [TICK, DEAD, INSIDE, RUNNING] = [0, 1, 2, 3]
const HEADER = 64

/** How often the event loop is checked between two renewals. */
const LOOKS = 4

/** How long a thread may take to finish before it is terminated (ms). */
const LONGEST_END = 2_000

/**
 * Renews a node's lease from a thread with a connection of its own, so that neither this process's computations nor its
 * calls of the store delay the renewal. A counter in shared memory shows whether the event loop still runs; while it
 * does not, the thread names the steps that run.
 */
export class Lifeline {
  readonly #words: Int32Array
  readonly #times: Float64Array
  readonly #names: Buffer
  readonly #free = Array.from({ length: PLACES }, (_, place) => place)
  readonly #worker: Worker
  readonly #exited: Promise<void>
  readonly #environment: Environment
  #closing = false

  /** Returns null if a thread cannot read this environment's time. */
  static start(environment: Environment, options: KeepAlive, code: LifelineCode): Lifeline | null {
    const origin = environment.hrtimeOrigin
    return origin === undefined ? null : new Lifeline(environment, options, code, origin)
  }

  private constructor(environment: Environment, options: KeepAlive, code: LifelineCode, origin: number) {
    const { node, stall, quiet, report } = options
    const shared = new SharedArrayBuffer(HEADER + PLACES * WIDTH)
    this.#environment = environment
    this.#words = new Int32Array(shared, 0, 8)
    this.#times = new Float64Array(shared, 32, 2)
    this.#names = Buffer.from(shared, HEADER)
    this.#times[0] = Number.NEGATIVE_INFINITY
    this.#setWall()
    const { lease } = node
    const workerData = { shared, origin, lease, stall, quiet, data: code.data }
    this.#worker = new Worker(code.source + THREAD, {
      eval: true,
      workerData,
      name: 'triarch-lease',
      stderr: false,
      ...threadArguments(),
    })
    this.#worker.unref()
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        resolve()
        if (!this.#closing) report({ type: 'ended' })
      })
    })
    this.#worker.on('error', (error) => report({ type: 'failed', error: error as Error }))
    this.#worker.on('message', (it: LifelineReport) => report(it))
  }

  /** The interval at which `tick` must be called (ms). */
  static lookEvery({ lease }: Pick<NodeHeartbeat, 'lease'>): number {
    return lease / 3 / LOOKS
  }

  /** Records that the event loop runs. */
  tick(): void {
    Atomics.add(this.#words, TICK, 1)
    this.#setWall()
  }

  /** Gives the thread the offset of this environment's wall clock. */
  #setWall(): void {
    this.#times[1] = this.#environment.now() - this.#environment.monotonic()
  }

  /** When the last successful renewal was sent. */
  get renewedAt(): number {
    return this.#times[0] as number
  }

  /** Whether the thread found that the store has declared the node dead. */
  get dead(): boolean {
    return Atomics.load(this.#words, DEAD) === 1
  }

  /** Makes the thread renew at once. */
  renew(): void {
    this.#worker.postMessage('renew')
  }

  /** Changes the length of the lease (ms) from the next renewal on, which follows at once. */
  resize(lease: number): void {
    this.#worker.postMessage({ lease })
  }

  /** Registers a step that begins to run, so that it is named while the event loop is blocked. Returns its place; -1 if there was none. */
  begin(name: string): number {
    Atomics.add(this.#words, RUNNING, 1)
    const place = this.#free.pop() ?? -1
    if (place < 0) return place
    const at = place * WIDTH
    this.#names[at] = this.#names.write(name, at + 1, WIDTH - 1)
    Atomics.store(this.#words, INSIDE, place + 1)
    return place
  }

  /** Records that the step returned to the event loop: what runs from now on is not known. */
  outside(): void {
    Atomics.store(this.#words, INSIDE, 0)
  }

  /** Unregisters a step that has ended. */
  end(place: number): void {
    Atomics.sub(this.#words, RUNNING, 1)
    if (place < 0) return
    this.#names[place * WIDTH] = 0
    this.#free.push(place)
  }

  /** Ends the thread; once this resolves it renews no more. */
  async close(): Promise<void> {
    this.#closing = true
    this.#worker.ref()
    this.#worker.postMessage('close')
    const timer = this.#environment.timer(LONGEST_END, () => void this.#worker.terminate())
    await this.#exited
    timer.cancel()
  }
}

/**
 * The rest of the thread's code, behind the store's `connect`. It is plain JavaScript in a string so that a bundler has
 * no file to find.
 */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { shared, origin, stall, quiet, data } = workerData
let { lease } = workerData
let every = lease / 3
let look = every / ${LOOKS}
let timer = null
const words = new Int32Array(shared, 0, 8)
const times = new Float64Array(shared, 32, 2)
const names = Buffer.from(shared, ${HEADER})
const clock = () => Number(process.hrtime.bigint()) / 1e6 - origin
const wall = () => Math.floor(clock() + times[1])
let tick = Atomics.load(words, ${TICK})
let turnedAt = clock()
let lookedAt = turnedAt
const startedAt = turnedAt
let ran = null
let connection = null
let due = turnedAt
let busy = null
let failing = false
let dead = false
let closing = false

function running() {
  const name = (place) => names.toString('utf8', place * ${WIDTH} + 1, place * ${WIDTH} + 1 + names[place * ${WIDTH}])
  const inside = Atomics.load(words, ${INSIDE})
  if (inside > 0) return [name(inside - 1)]
  const all = []
  for (let place = 0; place < ${PLACES}; place++) if (names[place * ${WIDTH}] > 0) all.push(name(place))
  return all
}

function turn() {
  const now = clock()
  // When this thread stood still as well, nothing is known of the other.
  turnedAt += Math.max(0, now - lookedAt - 3 * look)
  lookedAt = now
  const seen = Atomics.load(words, ${TICK})
  if (seen !== tick) {
    if (ran) parentPort.postMessage({ type: 'blocked', ms: Math.round(now - turnedAt), ran })
    tick = seen
    turnedAt = now
    ran = null
  }
  const still = now - turnedAt
  if (still > every + look && !ran) {
    ran = running()
    const others = Atomics.load(words, ${RUNNING}) - ran.length
    const what = ran.length === 0 ? 'no step' : (Atomics.load(words, ${INSIDE}) > 0 ? '' : 'one of ') + ran.join(', ') + (others > 0 && ran.length > 1 ? ' and ' + others + ' more' : '')
    if (!quiet) try {
      writeSync(2, 'triarch: LOOP_BLOCKED: the event loop of process ' + process.pid + ' has stood still for ' + Math.round(still) + ' ms, while this runs: ' + what + '. Its lease is renewed for ' + Math.round((stall - still) / 1000) + ' s more\\n')
    } catch {}
  }
  if (!busy && !dead && !closing && still <= stall && now >= due) renew()
  if (!closing) timer = setTimeout(turn, look)
}

function renew() {
  busy = renewal().finally(() => { busy = null })
}

async function renewal() {
  const asked = clock()
  const length = lease
  due = asked + every
  try {
    connection ??= await connect(data, wall)
    const { alive, now } = await connection.renew(length)
    failing = false
    every = length / 3
    look = every / ${LOOKS}
    due = length === lease ? asked + every : 0
    if (!alive) {
      dead = true
      Atomics.store(words, ${DEAD}, 1)
      return parentPort.postMessage({ type: 'dead' })
    }
    times[0] = asked
    parentPort.postMessage({ type: 'renewed', asked, now, answered: clock(), lease: length })
  } catch (error) {
    due = clock() + every / 8
    const lost = connection
    connection = null
    try { await lost?.close() } catch {}
    // A file that is busy for a moment, or a connection that is made anew, harms nobody: half a lease is left.
    if (failing || clock() - Math.max(times[0], startedAt) < 1.5 * every) return
    failing = true
    const { code, errcode } = error // which a copied error leaves behind
    parentPort.postMessage({ type: 'failed', error, code, errcode })
  }
}

parentPort.on('message', async (message) => {
  if (message === 'renew') {
    if (!busy && !dead && !closing) renew()
    return
  }
  if (typeof message === 'object') {
    lease = message.lease
    // Nobody grants a longer one before a renewal has said so.
    every = Math.min(every, lease / 3)
    look = every / ${LOOKS}
    due = 0
    clearTimeout(timer)
    if (!closing) turn()
    return
  }
  closing = true
  await busy
  try { await connection?.close() } catch {}
  process.exit()
})
turn()
`
