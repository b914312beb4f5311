import type { Environment, Timer } from 'triarch/store'
import type { Din } from './din.ts'

/** So many notifications are heard together; or as many as there are in the longest lull (ms). */
const TOGETHER = 10
const LONGEST = 100
/** Where fewer are said in a second (four in the longest lull, which halves them), each is heard at once. */
const LEAST = 40

/** How a session begins a lull, and ends it. */
export type Bound = 'BEGIN' | 'COMMIT'

/**
 * A while in which a session hears nothing, and at whose end it hears all that was said meanwhile: the server does not disturb one
 * in a transaction. So ten wakes cost two transactions. Nothing is lost by it. It is late, the less the more is said: where
 * something waits for each word, what is said goes down until each is heard at once again.
 */
export class Lull {
  readonly #environment: Environment
  readonly #din: Din
  readonly #ask: (bound: Bound) => Promise<unknown>
  #end: Timer | null = null
  #gone = false

  constructor(environment: Environment, din: Din, ask: (bound: Bound) => Promise<unknown>) {
    this.#environment = environment
    this.#din = din
    this.#ask = ask
  }

  /** One after the other, as long as it is loud. */
  begin(): void {
    const { loudness } = this.#din
    if (this.#end !== null || this.#gone || loudness < LEAST) return
    const ms = Math.min((TOGETHER * 1_000) / loudness, LONGEST)
    this.#end = this.#environment.timer(ms, () => void this.end())
    void this.#say('BEGIN')
  }

  /** What was said in it goes out, what was not heard comes in. */
  async end(): Promise<void> {
    if (this.#end === null) return
    this.#end.cancel()
    this.#end = null
    await this.#say('COMMIT')
    this.begin()
  }

  /** With its session. */
  abandon(): void {
    this.#gone = true
    this.#end?.cancel()
    this.#end = null
  }

  async #say(bound: Bound): Promise<void> {
    try {
      await this.#ask(bound)
    } catch {
      // Without a lull each word is heard at once. That the connection is lost, its end says.
    }
  }
}
