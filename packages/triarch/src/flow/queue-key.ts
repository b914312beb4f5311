import type { Agent } from '../definition/definition.ts'
import { type Key, keyedOf, keyOf } from '../definition/key.ts'
import { owned } from '../environment/owner.ts'
import { TriarchError } from '../error/error.ts'
import { KEYED } from '../store/breaker.ts'
import type { StepRequest } from '../store/port.ts'
import { warned } from '../telemetry/guarded.ts'
import { atOnce } from '../value/answer.ts'

const LONGEST_KEY = 150

/** The keys of one agent's steps: each key has a queue of its own. */
export class QueueKeys {
  readonly #agent: string
  readonly #own: Key | null
  /** The keys of actions that have their own. */
  readonly #actions = new Map<string, Key>()
  readonly #names: ReadonlySet<string>

  constructor(agent: Agent) {
    const { name, actions } = agent
    this.#agent = name
    this.#names = new Set(actions.keys())
    this.#own = keyOf(`agent "${name}"`, keyedOf(agent))
    for (const { key: action, definition } of actions.values()) {
      const key = keyOf(action, definition, keyedOf(agent))
      if (key !== null && this.#own === null) this.#actions.set(action, key)
    }
  }

  get none(): boolean {
    return this.#own === null && this.#actions.size === 0
  }

  /** Whether all actions have keys, so that no request stays in the agent's own queue. */
  get all(): boolean {
    return this.#own !== null
  }

  /** The queue of a request, which is the name of its breaker as well. Throws what the user's function throws, and INVALID_OPTION. */
  queueOf({ action, input }: Pick<StepRequest, 'action' | 'input'>): string {
    const key = this.#own ?? this.#actions.get(action)
    if (!key) return this.#agent
    // The input of a finalizer is the input of its run with its output.
    const own = this.#names.has(action.slice(action.indexOf('.') + 1))
    const of = own ? input : ((input as { input?: unknown } | null)?.input ?? null)
    const text = atOnce(owned(warned, () => key(of)))
    if (
      typeof text === 'string' &&
      text !== '' &&
      text.length <= LONGEST_KEY &&
      text.isWellFormed() &&
      !/\p{Cc}/u.test(text)
    )
      return `${this.#agent}${KEYED}${text}`
    throw new TriarchError(
      'INVALID_OPTION',
      `agent "${this.#agent}": key must return a string of 1 to ${LONGEST_KEY} characters without control characters`,
    )
  }
}
