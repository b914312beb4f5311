import type { Environment } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import type { AgentMessage } from './message.ts'

export type Answer = Extract<AgentMessage, { type: 'reply' | 'suspend' }>

interface Said {
  answer: Answer
  /** By the monotonic clock. */
  at: number
}

/** How long an answer that is not acknowledged is not said again on a connection that holds (ms). */
const AGAIN = 5_000

/** Answers that are not known to be durable: they are said until they are. Whether one is due is known without a look at all of them. */
export class Unacknowledged {
  readonly #environment: Environment
  readonly #unsaid = new Register<string, Answer>()
  /** In the order in which they were said last. */
  readonly #said = new Register<string, Said>()
  /** None of those said is due before. */
  #againAt = Number.POSITIVE_INFINITY

  constructor(environment: Environment) {
    this.#environment = environment
  }

  get size(): number {
    return this.#unsaid.size + this.#said.size
  }

  has(attempt: string): boolean {
    return this.#unsaid.has(attempt) || this.#said.has(attempt)
  }

  *attempts(): Iterable<string> {
    yield* this.#said.keys()
    yield* this.#unsaid.keys()
  }

  add(answer: Answer): void {
    this.#said.delete(answer.attempt)
    this.#unsaid.set(answer.attempt, answer)
  }

  delete(attempt: string): void {
    this.#said.delete(attempt)
    this.#unsaid.delete(attempt)
  }

  /** Whether one is to be said now. */
  get due(): boolean {
    if (this.#unsaid.size > 0) return true
    const now = this.#environment.monotonic()
    if (now < this.#againAt) return false
    this.#againAt = Number.POSITIVE_INFINITY
    for (const { at } of this.#said.values()) {
      this.#againAt = at + AGAIN
      break
    }
    return now >= this.#againAt
  }

  /** What is to be said now. One was said when the next is asked for. */
  *say(): Iterable<Answer> {
    const now = this.#environment.monotonic()
    for (const [attempt, { answer, at }] of this.#said) {
      if (now - at < AGAIN) break
      yield answer
      this.#said.delete(attempt)
      this.#keep(answer, now)
    }
    for (const [attempt, answer] of this.#unsaid) {
      yield answer
      this.#unsaid.delete(attempt)
      this.#keep(answer, now)
    }
  }

  #keep(answer: Answer, at: number): void {
    this.#said.set(answer.attempt, { answer, at })
    this.#againAt = Math.min(this.#againAt, at + AGAIN)
  }

  /** What was said may not have been heard. */
  unheard(): void {
    for (const said of this.#said.values()) said.at = Number.NEGATIVE_INFINITY
    this.#againAt = Number.NEGATIVE_INFINITY
  }
}
