import type { AlertNotification, Triarch, TriarchOptions } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Plan } from './plan.ts'

/** How patient the rule is with what is gone (ms), and how often it looks. */
const KEEP = 300
const EVERY = 150
/** What lasts as long must be found, whoever dies meanwhile (ms). */
const LONG = 3_000

const OPEN = 'SELECT name FROM triarch_alerts WHERE open = 1'
const UNTOLD = 'SELECT id FROM triarch_alert_posts'

/** Something outside is ill now and then, all nodes look at it, and one desk is told: what it hears, and what it is owed. */
export class Alarm {
  readonly #world: World
  readonly #plan: NonNullable<Plan['alarm']> | null
  readonly #goesBack: boolean
  readonly #told: AlertNotification[] = []
  readonly #faults: string[] = []
  /** In true time. */
  #began: number

  constructor(world: World, { alarm, loss }: Plan) {
    this.#world = world
    this.#goesBack = loss !== undefined
    this.#plan = alarm ?? null
    this.#began = world.now
  }

  /** What a node watches. */
  options(): Partial<TriarchOptions> {
    if (!this.#plan) return {}
    const [desk, off] = [(said: AlertNotification) => void this.#told.push(said), false as const]
    const quiet = { stuck: off, 'failure-rate': off, 'queue-age': off, 'no-agent': off, 'missed-schedule': off }
    const rest = { 'undo-failed': off, quarantine: off, flapping: off, 'breaker-open': off, 'probe-down': off }
    return {
      health: { cache: 0, checks: { weather: () => !this.#isIll(this.#world.now) } },
      alerts: {
        every: EVERY,
        rules: { ...quiet, ...rest, check: { for: 0, keep: KEEP, repeat: false } },
        sinks: [{ name: 'desk', send: desk }],
      },
    }
  }

  /** The log of a node is there though nobody listens. Of a store that never went back no node may say that it did. */
  listen(machine: Machine, triarch: Triarch): void {
    triarch.on('alert', ({ code, task, message }) => {
      if (code === 'LOST_TAIL' && !this.#goesBack) this.#faults.push(`${machine.name} says of ${task}: ${message}`)
    })
  }

  /** Alerts that are not over, and what nobody was told yet. */
  owed({ database }: Pick<SharedStore, 'database'>): string[] {
    if (!this.#plan) return []
    if (this.#plan.ills.some(({ at, ms }) => this.#world.now < this.#began + at + ms)) return ['the weather']
    const [open, untold] = [database.all<{ name: string }>(OPEN), database.all<{ id: string }>(UNTOLD)]
    return [...open.map(({ name }) => name), ...untold.map(({ id }) => `what is told by ${id}`)]
  }

  /** Each opening is told of once, and of its end; of none that there was no cause for, and no cause is passed over. */
  get faults(): string[] {
    const openings = Map.groupBy(this.#told, ({ opening }) => opening)
    const found = [...openings].flatMap(([opening, all]) => {
      // Told again after a crash it has the id that it had.
      const ids = (news: string) => new Set(all.filter((said) => said.news === news).map(({ id }) => id)).size
      const [raised, ended] = [ids('raised'), ids('ended')]
      const since = all[0]?.since.getTime() ?? 0
      return [
        ...(raised === 1 ? [] : [`opening ${opening} was told ${raised} times`]),
        ...(ended === 1 ? [] : [`the end of opening ${opening} was told ${ended} times`]),
        ...(all[0]?.news === 'raised' ? [] : [`opening ${opening} was told by its end first`]),
        ...(this.#isIll(since) ? [] : [`opening ${opening} had no cause at ${since}`]),
      ]
    })
    const since = this.#told.map((said) => said.since.getTime() - this.#began)
    const lost = (this.#plan?.ills ?? []).filter(
      ({ at, ms }) => ms >= LONG && !since.some((one) => one >= at && one < at + ms + KEEP),
    )
    return [...this.#faults, ...found, ...lost.map(({ at }) => `nobody was told of what was ill from ${at} on`)]
  }

  #isIll(now: number): boolean {
    const passed = now - this.#began
    return (this.#plan?.ills ?? []).some(({ at, ms }) => passed >= at && passed < at + ms)
  }
}
