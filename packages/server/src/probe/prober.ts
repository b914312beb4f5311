import type { HealthCheck } from 'triarch'
import { alarm, now } from '../environment.ts'
import { known } from '../options.ts'
import { type Endpoint, refused, type Target, targetsOf, wholeOf } from './options.ts'
import { type ProbeProblem, type ProbeResult, probe } from './probe.ts'

/**
 * What a prober watches, and who hears of it.
 * @example
 * const options: ProberOptions = {
 *   endpoints: { shop: { url: 'https://shop.example.com/' } },
 *   onChange: ({ name, to, problem }) => console.error(name, to, problem?.message),
 * }
 */
export interface ProberOptions {
  /** By name (letters, digits, `.`, `-`, `_`; 90 characters): 1 to 1,000. */
  endpoints: Readonly<Record<string, Endpoint>>
  /** Results that are kept of each: 1 to 10,000; 100. */
  history?: number
  /** Probes at the same time, of all endpoints: 1 to 1,000; 20. More wait. */
  atOnce?: number
  /** Hears when an endpoint is down, or up again; nobody. What it throws goes to `onError`. */
  onChange?: (change: ProbeChange) => unknown
  /** Hears what `onChange` throws; a warning of the process. */
  onError?: (error: unknown) => void
}

/**
 * How an endpoint is: `unknown` until enough probes were of one mind.
 * @example const isWell = (state: EndpointState) => state !== 'down'
 */
export type EndpointState = 'unknown' | 'up' | 'down'

/**
 * An endpoint as it stands.
 * @example const [shop]: EndpointInfo[] = prober.endpoints()
 */
export interface EndpointInfo {
  /** Its name. */
  name: string
  /** Where it is. */
  url: string
  /** How it is. */
  state: EndpointState
  /** Since when. */
  since: Date
  /** Probes in a row that were of the same mind as the last. */
  streak: number
  /** The last look; absent: there was none. */
  last?: ProbeResult
}

/**
 * An endpoint went down, or is up again.
 * @example const line = ({ name, to, problem }: ProbeChange) => `${name} is ${to}: ${problem?.message}`
 */
export interface ProbeChange {
  /** Its name. */
  name: string
  /** Where it is. */
  url: string
  /** What it was. */
  from: EndpointState
  /** What it is. */
  to: 'up' | 'down'
  /** When it was seen. */
  at: Date
  /** How long it was what it was (ms). */
  lasted: number
  /** What is wrong; absent: it is up again. */
  problem?: ProbeProblem
}

/**
 * Watches endpoints from outside.
 * @example
 * const prober: Prober = createProber({ endpoints: { shop: { url: 'https://shop.example.com/' } } })
 * prober.endpoints()
 */
export interface Prober {
  /**
   * Probes each endpoint at its distance until the signal fires, the first time at once. Called again meanwhile, it is the same watch. What is
   * under way then is given up. Keeps the process alive.
   * @example await triarch.lead('prober', ({ signal }) => prober.run(signal))
   */
  run(signal: AbortSignal): Promise<void>
  /**
   * Probes one now, and counts that as any other probe. Throws INVALID_OPTION for one that there is not.
   * @example const { ms, problem } = await prober.probe('shop')
   */
  probe(name: string): Promise<ProbeResult>
  /**
   * All of them as they stand.
   * @example for (const { name, state, last } of prober.endpoints()) console.log(name, state, last?.ms)
   */
  endpoints(): EndpointInfo[]
  /**
   * The last results of one, the oldest first. Throws INVALID_OPTION for one that there is not.
   * @example const slowest = Math.max(...prober.history('shop').map(({ ms }) => ms))
   */
  history(name: string): ProbeResult[]
  /**
   * For `health.checks` of a `Triarch`: one for each endpoint, `probe.` before its name. They look at nothing themselves.
   * @example const triarch = new Triarch({ store: sqlite('shop.db'), health: { checks: prober.checks() } })
   */
  checks(): Record<string, HealthCheck>
}

interface Watched {
  target: Target
  state: EndpointState
  since: number
  streak: { isWell: boolean; count: number }
  results: ProbeResult[]
}

/**
 * A prober of these endpoints. It opens nothing before it is asked to. Throws UNKNOWN_OPTION, INVALID_OPTION.
 * @example
 * const prober = createProber({
 *   endpoints: { shop: { url: 'https://shop.example.com/' } },
 *   onChange: ({ name, to, problem }) => console.error(name, to, problem?.message),
 * })
 */
export function createProber(options: ProberOptions): Prober {
  known('createProber', options, ['endpoints', 'history', 'atOnce', 'onChange', 'onError'])
  const { endpoints, history = 100, atOnce = 20, onChange = () => undefined, onError = warn } = options
  if (typeof onChange !== 'function' || typeof onError !== 'function')
    throw refused('onChange and onError must be functions')
  const bounds = { history: wholeOf('history', history, 1, 10_000), atOnce: wholeOf('atOnce', atOnce, 1, 1_000) }
  return new EndpointProber(targetsOf(endpoints), { ...bounds, onChange, onError })
}

class EndpointProber implements Prober {
  readonly #watched: ReadonlyMap<string, Watched>
  readonly #options: Required<Omit<ProberOptions, 'endpoints'>>
  #running = 0
  readonly #waiting: (() => void)[] = []
  #run: Promise<void> | null = null

  constructor(targets: readonly Target[], options: Required<Omit<ProberOptions, 'endpoints'>>) {
    this.#options = options
    const since = now()
    this.#watched = new Map(
      targets.map((target) => {
        const streak = { isWell: true, count: 0 }
        return [target.name, { target, state: 'unknown', since, streak, results: [] }]
      }),
    )
  }

  run(signal: AbortSignal): Promise<void> {
    this.#run ??= this.#watchAll(signal).finally(() => {
      this.#run = null
    })
    return this.#run
  }

  async probe(name: string): Promise<ProbeResult> {
    return this.#look(this.#of(name), new AbortController().signal)
  }

  endpoints(): EndpointInfo[] {
    return [...this.#watched.values()].map(({ target, state, since, streak, results }) => {
      const last = results.at(-1)
      const info = { name: target.name, url: target.url.href, state, since: new Date(since), streak: streak.count }
      return { ...info, ...(last && { last }) }
    })
  }

  history(name: string): ProbeResult[] {
    return [...this.#of(name).results]
  }

  checks(): Record<string, HealthCheck> {
    const checks = [...this.#watched.values()].map((one): [string, HealthCheck] => {
      const check: HealthCheck = () => {
        const { state, results } = one
        const problem = results.at(-1)?.problem
        if (state === 'down') return { status: 'critical', message: problem?.message ?? 'it was down' }
        return { status: 'ok', ...(problem && { message: problem.message }) }
      }
      return [`probe.${one.target.name}`, check]
    })
    return Object.fromEntries(checks)
  }

  #of(name: string): Watched {
    const found = this.#watched.get(name)
    if (!found) throw refused(`there is no endpoint "${String(name).slice(0, 100)}"`)
    return found
  }

  async #watchAll(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#watched.values()].map((one) => this.#watch(one, signal)))
  }

  /** Each waits for its own probe: one that hangs keeps no other from being looked at. */
  async #watch(one: Watched, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(one, signal)
      await rest(one.target.every, signal)
    }
  }

  async #look(one: Watched, signal: AbortSignal): Promise<ProbeResult> {
    await this.#slot()
    try {
      const result = await probe(one.target, signal)
      // What was cut off says nothing of the endpoint.
      if (!signal.aborted) this.#count(one, result)
      return result
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }

  async #slot(): Promise<void> {
    while (this.#running >= this.#options.atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running++
  }

  #count(one: Watched, result: ProbeResult): void {
    const { results, target, state: from, streak } = one
    results.push(result)
    if (results.length > this.#options.history) results.shift()
    const isWell = result.problem === undefined
    one.streak = { isWell, count: streak.isWell === isWell ? streak.count + 1 : 1 }
    const to = isWell ? 'up' : 'down'
    // Nothing bad is known of one that is new: the first that is well is enough.
    const enough = isWell ? (from === 'unknown' ? 1 : target.successes) : target.failures
    if (from === to || one.streak.count < enough) return
    const at = now()
    const lasted = at - one.since
    one.state = to
    one.since = at
    if (from === 'unknown' && to === 'up') return
    const { name, url } = target
    const { problem } = result
    this.#tell({ ...{ name, url: url.href, from, to, at: new Date(at), lasted }, ...(problem && { problem }) })
  }

  /** Who listens harms no probe. */
  #tell(change: ProbeChange): void {
    const { onChange, onError } = this.#options
    void (async () => onChange(change))().catch((error: unknown) => {
      try {
        onError(error)
      } catch (failure) {
        warn(failure)
      }
    })
  }
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      stop()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const stop = alarm(ms, end)
    signal.addEventListener('abort', end, { once: true })
  })
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)))
}
