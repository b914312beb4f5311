import type { AgentBreaker } from '../definition/breaker.ts'
import type { Agent, WhenOpen } from '../definition/definition.ts'

/** What becomes of steps of an agent while its circuit breaker is open: as their actions say, else as the agent says. */
export class FallbackChoice {
  readonly #actions: ReadonlyMap<string, WhenOpen>

  constructor({ actions }: Pick<Agent, 'actions'>) {
    const said = [...actions.values()].map(({ key, definition }) => [key, definition.whenOpen] as const)
    this.#actions = new Map(said.flatMap(([key, whenOpen]) => (whenOpen === undefined ? [] : [[key, whenOpen]])))
  }

  of(action: string, breaker: AgentBreaker | null): WhenOpen {
    return this.#actions.get(action) ?? breaker?.whenOpen ?? 'park'
  }

  /** Some of them need not wait. */
  isHasty(breaker: AgentBreaker | null): boolean {
    return this.#actions.size > 0 || breaker?.whenOpen === 'fail'
  }
}
