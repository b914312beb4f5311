import { delay, type Environment, type Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import { TriarchError } from '../error/error.ts'
import type { LeaderRow, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import type { Candidate, TermEnd } from './candidate.ts'
import { type Tenure, Term } from './term.ts'

export interface ElectionsOptions {
  environment: Environment
  store: Pick<StateStore, 'leaders' | 'elect' | 'resign' | 'transact' | 'writeProbes'>
  node: string
  /** Length of the node's lease (ms), which may change. */
  lease: () => number
  tenure: Tenure
  /** All candidates of this process; they outlive the node. */
  candidates: ReadonlySet<Candidate>
  telemetry: Telemetry
  failed: (error: unknown) => void
}

/** Poll interval while a candidate waits to lead (ms); bounds how long a hand-over takes. */
const FOLLOW = 250
/** Delay after a failed poll (ms). */
const AGAIN = 1_000
/** A leadership counts as lost this share of the node's lease early. Clocks of machines drift apart by less. */
const MARGIN = 1 / 10

/** The leaderships of one node: takes vacant ones for waiting candidates, and checks those that it has. */
export class Elections implements Service {
  readonly #options: ElectionsOptions
  readonly #terms = new Map<string, { term: Term; over: Promise<void> }>()
  /** Leaderships that the store assigns to this node and that it gave up, but whose resignation was not acknowledged. */
  readonly #unresigned = new Set<string>()
  #open = false
  #timer: Timer | null = null
  #round: Promise<void> | null = null
  #again = false

  constructor(options: ElectionsOptions) {
    this.#options = options
  }

  start(): void {
    this.#open = true
    this.wake()
  }

  /** The length of the node's lease has changed. */
  resized(): void {
    for (const { term } of this.#terms.values()) term.watch()
    this.wake()
  }

  /** A candidate was added or withdrawn. */
  wake(): void {
    if (!this.#open) return
    this.#again = true
    if (this.#round !== null) return
    this.#timer?.cancel()
    this.#options.environment.soon(() => this.#look())
  }

  stop(): void {
    this.#open = false
    this.#timer?.cancel()
    const reason = new TriarchError('NODE_STOPPED', 'the node is stopping')
    for (const { term } of this.#terms.values()) term.ask(reason)
  }

  /** Leaders get this time to end; after that they are notified that the leadership is lost. */
  async drain(grace: number): Promise<void> {
    const over = new AbortController()
    const ended = async () => {
      await this.#round
      await Promise.all([...this.#terms.values()].map((it) => it.over))
      over.abort()
    }
    await Promise.race([ended(), delay(this.#options.environment, grace, over.signal)])
    for (const { term } of this.#terms.values()) term.lose('its node has stopped')
  }

  abandon(reason: Error): void {
    this.stop()
    for (const { term } of this.#terms.values()) term.lose(reason.message)
  }

  #look(): void {
    if (!this.#open || this.#round !== null) return
    this.#again = false
    this.#round = this.#all()
      .then(() => this.#wait)
      .catch((error: unknown) => {
        if (this.#open) this.#options.failed(error)
        return AGAIN
      })
      .then((wait) => {
        this.#round = null
        if (!this.#open) return
        if (this.#again) this.#look()
        else if (wait !== null) this.#timer = this.#options.environment.timer(wait, () => this.#look())
      })
  }

  /** Time until the next poll (ms); null: there is nothing to poll for. */
  get #wait(): number | null {
    const { lease } = this.#options
    if (this.#unresigned.size > 0 || this.#waiting.some(({ name }) => !this.#terms.has(name))) return FOLLOW
    return this.#terms.size > 0 ? lease() / 3 : null
  }

  get #waiting(): Candidate[] {
    return [...this.#options.candidates].filter(({ waits }) => waits)
  }

  async #all(): Promise<void> {
    const now = this.#options.environment.monotonic()
    const waiting = this.#waiting.filter(({ notBefore }) => now >= notBefore)
    const names = new Set([...this.#terms.keys(), ...this.#unresigned, ...waiting.map(({ name }) => name)])
    if (names.size === 0) return
    const before = new Map(this.#terms)
    const rows = await this.#options.store.leaders({ names: [...names] })
    for (const name of names) {
      const row = rows.find((it) => it.name === name)
      const led = this.#terms.get(name)
      // A term that began or ended while the store answered is not covered by that answer.
      if (led !== before.get(name)) continue
      if (led) this.#check(led.term, row)
      else await this.#stand(name, row)
    }
  }

  #check(term: Term, row: LeaderRow | undefined): void {
    const { node, token } = term.leading
    if (row?.node !== node || row.token !== token) return term.lose('the store names another leader')
    // The function still runs although its leadership is lost. Successors need not wait for it.
    if (term.lost) void this.#resign(term.leading.name, token)
  }

  async #stand(name: string, row: LeaderRow | undefined): Promise<void> {
    const { store, node } = this.#options
    const candidate = this.#waiting.find((it) => it.name === name)
    // The answer to an election or resignation was lost, or a leadership was lost before the node was.
    if (row?.node === node) return this.#resign(name, row.token)
    this.#unresigned.delete(name)
    if (!candidate || (row && row.node !== null) || !this.#sure) return
    const expected = row?.token ?? 0
    if (!(await store.elect({ name, node, expected }))) return
    if (candidate.waits && this.#sure) this.#begin(candidate, expected + 1)
    else await this.#resign(name, expected + 1)
  }

  /** Whether the node's lease certainly lasts for a while. */
  get #sure(): boolean {
    const { environment, tenure, lease } = this.#options
    return this.#open && tenure.holds() && tenure.until - environment.monotonic() > 2 * MARGIN * lease()
  }

  #begin(candidate: Candidate, token: number): void {
    const { environment, store, tenure, lease, node } = this.#options
    const { name } = candidate
    const leading = { name, node, token }
    const term = new Term({ environment, store, tenure, margin: () => MARGIN * lease(), leading })
    this.#tell(term)
    const over = candidate.lead(term).then(async (end) => {
      const { lost } = term
      term.end()
      if (!lost) await this.#resign(name, token)
      this.#terms.delete(name)
      this.#tell(term, end)
      this.wake()
    })
    this.#terms.set(name, { term, over })
  }

  async #resign(name: string, token: number): Promise<void> {
    const { store, node, failed } = this.#options
    this.#unresigned.add(name)
    try {
      await store.resign({ name, node, token })
      this.#unresigned.delete(name)
    } catch (error) {
      failed(error)
    }
  }

  #tell({ leading: { name, token } }: Term, end?: TermEnd): void {
    const { environment, node, telemetry } = this.#options
    const about = { at: environment.now(), node, name, token }
    if (end === undefined && telemetry['leadership:taken'].open) telemetry['leadership:taken'].tell(about)
    if (end !== undefined && telemetry['leadership:ended'].open) telemetry['leadership:ended'].tell({ ...about, end })
  }
}
