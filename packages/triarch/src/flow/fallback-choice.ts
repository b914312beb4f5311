import type { AgentBreaker } from '../definition/breaker.ts'
import type { Agent, WhenOpen } from '../definition/definition.ts'

/** What a step does while the circuit breaker of its agent is open: as its action says, else as its agent says. */
export class FallbackChoice {
  readonly #actions: ReadonlyMap<string, WhenOpen>

  constructor({ actions }: Pick<Agent, 'actions'>) {
    const said = [...actions.values()].map(({ key, definition }) => [key, definition.whenOpen] as const)
    this.#actions = new Map(said.flatMap(([key, whenOpen]) => (whenOpen === undefined ? [] : [[key, whenOpen]])))
  }

  of(action: string, breaker: AgentBreaker | null): WhenOpen {
    return this.#actions.get(action) ?? breaker?.whenOpen ?? 'park'
  }

  /** Whether steps of some actions do not wait. */
  isHasty(breaker: AgentBreaker | null): boolean {
    return this.#actions.size > 0 || breaker?.whenOpen === 'fail'
  }
}
