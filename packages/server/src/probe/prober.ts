import type {
  EndpointInfo,
  EndpointState,
  HealthCheck,
  KeptEndpoint,
  Leadership,
  ProbeProblem,
  ProbeResult,
  Triarch,
} from 'triarch'
import { alarm, now } from '../environment.ts'
import { known } from '../options.ts'
import { Keeper } from './keeper.ts'
import { type ProbedEndpoint, refused, type Target, targetsOf, wholeOf } from './options.ts'
import { probe } from './probe.ts'

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
  endpoints: Readonly<Record<string, ProbedEndpoint>>
  /**
   * In its store the prober keeps what it knows, and one process at a time probes, whichever leads by the name `prober`: the next goes on from what
   * was kept. Give all processes the same endpoints: what is not among them is dropped. Nothing is kept, and each process probes for itself.
   */
  triarch?: Pick<Triarch, 'leaders' | 'health'>
  /** Results that this process remembers of each: 1 to 10,000; 100. In a store the last 100 are kept. */
  history?: number
  /** Probes at the same time, of all endpoints: 1 to 1,000; 20. More wait. */
  atOnce?: number
  /**
   * Hears when an endpoint is down, or up again; nobody. What it throws goes to `onError`. A process that dies right then may not have kept it: the next
   * says it again.
   */
  onChange?: (change: ProbeChange) => unknown
  /** Hears what `onChange` throws, and why something could not be kept; a warning of the process. */
  onError?: (error: unknown) => void
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
   * Probes each endpoint at its distance until the signal fires, the first time at once; with `triarch`, whenever this process leads. Called again
   * meanwhile, it is the same watch. What is under way then is given up. Keeps the process alive while it probes. Throws NODE_STOPPED where
   * `triarch` has stopped.
   * @example
   * const stop = new AbortController()
   * const watching = prober.run(stop.signal)
   */
  run(signal: AbortSignal): Promise<void>
  /**
   * Probes one now, and counts that as any other probe, where this process probes; else it says only what it saw. Throws INVALID_OPTION for one
   * that there is not.
   * @example const { ms, problem } = await prober.probe('shop')
   */
  probe(name: string): Promise<ProbeResult>
  /**
   * All of them as they stand, as far as this process knows: `triarch.health.probes()` says it for whichever process probes.
   * @example for (const { name, state, last } of prober.endpoints()) console.log(name, state, last?.ms)
   */
  endpoints(): EndpointInfo[]
  /**
   * The last results of one, the oldest first. Throws INVALID_OPTION for one that there is not.
   * @example const slowest = Math.max(...prober.history('shop').map(({ ms }) => ms))
   */
  history(name: string): ProbeResult[]
  /**
   * For `health.checks` of a `Triarch`: one for each endpoint, `probe.` before its name. They look at nothing themselves. None where there is a
   * `triarch`: its own check `probes` shows what is kept, in every process.
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
  known('createProber', options, ['endpoints', 'triarch', 'history', 'atOnce', 'onChange', 'onError'])
  const { endpoints, triarch, history = 100, atOnce = 20, onChange = () => undefined, onError = warn } = options
  if (
    triarch !== undefined &&
    (typeof triarch?.leaders.lead !== 'function' || typeof triarch.health.probes !== 'function')
  )
    throw refused('triarch must be a Triarch')
  if (typeof onChange !== 'function' || typeof onError !== 'function')
    throw refused('onChange and onError must be functions')
  const bounds = { history: wholeOf('history', history, 1, 10_000), atOnce: wholeOf('atOnce', atOnce, 1, 1_000) }
  return new EndpointProber(targetsOf(endpoints), { ...bounds, triarch: triarch ?? null, onChange, onError })
}

/** Under which name one process at a time probes. */
const NAME = 'prober'
/** Endpoints whose history is read at a time, and that are listed at a time. */
const FEW = 100
const PAGE = 1_000

interface ProberDeps extends Required<Omit<ProberOptions, 'endpoints' | 'triarch'>> {
  triarch: Pick<Triarch, 'leaders' | 'health'> | null
}

class EndpointProber implements Prober {
  readonly #watched: ReadonlyMap<string, Watched>
  readonly #options: ProberDeps
  #running = 0
  readonly #waiting: (() => void)[] = []
  #run: Promise<void> | null = null
  /** Null: this process keeps nothing, or does not lead. */
  #keeper: Keeper | null = null

  constructor(targets: readonly Target[], options: ProberDeps) {
    this.#options = options
    this.#watched = new Map(targets.map((target) => [target.name, { target, ...unknown() }]))
  }

  run(signal: AbortSignal): Promise<void> {
    this.#run ??= this.#begin(signal).finally(() => {
      this.#run = null
    })
    return this.#run
  }

  async probe(name: string): Promise<ProbeResult> {
    return this.#look(this.#of(name), new AbortController().signal)
  }

  endpoints(): EndpointInfo[] {
    return [...this.#watched.values()].map(infoOf)
  }

  history(name: string): ProbeResult[] {
    return [...this.#of(name).results]
  }

  checks(): Record<string, HealthCheck> {
    if (this.#options.triarch) return {}
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

  async #begin(signal: AbortSignal): Promise<void> {
    const { triarch } = this.#options
    if (!triarch) return this.#watchAll(signal)
    const lead = (leadership: Leadership) => this.#lead(triarch, leadership)
    await triarch.leaders.lead(NAME, lead, { signal, retry: {} })
  }

  async #lead(triarch: Pick<Triarch, 'health'>, leadership: Leadership): Promise<void> {
    await this.#resume(triarch, leadership)
    const read = (name: string) => keptOf(this.#of(name))
    const keeper = new Keeper({ leadership, read, failed: (error) => this.#failed(error) })
    this.#keeper = keeper
    try {
      await this.#watchAll(leadership.signal)
    } finally {
      this.#keeper = null
      await keeper.done()
    }
  }

  /** Goes on from what was kept: what this process knows itself may be of a leadership long ago. */
  async #resume(triarch: Pick<Triarch, 'health'>, leadership: Leadership): Promise<void> {
    for (const one of this.#watched.values()) Object.assign(one, unknown())
    let cursor: string | undefined
    do {
      const page = await triarch.health.probes({ limit: PAGE, ...(cursor !== undefined && { cursor }) })
      const dropped = page.endpoints.map(({ name }) => name).filter((name) => !this.#watched.has(name))
      if (dropped.length > 0) await leadership.keepProbes([], dropped)
      cursor = page.next
    } while (cursor !== undefined)
    const names = [...this.#watched.keys()]
    for (let at = 0; at < names.length; at += FEW) {
      const { endpoints } = await triarch.health.probes({ names: names.slice(at, at + FEW), history: true })
      for (const kept of endpoints) this.#restore(this.#of(kept.name), kept)
    }
  }

  /** Of another address than that which was watched nothing is known. */
  #restore(one: Watched, { url, state, since, streak, last, history = [] }: KeptEndpoint): void {
    const { origin, pathname } = one.target.url
    if (url !== origin + pathname) return
    one.state = state
    one.since = since.getTime()
    one.streak = { isWell: last?.problem === undefined, count: streak }
    one.results = history.slice(-this.#options.history)
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
      if (signal.aborted || !this.#counts) return result
      this.#count(one, result)
      this.#keeper?.keep(one.target.name)
      return result
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }

  /** Of two processes that share what they know, the one that leads. */
  get #counts(): boolean {
    return this.#options.triarch === null || this.#keeper !== null
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
    const { onChange } = this.#options
    void (async () => onChange(change))().catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    try {
      this.#options.onError(error)
    } catch (failure) {
      warn(failure)
    }
  }
}

function unknown(): Omit<Watched, 'target'> {
  return { state: 'unknown', since: now(), streak: { isWell: true, count: 0 }, results: [] }
}

function infoOf({ target, state, since, streak, results }: Watched): EndpointInfo {
  const last = results.at(-1)
  const info = { name: target.name, url: target.url.href, state, since: new Date(since), streak: streak.count }
  return { ...info, ...(last && { last }) }
}

function keptOf(one: Watched): KeptEndpoint {
  const { every, timeout } = one.target
  return { ...infoOf(one), lateAt: new Date(now() + every + timeout), history: one.results }
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
