import type { OfferedAgent } from './message.ts'

/** Quota of one caller's processes on a server: sessions, and distinct names of agents and of actions. */
const MOST = { sessions: 1_000, agents: 500, actions: 10_000 }

interface CallerUse {
  sessions: number
  /** How many sessions offer each name. */
  agents: Map<string, number>
  actions: Map<string, number>
}

/** Counts what the sessions of each caller take up. */
export class Callers {
  readonly #held = new Map<string, CallerUse>()

  /** Takes up quota until `release` of the same. Null: it is granted; otherwise what is exceeded, and nothing is taken. */
  take(by: string, agents: readonly OfferedAgent[]): string | null {
    const held = this.#held.get(by) ?? { sessions: 0, agents: new Map(), actions: new Map() }
    this.#held.set(by, held)
    held.sessions++
    for (const { name, actions } of agents) {
      more(held.agents, name)
      for (const action of actions) more(held.actions, action)
    }
    const counts = { sessions: held.sessions, agents: held.agents.size, actions: held.actions.size }
    const much = (Object.keys(MOST) as (keyof typeof MOST)[]).find((name) => counts[name] > MOST[name])
    if (much === undefined) return null
    this.release(by, agents)
    return `one caller has at most ${MOST[much]} ${much} on this server`
  }

  release(by: string, agents: readonly OfferedAgent[]): void {
    const held = this.#held.get(by)
    if (!held) return
    held.sessions--
    for (const { name, actions } of agents) {
      less(held.agents, name)
      for (const action of actions) less(held.actions, action)
    }
    if (held.sessions === 0) this.#held.delete(by)
  }
}

function more(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function less(counts: Map<string, number>, name: string): void {
  const count = (counts.get(name) ?? 0) - 1
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
