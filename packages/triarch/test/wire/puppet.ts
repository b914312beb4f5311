// An agent's process that says what the test wants, over whatever carries it.
import type { AgentMessage, RemoteAgents, RemoteAttempt, RemoteOutcome, ServerMessage } from '../../src/index.ts'

type Numbered = Extract<ServerMessage, { n: number }>

export class Puppet {
  agents: RemoteAgents
  readonly instance: string
  session: string | undefined
  seen = 0
  #hellos = 0
  /** What it was told since its last hello. */
  heard: Numbered[] = []

  constructor(agents: RemoteAgents, instance: string) {
    this.agents = agents
    this.instance = instance
  }

  async hello(offers: Record<string, number>, running: string[] = [], more: AgentMessage[] = []) {
    const agents = Object.entries(offers).map(([name, slots]) => ({ name, slots, actions: [`${name}.act`] }))
    const who = { protocol: 1, instance: this.instance, count: ++this.#hellos }
    const hello: AgentMessage = { type: 'hello', ...who, agents, running }
    const { messages } = await this.agents.exchange({ messages: [hello, ...more] })
    const [welcome, ...rest] = messages
    if (welcome?.type === 'welcome') this.session = welcome.session
    this.seen = 0
    this.heard = []
    this.#hear(rest)
    return welcome
  }

  /** Says this, and answers what is new. */
  async say(...messages: AgentMessage[]): Promise<Numbered[]> {
    const answer = await this.agents.exchange({ ...this.#who(), messages })
    return this.#hear(answer.messages)
  }

  /** Hears, and forgets that it did: as if the answer got lost. */
  async miss(): Promise<ServerMessage[]> {
    return (await this.agents.exchange({ ...this.#who(), messages: [] })).messages
  }

  /** Attempts that it was given since. */
  async attempts(): Promise<RemoteAttempt[]> {
    return (await this.say()).filter((it) => it.type === 'attempt')
  }

  reply(attempt: string, outcome: RemoteOutcome): Promise<Numbered[]> {
    return this.say({ type: 'reply', attempt, outcome })
  }

  #who() {
    return { ...(this.session !== undefined && { session: this.session }), seen: this.seen }
  }

  #hear(messages: readonly ServerMessage[]): Numbered[] {
    const fresh = messages.filter((it): it is Numbered => 'n' in it && it.n > this.seen)
    this.seen = fresh.at(-1)?.n ?? this.seen
    this.heard.push(...fresh)
    return fresh
  }
}
