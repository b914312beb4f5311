import { Backoff } from '../environment/backoff.ts'
import { CallContext } from '../environment/context.ts'
import type { Environment } from '../environment/environment.ts'
import { owned } from '../environment/owner.ts'
import { TriarchError } from '../error/error.ts'
import { unhandled } from '../error/unhandled.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkFunction, checkOptions } from '../value/options.ts'
import { isIdentifier } from '../value/text.ts'
import type { Leadership, Term } from './term.ts'

/**
 * How a process leads.
 * @example const options: LeadOptions = { retry: { initial: '1s', max: '1m' } }
 */
export interface LeadOptions {
  /** Ends the candidacy: the leadership is given up once the function has ended. */
  signal?: AbortSignal
  /**
   * After an error of the function, this process is a candidate again: after `initial` ('1s'), doubled each time, up to `max` ('1m').
   * Errors then go to `onError`. If not given, `leaders.lead` rejects.
   */
  retry?: { initial?: Duration; max?: Duration }
}

/** How a leadership ended. */
export type TermEnd = 'returned' | 'failed' | 'stopped' | 'lost'

/** One call of `leaders.lead`: a process that wants to lead, across all lives of its node. */
export class Candidate {
  readonly name: string
  readonly result: Promise<unknown>
  /** It does not stand for election before this time (monotonic clock, ms). */
  notBefore: number = Number.NEGATIVE_INFINITY
  readonly #environment: Environment
  readonly #run: (leadership: Leadership) => unknown
  readonly #backoff: Backoff | null
  readonly #context = CallContext.here()
  readonly #settled = Promise.withResolvers<unknown>()
  readonly #failed: (error: unknown) => void
  /** Called when its function has ended: it may wait to lead again, possibly in another life of the node. */
  readonly #ended: () => void
  #leads = false
  /** The reason why it no longer wants to lead. */
  #withdrawn: Error | null = null
  #term: Term | null = null

  constructor(
    environment: Environment,
    { failed, ended }: { failed: (error: unknown) => void; ended: () => void },
    name: string,
    run: (leadership: Leadership) => unknown,
    options: LeadOptions,
  ) {
    if (!isIdentifier(name) || name.length > LONGEST_NAME)
      throw new TriarchError(
        'INVALID_NAME',
        `leaders.lead: the name must be a string of 1 to ${LONGEST_NAME} characters`,
      )
    checkFunction('leaders.lead: the second argument', run)
    checkOptions('leaders.lead', options, ['signal', 'retry'])
    const { signal, retry } = options
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw new TriarchError('INVALID_OPTION', 'leaders.lead: signal must be an AbortSignal')
    checkOptions('leaders.lead: retry', retry, ['initial', 'max'])
    const first = positiveMilliseconds(retry?.initial ?? '1s', 'leaders.lead: retry.initial')
    const most = positiveMilliseconds(retry?.max ?? '1m', 'leaders.lead: retry.max')
    this.#backoff = retry === undefined ? null : new Backoff(Math.min(first, most), most)
    this.#environment = environment
    this.#failed = failed
    this.#ended = ended
    this.#run = run
    this.name = name
    this.result = this.#settled.promise
    const abort = () => this.withdraw(new TriarchError('LEADERSHIP_LOST', `"${name}" is led no more: its signal fired`))
    signal?.addEventListener('abort', abort, { once: true })
    void this.result.catch(() => undefined).finally(() => signal?.removeEventListener('abort', abort))
    if (signal?.aborted) abort()
  }

  get waits(): boolean {
    return !this.#leads && this.#withdrawn === null
  }

  /** It leads, or may lead later. */
  get stands(): boolean {
    return this.#leads || this.#withdrawn === null
  }

  /** Ends the candidacy; if its function runs, once that has ended. */
  withdraw(reason: Error): void {
    this.#withdrawn ??= reason
    if (this.#leads) this.#term?.ask(reason)
    else this.#settled.resolve(undefined)
  }

  /** Ends the candidacy without waiting for its function. */
  forsake(reason: Error): void {
    this.withdraw(reason)
    this.#settled.resolve(undefined)
  }

  async lead(term: Term): Promise<TermEnd> {
    this.#leads = true
    this.#term = term
    try {
      const left = (error: unknown) => this.#failed(unhandled(`the function that leads "${this.name}"`, error))
      const value = await this.#context.run(() => owned({ left }, async () => this.#run(term)))
      return this.#judge(term, 'returned', value)
    } catch (error) {
      return this.#judge(term, 'failed', error)
    } finally {
      this.#leads = false
      this.#term = null
      this.#ended()
    }
  }

  #judge(term: Term, how: 'returned' | 'failed', value: unknown): TermEnd {
    const { lost } = term
    if (how === 'returned' && !lost) {
      this.#withdrawn ??= new TriarchError('LEADERSHIP_LOST', 'its function has returned')
      this.#settled.resolve(value)
      return 'returned'
    }
    // An error that the function throws because it was told to end does not count.
    const told = how === 'returned' || (term.signal.aborted && isAbortion(value, term.signal))
    const retry = this.#backoff !== null || term.signal.aborted
    if (how === 'failed' && !told && retry) this.#failed(value)
    if (this.#withdrawn !== null) this.#settled.resolve(undefined)
    else if (how === 'failed' && !retry) {
      this.#withdrawn = new TriarchError('LEADERSHIP_LOST', 'its function has failed')
      this.#settled.reject(value)
    } else if (!lost) this.notBefore = this.#environment.monotonic() + (this.#backoff?.next() ?? 0)
    if (lost) return 'lost'
    return told ? 'stopped' : 'failed'
  }
}

/** Longest name that, with the engine's prefix, is a valid lease name. */
const LONGEST_NAME = 190

function isAbortion(error: unknown, { reason }: AbortSignal): boolean {
  const { name, cause, code } = (error ?? {}) as { name?: unknown; cause?: unknown; code?: unknown }
  return error === reason || cause === reason || name === 'AbortError' || code === 'LEADERSHIP_LOST'
}
