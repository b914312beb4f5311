import type { CallInterference, LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Evidence } from '../../packages/triarch/test/crash/evidence.ts'
import type { Plan } from './plan.ts'

/** When the store takes no writes, while it serves reads, and how long a write waits before it is refused (ms). */
export interface RefusalPlan {
  /** `sqlite`: somebody has the write lock. `postgres`: somebody has a lock on the table of histories. */
  kind: 'sqlite' | 'postgres'
  patience: number
  spans: { at: number; ms: number }[]
  /** Nothing else goes wrong in this world: then nobody is taken for dead, and no attempt is lost. */
  alone: boolean
}

const histories = [
  'commit',
  'submit',
  'importTask',
  'quarantine',
  'terminate',
  'truncate',
  'prune',
  'writeSchedule',
] as const
const writes: Readonly<Record<RefusalPlan['kind'], ReadonlySet<LinkCall['name']>>> = {
  postgres: new Set(histories),
  sqlite: new Set<LinkCall['name']>([
    ...histories,
    ...([
      'post',
      'claim',
      'clearSuspicion',
      'releaseQuarantine',
      'takeWork',
      'adoptWork',
      'reply',
      'heartbeatWork',
      'heartbeat',
      'leave',
    ] as const),
    ...([
      'lead',
      'sweep',
      'declareDead',
      'elect',
      'resign',
      'tally',
      'recount',
      'dropSchedule',
      'writeBreaker',
    ] as const),
    ...([
      'writeLogs',
      'writeSetting',
      'writeAlert',
      'settleAlertPost',
      'writeAudit',
      'trimAudit',
      'trimCache',
    ] as const),
    ...(['writeCache', 'beginFill', 'endFill', 'invalidate', 'writeKey', 'useKeys', 'writeProbes'] as const),
  ]),
}

/** A store that refuses writes for a while, longer than any patience, or for less. */
export class Refusal {
  readonly #world: World
  readonly #plan: RefusalPlan | null

  /** Processes are asked to stop besides, and what they run may take longer than they have. */
  readonly #stops: boolean

  constructor(world: World, { refusal, outside }: Plan) {
    this.#world = world
    this.#plan = refusal ?? null
    this.#stops = outside === true
  }

  /** What becomes of a call that would go well otherwise. */
  fate({ name }: LinkCall, fate: CallInterference): CallInterference {
    if (!this.#plan || !writes[this.#plan.kind].has(name)) return fate
    const { patience, spans } = this.#plan
    const now = this.#world.elapsed
    const span = spans.find(({ at, ms }) => now >= at && now < at + ms)
    if (!span) return fate
    const left = span.at + span.ms - now
    // Who waits for the lock has it in no order.
    if (left <= patience) return { ...fate, there: fate.there + left + this.#world.below(20) }
    return { ...fate, there: fate.there + patience, fault: 'locked' }
  }

  /** Of attempts that were lost, and of nodes that were taken for dead, though all of them lived. */
  faults({ tasks, nodes }: Pick<Evidence, 'tasks' | 'nodes'>): string[] {
    if (!this.#plan?.alone || this.#stops) return []
    const dead = nodes.filter((node) => node.dead === 1).map(({ id }) => `node ${id} was taken for dead, and lived`)
    const lost = tasks.flatMap(({ row, records }) =>
      records
        .flatMap(({ events }) => events)
        .flatMap((event) =>
          event.type === 'attemptFailed' && event.error.code === 'STEP_LOST' && event.lost !== 'stop'
            ? [
                `${row.id}: an attempt of step ${event.id} is called lost, and its process lived: ${event.error.message}`,
              ]
            : [],
        ),
    )
    return [...dead, ...lost]
  }
}
