import { Worker } from 'node:worker_threads'
import type { Environment } from '../environment/environment.ts'
import { threadArguments } from '../environment/thread.ts'
import type { NodeHeartbeat } from './supervision.ts'

/** What a thread that renews a lease tells. Instants are of this process's monotonic clock. */
export type LifelineReport =
  /** Renewed, for this long (ms); `now`: the store's clock, read between the two instants. */
  | { type: 'renewed'; asked: number; now: number; answered: number; lease: number }
  /** The store takes the node for dead. */
  | { type: 'dead' }
  /** It cannot renew, and the lease is in danger; said once until it can again. */
  | { type: 'failed'; error: Error; code?: unknown; errcode?: unknown }
  /** The event loop runs again after it did not for so long, while this ran. */
  | { type: 'blocked'; ms: number; ran: readonly string[] }
  /** The thread is gone: somebody else must renew. */
  | { type: 'ended' }

/** Whose lease a thread renews, and whom it tells. */
export interface KeepAlive {
  /** The node, as it beats. */
  node: NodeHeartbeat
  /** For how long the lease is renewed though the event loop stands still (ms). */
  stall: number
  /** Says nothing on stderr. */
  quiet: boolean
  /** Told what the thread tells, in the order in which it happened. */
  report: (report: LifelineReport) => void
}

/** The code of a thread, apart from what all have in common: `connect(data, wall)` gives `{ renew(lease), close() }`. */
export interface LifelineCode {
  /** The thread's own part: the text of a CommonJS module. */
  source: string
  /** What `connect` is given. */
  data: unknown
}

/** Places in shared memory for what runs; what finds none is not named. */
const PLACES = 16
const WIDTH = 256
const [TICK, DEAD, INSIDE, RUNNING] = [0, 1, 2, 3]
const HEADER = 64

/** Looks at the event loop between two renewals. */
const LOOKS = 4

/** How long a thread may take to finish before it is ended (ms). */
const LONGEST_END = 2_000

/**
 * Renews a node's lease from a thread and a connection of its own: nothing that this process computes, and nothing it asks
 * of the store, keeps it waiting. It knows by a counter in shared memory whether the event loop still turns, and names
 * what runs while it does not.
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

  /** Null where threads cannot know this environment's time. */
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

  /** How often the event loop must be seen to turn (ms). */
  static lookEvery({ lease }: Pick<NodeHeartbeat, 'lease'>): number {
    return lease / 3 / LOOKS
  }

  /** The event loop turns. */
  tick(): void {
    Atomics.add(this.#words, TICK, 1)
    this.#setWall()
  }

  /** The thread's wall clock is this environment's. */
  #setWall(): void {
    this.#times[1] = this.#environment.now() - this.#environment.monotonic()
  }

  /** When the last renewal that succeeded was asked for. */
  get renewedAt(): number {
    return this.#times[0] as number
  }

  /** Told by the thread: the store takes the node for dead. */
  get dead(): boolean {
    return Atomics.load(this.#words, DEAD) === 1
  }

  /** Renews at once. */
  renew(): void {
    this.#worker.postMessage('renew')
  }

  /** From its next renewal on, which comes at once, the lease is this long (ms). */
  resize(lease: number): void {
    this.#worker.postMessage({ lease })
  }

  /** Something begins to run, and is named while the event loop stands still. -1: there was no place for it. */
  begin(name: string): number {
    Atomics.add(this.#words, RUNNING, 1)
    const place = this.#free.pop() ?? -1
    if (place < 0) return place
    const at = place * WIDTH
    this.#names[at] = this.#names.write(name, at + 1, WIDTH - 1)
    Atomics.store(this.#words, INSIDE, place + 1)
    return place
  }

  /** It let go of the event loop: what runs now may be anything. */
  outside(): void {
    Atomics.store(this.#words, INSIDE, 0)
  }

  /** Ends the thread; resolves when it has. */
  end(place: number): void {
    Atomics.sub(this.#words, RUNNING, 1)
    if (place < 0) return
    this.#names[place * WIDTH] = 0
    this.#free.push(place)
  }

  /** Renews no more once this resolves. */
  async close(): Promise<void> {
    this.#closing = true
    this.#worker.ref()
    this.#worker.postMessage('close')
    const timer = this.#environment.timer(LONGEST_END, () => void this.#worker.terminate())
    await this.#exited
    timer.cancel()
  }
}

/** Runs in the thread, after a `connect` of the store's. Plain JavaScript in a string: no bundler has a file to find. */
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
