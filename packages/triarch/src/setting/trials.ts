import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Outcome } from '../kernel/message.ts'
import {
  advanced,
  dueOf,
  placed,
  type SettingGuard,
  type SettingReader,
  type SettingTrial,
  tries,
  withdrawn,
  worsened,
} from '../policy/setting.ts'
import type { StateStore } from '../store/port.ts'
import { changeSetting, type Decided, type ReadSetting } from './change.ts'
import type { Values } from './values.ts'

export interface TrialsOptions {
  environment: Environment
  store: Pick<StateStore, 'now' | 'settings' | 'writeSetting' | 'nodes' | 'queues'>
  values: Values
  node: SettingReader
  /** Called after this node changed a setting. */
  changed: () => Promise<void>
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

/** Interval between two checks, while there is a canary value (ms). */
const EVERY = 1_000

/** Observations of one canary value on this node. */
interface Watched {
  version: number
  /** Attempts that ended since this node uses the value, by agent. */
  samples: Map<string, { ended: number; failed: number }>
  /** The oldest request of each agent, and since when this node has seen it as the oldest. */
  queues: Map<string, { oldest: string; since: number }>
}

/**
 * Supervises canary rollouts: begins the next stage when its time has come, replaces nodes that died, and withdraws a value that worsens a
 * metric. Each node does this; the first one writes, and the others find it done.
 */
export class Trials implements Service {
  readonly #options: TrialsOptions
  readonly #watched = new Map<string, Watched>()
  #timer: Timer | null = null
  #busy: Promise<void> = Promise.resolve()
  #open = false

  constructor(options: TrialsOptions) {
    this.#options = options
  }

  start(): void {
    this.#open = true
    this.wake()
  }

  stop(): void {
    this.#open = false
    this.#timer?.cancel()
    this.#timer = null
  }

  drain(): Promise<void> {
    return this.#busy
  }

  abandon(): void {
    this.stop()
  }

  /** Called when there may be a canary value. */
  wake(): void {
    const { environment, values } = this.#options
    if (values.tried.length === 0) this.#watched.clear()
    else if (this.#open && this.#timer === null)
      this.#timer = environment.timer(EVERY * (0.75 + environment.random() / 2), () => {
        this.#busy = this.#look().finally(() => {
          this.#timer = null
          this.wake()
        })
      })
  }

  /** Counts an attempt of an agent that ended. */
  count(agent: string, { kind }: Outcome): void {
    if (this.#watched.size === 0 || kind === 'withdrawn' || kind === 'suspended') return
    for (const { samples } of this.#watched.values()) {
      const sample = samples.get(agent)
      if (!sample) continue
      sample.ended++
      if (kind === 'failed' || kind === 'unknown') sample.failed++
    }
  }

  async #look(): Promise<void> {
    const { values, failed } = this.#options
    for (const [name, trial] of values.tried) {
      try {
        await this.#judge(name, trial)
      } catch (error) {
        if (this.#open) failed(error)
      }
    }
  }

  async #judge(name: string, trial: SettingTrial): Promise<void> {
    const { store, environment } = this.#options
    const why = await this.#worse(name, trial)
    if (why !== null) return this.#takeBack(name, trial, why)
    const living = async () => {
      const nodes = await store.nodes()
      const now = environment.now()
      return nodes
        .filter(({ leaseUntil }) => leaseUntil >= now)
        .map(({ id, runs }) => ({ id, labels: runs?.labels ?? {} }))
    }
    const due = dueOf(trial)
    if (due !== null && due <= environment.now())
      return this.#write(name, 'its time is over', trial, async ({ state, now }) => {
        const at = state.trial && dueOf(state.trial)
        if (at === null || at > now) return null
        const next = advanced(state, now, await living())
        return { state: next, move: next.trial ? 'advanced' : 'completed', version: trial.candidate.version }
      })
    if (trial.nodes === null) return
    if (placed(trial, await living()) === trial) return
    await this.#write(name, 'nodes came or went', trial, async ({ state }) => {
      if (!state.trial) return null
      const next = placed(state.trial, await living())
      if (next === state.trial) return null
      return { state: { ...state, trial: next }, move: 'placed', version: trial.candidate.version }
    })
  }

  async #takeBack(name: string, trial: SettingTrial, why: string): Promise<void> {
    const { alert, node } = this.#options
    const { version } = trial.candidate
    let done = false
    await this.#write(name, why, trial, async ({ state }) => {
      done = state.trial?.candidate.version === version
      return done ? { state: withdrawn(state), move: 'withdrawn', version } : null
    })
    if (!done) return
    const message = `version ${version} of setting "${name}" was taken back: ${why}`
    alert({ code: 'SETTING_ROLLED_BACK', node: node.id, cause: 'setting', message })
  }

  async #write(
    name: string,
    reason: string,
    trial: SettingTrial,
    decide: (seen: ReadSetting) => Promise<Decided | null>,
  ): Promise<void> {
    const { store, environment, node, changed } = this.#options
    const change = { name, by: `node:${node.id}`, reason, id: () => environment.id() }
    // A value that another writer set meanwhile is handled by the next check.
    await changeSetting(store, change, async (seen) =>
      this.#open && seen.state.trial?.candidate.version === trial.candidate.version ? decide(seen) : null,
    )
    await changed()
  }

  /** Why the value must be withdrawn, as far as this node uses it; null: it need not. */
  async #worse(name: string, trial: SettingTrial): Promise<string | null> {
    const { node, environment } = this.#options
    if (trial.guards.length === 0 || !tries(trial, node)) {
      this.#watched.delete(name)
      return null
    }
    const watched = this.#watch(name, trial)
    for (const guard of trial.guards) {
      const queueAge = guard.metric === 'queue-age' ? await this.#age(guard, watched, environment.monotonic()) : 0
      const sample = watched.samples.get(guard.agent) ?? { ended: 0, failed: 0 }
      const why = worsened(guard, { sample, queueAge })
      if (why !== null) return why
    }
    return null
  }

  #watch(name: string, { candidate, guards }: SettingTrial): Watched {
    const known = this.#watched.get(name)
    if (known?.version === candidate.version) return known
    const samples = new Map(guards.map(({ agent }) => [agent, { ended: 0, failed: 0 }]))
    const watched = { version: candidate.version, samples, queues: new Map() }
    this.#watched.set(name, watched)
    return watched
  }

  /**
   * How long this node has seen the same request as the oldest of the agent (ms). The time it waited before does not count against the
   * value.
   */
  async #age({ agent }: SettingGuard, { queues }: Watched, now: number): Promise<number> {
    const rows = await this.#options.store.queues({ after: before(agent), limit: 1 })
    const row = rows.find((one) => one.agent === agent)
    const oldest = row?.oldest ? `${row.oldest.task}:${row.oldest.step}` : null
    const known = queues.get(agent)
    if (oldest === null) queues.delete(agent)
    else if (known?.oldest !== oldest) queues.set(agent, { oldest, since: now })
    else return Math.round(now - known.since)
    return 0
  }
}

/** A text that sorts before a name, and after all names before it. */
function before(name: string): string {
  return `${name.slice(0, -1)}${String.fromCharCode(name.charCodeAt(name.length - 1) - 1)}\u{10FFFF}`
}
