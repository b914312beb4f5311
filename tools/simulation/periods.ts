import { storedBreaker } from '../../packages/triarch/src/store/circuit.ts'
import type { BreakerWrite } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'

/** What services are called by while a breaker stands between them and the nodes. */
interface Period {
  lane: string
  /** When it opened, and when it let go what waited, in true time; until then, how many waves of probes there were. */
  from: number
  until: number
  waves: number
}

/** When breakers were open, as the store has it, and which attempts began meanwhile. */
export class Periods {
  readonly #world: World
  /** How long a node may take a breaker for closed that is not (ms). */
  readonly unaware: number
  readonly #periods: Period[] = []
  readonly #starts: { lane: string; at: number }[] = []
  /** Waves that there were before it opened. */
  readonly #before = new Map<string, number>()

  constructor(world: World, poll: number) {
    this.#world = world
    this.unaware = Math.max(1_000, 10 * Math.max(poll, 50))
  }

  /** An attempt began behind it. */
  start(lane: string): void {
    this.#starts.push({ lane, at: this.#world.now })
  }

  observe({ name, args }: Pick<LinkCall, 'name' | 'args'>, answer: unknown): void {
    if (name !== 'writeBreaker' || answer !== true) return
    const { kind, name: lane, state: text } = args[0] as BreakerWrite
    if (kind !== 'breaker') return
    const state = text === null ? null : storedBreaker(text)?.state
    const open = this.#periods.find((it) => it.lane === lane && it.until === Number.POSITIVE_INFINITY)
    if (state?.phase === 'open' && !open)
      this.#periods.push({ lane, from: this.#world.now, until: Number.POSITIVE_INFINITY, waves: 0 })
    if (open && state?.phase === 'half-open')
      open.waves = Math.max(open.waves, state.waves - (this.#before.get(lane) ?? 0))
    if (open && (state === null || state?.phase === 'releasing' || state?.phase === 'closed'))
      open.until = this.#world.now
    if (state && state.phase !== 'open' && state.phase !== 'half-open') this.#before.set(lane, state.waves)
  }

  /** Of each wave so many probes may begin. */
  faults(probes: number): string[] {
    return this.#periods.flatMap(({ lane, from, until, waves }) => {
      const within = this.#starts.filter(
        (start) => start.lane === lane && start.at > from + this.unaware && start.at < until,
      )
      const most = waves * probes
      if (within.length <= most) return []
      return [`${lane} was open from ${from} to ${until}: ${within.length} attempts began, its probes are ${most}`]
    })
  }
}
