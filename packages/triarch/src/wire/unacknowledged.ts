import type { Environment } from '../environment/environment.ts'
import { Register } from '../environment/register.ts'
import type { AgentMessage } from './message.ts'

export type Answer = Extract<AgentMessage, { type: 'reply' | 'suspend' }>

interface SentAnswer {
  answer: Answer
  /** Monotonic clock. */
  at: number
}

/** On a connection that holds, an unacknowledged answer is sent again after this long (ms). */
const AGAIN = 5_000

/** Answers not known to be durable, which are sent until they are. Finding out whether one is due does not scan them all. */
export class Unacknowledged {
  readonly #environment: Environment
  readonly #unsaid = new Register<string, Answer>()
  /** Answers that were sent, in the order of their last sending. */
  readonly #said = new Register<string, SentAnswer>()
  /** No sent answer is due again before this. */
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

  /** Whether an answer is to be sent now. */
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

  /** The answers to send now; each counts as sent when the next is requested. */
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

  /** The connection was lost, so sent answers may not have arrived. */
  unheard(): void {
    for (const said of this.#said.values()) said.at = Number.NEGATIVE_INFINITY
    this.#againAt = Number.NEGATIVE_INFINITY
  }
}
