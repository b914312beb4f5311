import type { RemoteAgents } from '../wire/sessions.ts'
import { type Acting, actingAs, entryOf } from './act.ts'
import { checkRefused, type RefusedAct } from './audit.ts'
import type { Connection } from './connection.ts'
import { type Keyring, StoredKeyring } from './keyring.ts'

/**
 * What a server in front of an engine needs beside the calls of `TriarchClient`; `@triarch/server` is built on it.
 * @example const { serving }: { serving: Serving } = triarch
 */
export interface Serving {
  /**
   * The number of task transitions that this process has made durable; while it grows, the process has work.
   * @example const isBusy = (before: number) => triarch.serving.moves > before
   */
  readonly moves: number

  /**
   * Verifies API keys. Reads nothing before the first use; while it is used, one small read of the store a second.
   * @example const key = await triarch.serving.keyring().verify(secret)
   */
  keyring(): Keyring

  /**
   * Runs `work`, and everything it starts, on behalf of an actor, who is named in the audit and in the histories of tasks wherever a call
   * names none itself. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const ada = { actor: 'ada@example.com', request: 'r-4711' }
   * await triarch.serving.acting(ada, () => triarch.tasks.get('o-1').pause())
   */
  acting<T>(acting: Acting, work: () => T): T

  /**
   * Records in the audit that an act was refused because its actor had no right to it. Throws UNKNOWN_OPTION, INVALID_OPTION, STORE_*.
   * @example
   * const act = { action: 'breaker.open', subject: 'breaker:payments', actor: 'ada' }
   * await triarch.serving.refused({ ...act, right: 'breakers' })
   */
  refused(act: RefusedAct): Promise<void>

  /**
   * Connects agents in processes without a store; a transport passes their messages to it. They get attempts while this node runs with
   * the role `agent`.
   * @example
   * const agents = triarch.serving.remoteAgents()
   * const { messages } = await agents.exchange({ session, seen: 7, wait: 5_000, messages: [] })
   */
  remoteAgents(): RemoteAgents
}

interface ServingDeps {
  connection: Connection
  failed: (error: unknown) => void
  remoteAgents: () => RemoteAgents
}

/** The server's side of an engine. */
export class EngineServing implements Serving {
  readonly #means: ServingDeps
  #keyring: StoredKeyring | null = null

  constructor(means: ServingDeps) {
    this.#means = means
  }

  get moves(): number {
    return this.#means.connection.moves
  }

  keyring(): StoredKeyring {
    const { environment, store, opened } = this.#means.connection
    this.#keyring ??= new StoredKeyring({ environment, store, opened, failed: this.#means.failed })
    return this.#keyring
  }

  /** Null before its first use. */
  get usedKeyring(): StoredKeyring | null {
    return this.#keyring
  }

  acting<T>(acting: Acting, work: () => T): T {
    return actingAs(acting, work)
  }

  async refused(act: RefusedAct): Promise<void> {
    const { action, subject, actor, right } = checkRefused(act)
    const { environment, store, opened } = this.#means.connection
    await opened()
    await store.writeAudit([entryOf(environment, { action, subject, actor, outcome: 'refused', details: { right } })])
  }

  remoteAgents(): RemoteAgents {
    return this.#means.remoteAgents()
  }
}
