import type { Isolation } from '../definition/call.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { droppedProbes, type KeptEndpoint, probeRows } from '../health/endpoint.ts'
import type { Leading, StateStore } from '../store/port.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkOptions } from '../value/options.ts'

/**
 * How a leader's transaction runs.
 * @example const options: LeaderTransactionOptions = { isolation: 'serializable', timeout: '2s' }
 */
export interface LeaderTransactionOptions {
  /** The isolation level; 'read committed' by default. With a stricter one, expect the function to run again now and then. */
  isolation?: Isolation
  /** How long it may take with all its repetitions, and how long it may keep a successor waiting: '5s'. */
  timeout?: Duration
}

/**
 * The argument of the function given to `triarch.leaders.lead`.
 * @example
 * const follow = async ({ signal, token }: Leadership) => {
 *   while (!signal.aborted) await api.send(`page ${token}`, signal)
 * }
 */
export interface Leadership {
  /** Fires when the leadership is lost, before any other process may lead, and when this process is asked to stop. */
  readonly signal: AbortSignal
  /** A fencing token: higher than that of every earlier leader, so that a receiver which remembers the highest can refuse lower ones. */
  readonly token: number
  /** Whether this process certainly leads at this instant, by its own clock; reliable also right after the process was blocked. */
  holds(): boolean
  /**
   * Runs the function in a transaction on the store's database, which is committed while no other process leads, or not at all. `tx` is
   * what `task.transaction` gives: a client of `pg`, or a DatabaseSync. The function may run more than once; what it wrote before is then
   * undone. Throws LEADERSHIP_LOST, TRANSACTION_ENDED, STORE_*, what the function threw, and an UnknownOutcomeError if it cannot be known
   * whether it was committed.
   */
  transaction<T, Tx>(work: (tx: Tx) => T | Promise<T>, options?: LeaderTransactionOptions): Promise<T>
  /**
   * Stores the state of endpoints while no other process leads, or not at all: for the next leader, for `triarch.health.probes()`, and for the
   * alert rule `probe-down`. The last 100 checks of each are kept, within 64 KiB, and its URL without query. `dropped`: endpoints that are
   * no longer watched. At most 1,000 of either. Throws LEADERSHIP_LOST, INVALID_OPTION, STORE_*.
   */
  keepProbes(endpoints: readonly KeptEndpoint[], dropped?: readonly string[]): Promise<void>
}

/** The node's lease: until when it certainly lasts if it is not renewed (monotonic, ms), and whether it holds now. */
export interface Tenure {
  readonly until: number
  holds(): boolean
}

export interface TermOptions {
  environment: Environment
  store: Pick<StateStore, 'transact' | 'writeProbes'>
  tenure: Tenure
  /** How long before the end of its lease a node counts its leaderships as lost, because clocks may differ by that much (ms). */
  margin: () => number
  leading: Leading
}

const LONGEST_TRANSACTION = '5s'

/** One leadership of this process, from its election to its end. */
export class Term implements Leadership {
  readonly token: number
  readonly leading: Leading
  readonly #options: TermOptions
  /** Aborts the signal given to the user. */
  readonly #told = new AbortController()
  /** Aborts transactions. */
  readonly #cut = new AbortController()
  #timer: Timer | null = null
  #state: 'leads' | 'lost' | 'over' = 'leads'

  constructor(options: TermOptions) {
    this.#options = options
    this.leading = options.leading
    this.token = options.leading.token
    this.watch()
  }

  get signal(): AbortSignal {
    return this.#told.signal
  }

  /** The leadership was lost before the function had ended. */
  get lost(): boolean {
    return this.#state === 'lost'
  }

  readonly holds = (): boolean => {
    if (this.#state === 'leads' && this.#left <= 0) this.lose('its node could not renew its lease in time')
    return this.#state === 'leads' && this.#options.tenure.holds()
  }

  readonly transaction = async <T, Tx>(
    work: (tx: Tx) => T | Promise<T>,
    options: LeaderTransactionOptions = {},
  ): Promise<T> => {
    checkOptions('transaction', options, ['isolation', 'timeout'])
    const { isolation = 'read committed', timeout = LONGEST_TRANSACTION } = options
    const within = positiveMilliseconds(timeout, 'transaction: timeout')
    if (!this.holds()) throw this.#isLost('it was over before the transaction began')
    let answer: { is: T } | null = null
    const { store } = this.#options
    const outcome = await store.transact(this.leading, { within, signal: this.#cut.signal, isolation }, async (tx) => {
      answer = { is: await work(tx as Tx) }
      return ''
    })
    if (!outcome.ok || answer === null) throw this.#isLost('the store says so')
    return (answer as { is: T }).is
  }

  readonly keepProbes = async (endpoints: readonly KeptEndpoint[], dropped: readonly string[] = []): Promise<void> => {
    const rows = probeRows(endpoints)
    const names = droppedProbes(dropped)
    if (!this.holds()) throw this.#isLost('it was over before the endpoints were kept')
    const { environment, store } = this.#options
    const at = environment.now()
    const kept = rows.map((row) => ({ ...row, at }))
    if (!(await store.writeProbes({ leading: this.leading, kept, dropped: names })))
      throw this.#isLost('the store says so')
  }

  /** Asks the function to end; it leads until then. */
  ask(reason: Error): void {
    this.#told.abort(reason)
  }

  lose(why: string): void {
    if (this.#state !== 'leads') return
    this.#state = 'lost'
    this.#timer?.cancel()
    const error = this.#isLost(why)
    this.#cut.abort(error)
    this.#told.abort(error)
  }

  end(): void {
    if (this.#state === 'leads') this.#state = 'over'
    this.#timer?.cancel()
    this.#cut.abort(this.#isLost('its function has ended'))
  }

  #isLost(why: string): TriarchError {
    const { name } = this.leading
    return new TriarchError('LEADERSHIP_LOST', `this process does not lead "${name}" any more: ${why}`)
  }

  get #left(): number {
    const { environment, tenure, margin } = this.#options
    return tenure.until - margin() - environment.monotonic()
  }

  /** Sets the timer for the end of the lease; called again when the lease's length changes. */
  watch(): void {
    this.#timer?.cancel()
    if (this.#state !== 'leads') return
    this.#timer = this.#options.environment.timer(Math.max(1, this.#left), () => {
      if (this.holds() || this.#state === 'leads') this.watch()
    })
  }
}
