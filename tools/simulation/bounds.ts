import { apply } from '../../packages/triarch/src/kernel/apply.ts'
import { rebuild } from '../../packages/triarch/src/kernel/rebuild.ts'
import { newState } from '../../packages/triarch/src/kernel/state.ts'
import { datedEvents } from '../../packages/triarch/src/scheduler/history.ts'
import type {
  Claim,
  ClaimRequest,
  HistoryRecord,
  Post,
  PostOutcome,
  QuarantineEntry,
} from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import { type Evidence, rewound, type Story } from '../../packages/triarch/test/crash/evidence.ts'
import type { Bounds as Limits, Plan } from './plan.ts'

/** What a task does itself. The engine counts more than that. */
const own: ReadonlySet<string> = new Set([
  ...['stepRequested', 'stepCompleted', 'stepFailed', 'timerStarted', 'timerFired', 'waitStarted', 'waitTimedOut'],
  ...['childStarted', 'childStopped', 'lockRequested', 'progressed', 'patched', 'undoRegistered'],
])

const MAIL = `
SELECT count(*) AS letters, coalesce(sum(octet_length(message)), 0) AS bytes FROM triarch_inbox
WHERE task = (SELECT key FROM triarch_tasks WHERE id = ?) AND message GLOB '{"type":"event"*'`
const RECORDS = `
SELECT seq, at, events FROM triarch_history WHERE task = (SELECT key FROM triarch_tasks WHERE id = ?) ORDER BY seq`
const SIZE = `
SELECT coalesce(sum(octet_length(events)), 0) AS bytes FROM triarch_history
WHERE task = (SELECT key FROM triarch_tasks WHERE id = ?)`

/** Watches that nothing becomes larger than it may be. Where nodes do not agree on how much that is, by the most generous. */
export class Bounds {
  readonly faults: string[] = []
  readonly #store: SharedStore
  readonly #most: Limits | null
  /** Of the node that allows the least. */
  readonly #memory: number

  constructor(store: SharedStore, { nodes }: Plan) {
    this.#store = store
    const all = nodes.flatMap(({ limits }) => limits ?? [])
    this.#memory = Math.min(...all.map(({ memory }) => memory))
    const most = (name: keyof Limits) => Math.max(...all.map((limits) => limits[name]))
    this.#most =
      all.length < nodes.length
        ? null
        : {
            history: most('history'),
            historyBytes: most('historyBytes'),
            inbox: most('inbox'),
            inboxBytes: most('inboxBytes'),
            fanOut: most('fanOut'),
            memory: most('memory'),
          }
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (name === 'claim') this.#claimed(args[0] as ClaimRequest, answer as Claim[])
    if (name === 'post') this.#posted(args[0] as Post[], answer as PostOutcome[])
  }

  /** Whether a task may be quarantined: there is not one node that has room for it. */
  explains({ id }: QuarantineEntry): boolean {
    return (this.#store.database.get<{ bytes: number }>(SIZE, id)?.bytes ?? 0) > this.#memory
  }

  /** One task may be larger than the answer; of several, all fit. */
  #claimed({ bytes }: ClaimRequest, claims: readonly Claim[]): void {
    const size = claims.reduce(
      (sum, { records }) => sum + records.reduce((all, { events }) => all + events.length, 0),
      0,
    )
    if (bytes !== undefined && claims.length > 1 && size > bytes)
      this.faults.push(`a claim of ${bytes} bytes was answered with ${claims.length} tasks of ${size}`)
  }

  /** One letter has room where there is none, and so has each that the task waits for. */
  #posted(posts: readonly Post[], outcomes: readonly PostOutcome[]): void {
    if (!this.#most) return
    for (const [index, { task, message }] of posts.entries()) {
      if (message.type !== 'event' || message.outside !== true || outcomes[index] === 'full') continue
      const { letters = 0, bytes = 0 } = this.#store.database.get<{ letters: number; bytes: number }>(MAIL, task) ?? {}
      const tight = letters > this.#most.inbox || (letters > 1 && bytes > this.#most.inboxBytes)
      const awaited = tight ? this.#awaited(task) : 0
      if (letters > this.#most.inbox + awaited) this.faults.push(`${letters} events wait for ${task}`)
      if (letters > 1 + awaited && bytes > this.#most.inboxBytes)
        this.faults.push(`events of ${bytes} bytes wait for ${task}`)
    }
  }

  /** How many events the task waits for at once, by its history. */
  #awaited(id: string): number {
    const records = this.#store.database.all<HistoryRecord>(RECORDS, id)
    return rebuild(id, datedEvents(records)).state.waits.size
  }

  judge({ tasks }: Evidence): string[] {
    const { history } = this.#most ?? {}
    if (history === undefined) return this.faults
    return [...this.faults, ...tasks.flatMap((story) => (rewound(story) ? [] : this.#outgrown(story)))]
  }

  /** The turn in which a task outgrows its bounds is its last but for what is undone. */
  #outgrown({ row, records }: Story): string[] {
    const { history, historyBytes, fanOut } = this.#most as Limits
    const state = newState(row.id)
    const faults: string[] = []
    let [count, bytes] = [0, 0]
    for (const { seq, at, events } of records) {
      const before = bytes
      for (const [index, event] of events.entries()) {
        apply(state, event, at, [])
        if (event.type === 'continuedAsNew') [count, bytes] = [0, 0]
        if (!own.has(event.type)) continue
        count++
        bytes += JSON.stringify(events[index]).length
      }
      if (state.status !== 'running' || state.closing) continue
      const open = [...state.steps.values()].filter(
        ({ status }) => status === 'running' || status === 'suspended',
      ).length
      if (count > history) faults.push(`${row.id} goes on in record ${seq}, with ${count} events of its own`)
      if (before > historyBytes && bytes > before)
        faults.push(`${row.id} goes on in record ${seq}, with ${bytes} bytes of its own`)
      if (open > fanOut) faults.push(`${row.id} goes on in record ${seq}, with ${open} steps at once`)
    }
    return faults
  }
}
