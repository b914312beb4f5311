import type { Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Message } from '../kernel/message.ts'
import { rebuild } from '../kernel/rebuild.ts'
import { hideAt, scrub } from '../kernel/secret.ts'
import type { TaskState } from '../kernel/state.ts'
import { datedEvents } from '../scheduler/history.ts'
import type { Registry } from '../scheduler/registry.ts'
import type { StateStore, TaskRow } from '../store/port.ts'
import type { Limits } from './options.ts'
import { type Ending, endingOf, infoOf, stepsOf, type TaskDetails, type TaskInfo } from './status.ts'
import { present, progressOfSteps, type StepView, stepViews } from './steps.ts'
import { isVeiled, veilOf } from './veil.ts'

/** Ways to learn that a task moved: this process's own scheduler says so at once, others are seen by polling. */
export class Connection {
  readonly store: StateStore
  readonly environment: Environment
  readonly limits: Pick<Limits, 'payload'>
  readonly registry: Registry
  /** Whether this process's scheduler has the task in memory now. */
  isLocal: (id: string) => boolean = () => false
  /** Opens the store, if it is not yet open. */
  opened: () => Promise<void> = async () => undefined
  /** Tells local roles that something was posted. */
  posted: () => void = () => undefined
  /** By workflow and version. */
  readonly #secrets = new Map<string, readonly string[]>()
  readonly #listeners = new Map<string, Set<(state: TaskState) => void>>()
  /** Longest time between two looks into the store for a task that is elsewhere (ms). */
  readonly #slowest: number

  constructor(
    store: StateStore,
    environment: Environment,
    settings: { limits: Pick<Limits, 'payload'>; poll: number },
    registry: Registry,
  ) {
    this.registry = registry
    this.store = store
    this.environment = environment
    this.limits = settings.limits
    this.#slowest = Math.max(250, settings.poll)
  }

  /** The local scheduler made a transition durable. */
  moved(state: TaskState): void {
    const listeners = this.#listeners.get(state.id)
    if (listeners) for (const listener of [...listeners]) listener(state)
  }

  async row(id: string): Promise<TaskRow> {
    await this.opened()
    const row = await this.store.task(id)
    if (!row) throw new TriarchError('UNKNOWN_TASK', `there is no task "${id}"`)
    return row
  }

  async info(id: string): Promise<TaskInfo> {
    return this.shown(await this.row(id))
  }

  /** Also what only the history tells. It is read here, where somebody asks, so that no step pays for it with a write. */
  async details(id: string): Promise<TaskDetails> {
    const info = await this.info(id)
    const history = datedEvents(await this.store.replay(id))
    const veil = veilOf(history.map(({ event }) => event))
    const { state } = rebuild(id, history)
    const seen: TaskDetails = { ...info, steps: info.status === 'stopped' ? [] : stepsOf(state) }
    const shown = isVeiled(veil) ? scrub(seen, veil.texts) : seen
    if (state.progress !== undefined || !state.begun) return shown
    return { ...shown, progress: progressOfSteps(stepViews(id, history, veil)) }
  }

  /** Every step of the task, as it may be shown. */
  async steps(id: string): Promise<StepView[]> {
    await this.row(id)
    const history = datedEvents(await this.store.replay(id))
    const veil = veilOf(history.map(({ event }) => event))
    const views = stepViews(id, history, veil)
    const { registry } = this
    for (const view of views) await present(view, registry)
    return scrub(views, veil.texts)
  }

  /** The row without what its workflow marks as secret. Each version of a workflow says so in its tasks' first records. */
  async shown(row: TaskRow): Promise<TaskInfo> {
    const info = infoOf(row)
    if (info.output === undefined && info.progress === undefined) return info
    const key = `${row.workflow}@${row.version}`
    const known = this.#secrets.get(key)
    const [record] = known ? [] : await this.store.records(row.id, 0, 1)
    const [first] = record ? (JSON.parse(record.events) as TaskEvent[]) : []
    const secrets = known ?? (first?.type === 'submitted' ? (first.secrets ?? []) : [])
    this.#secrets.set(key, secrets)
    const { output, progress } = info
    if (secrets.length === 0) return info
    return {
      ...info,
      output: output === undefined ? output : hideAt(output, secrets),
      progress: progress === undefined ? progress : hideAt(progress, secrets),
    }
  }

  async send(id: string, message: Message): Promise<void> {
    await this.opened()
    const [known] = await this.store.post([
      { task: id, message, control: message.type !== 'event' && message.type !== 'signal' },
    ])
    if (!known) throw new TriarchError('UNKNOWN_TASK', `there is no task "${id}"`)
    this.posted()
  }

  /** Resolves when the task has stopped. */
  async ending(id: string, within: number | null, signal: AbortSignal | undefined): Promise<Ending> {
    const until = within === null ? Number.POSITIVE_INFINITY : this.environment.monotonic() + within
    for (let pace = 5; ; pace = Math.min(pace * 2, this.#slowest)) {
      const heard = this.#listen(id, 'end')
      try {
        if (!this.isLocal(id)) {
          const row = await this.row(id)
          if (hasEnded(row)) return infoOf(row)
        }
        const left = until - this.environment.monotonic()
        if (left <= 0) throw new TriarchError('WAIT_TIMEOUT', `task "${id}" did not stop within ${within} ms`)
        const wait = Math.min(left, this.isLocal(id) ? Math.max(1_000, this.#slowest) : pace)
        const ending = await this.#either(heard.next, wait, signal)
        if (ending) return ending
      } finally {
        heard.stop()
      }
    }
  }

  async *watch(id: string, signal: AbortSignal | undefined): AsyncIterableIterator<TaskInfo> {
    let last = ''
    for (let pace = 5; ; ) {
      const heard = this.#listen(id, 'any')
      try {
        const row = await this.row(id)
        const info = infoOf(row)
        const seen = JSON.stringify([info.status, info.result, info.failures, info.progress, info.pause])
        if (seen !== last) {
          last = seen
          pace = 5
          yield info
        } else pace = Math.min(pace * 2, this.#slowest)
        if (hasEnded(row)) return
        await this.#either(heard.next, pace, signal)
      } finally {
        heard.stop()
      }
    }
  }

  /** What is heard first within `wait` ms; undefined when nothing is. */
  #either(next: Heard, wait: number, signal: AbortSignal | undefined): Promise<Ending | undefined> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = (ending: Ending | undefined) => {
        timer.cancel()
        signal?.removeEventListener('abort', abort)
        resolve(ending)
      }
      const timer = this.environment.timer(wait, () => end(undefined))
      const abort = () => {
        timer.cancel()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      next.tell = end
      if (next.ending) end(next.ending)
    })
  }

  /** Listens before looking, so that nothing happens in between. */
  #listen(id: string, news: 'any' | 'end'): { next: Heard; stop: () => void } {
    const listeners = this.#listeners.get(id) ?? new Set()
    this.#listeners.set(id, listeners)
    const next: Heard = { ending: null, tell: null }
    const listener = (state: TaskState) => {
      if (news === 'end' && state.status !== 'stopped') return
      next.ending = endingOf(state)
      next.tell?.(next.ending)
    }
    listeners.add(listener)
    return {
      next,
      stop: () => {
        listeners.delete(listener)
        if (listeners.size === 0) this.#listeners.delete(id)
      },
    }
  }
}

/** It has stopped, and no operator's word waits that may set it going again. */
function hasEnded({ status, control, lockedBy }: TaskRow): boolean {
  return status === 'stopped' && !control && lockedBy === null
}

/** The latest news of a task, and who waits for it. */
interface Heard {
  ending: Ending | null
  tell: ((ending: Ending) => void) | null
}
