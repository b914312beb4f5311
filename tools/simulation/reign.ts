import type { Leadership, Triarch } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Plan } from './plan.ts'

/** How a leader works: it looks whether it still leads so often (ms). */
const WORK = 40

/** In true time: from when to when one process knew that it led. */
interface Span {
  name: string
  token: number
  machine: string
  from: number
  until: number
}

const LED = `
SELECT 1 FROM triarch_leases l JOIN triarch_nodes n ON n.id = l.holder AND n.dead = 0 WHERE l.name = 'leader:' || ? AND l.until > 0`

/** Processes that lead by names: when each of them did, and whether somebody does. */
export class Reign {
  readonly #world: World
  readonly #plan: NonNullable<Plan['reign']> | null
  readonly #spans: Span[] = []

  constructor(world: World, { reign }: Plan) {
    this.#world = world
    this.#plan = reign ?? null
  }

  /** The node stands for all names, and again when it has led. */
  stand(machine: Machine, triarch: Triarch): void {
    for (const name of this.#plan?.names ?? []) void this.#campaign(machine, triarch, name)
  }

  async #campaign(machine: Machine, triarch: Triarch, name: string): Promise<void> {
    const lead = () => triarch.leaders.lead(name, (leadership) => this.#rule(machine, name, leadership))
    // Until the node stops.
    while (machine.alive && (await lead().catch(() => undefined)) === true);
  }

  #rule(machine: Machine, name: string, { token, signal, holds }: Leadership): Promise<boolean> {
    const { lasts, lingers } = this.#plan ?? { lasts: null, lingers: 0 }
    const span: Span = { name, token, machine: machine.name, from: this.#world.now, until: this.#world.now }
    this.#spans.push(span)
    return new Promise((resolve) => {
      const work = () => {
        if (machine.alive && holds()) span.until = this.#world.now
        if (lasts !== null && this.#world.now - span.from >= lasts) return resolve(true)
        if (signal.aborted) return void machine.timer(lingers, () => resolve(true))
        machine.timer(WORK, work)
      }
      work()
    })
  }

  /** Names by which nobody leads who lives. */
  vacant({ database }: Pick<SharedStore, 'database'>): string[] {
    // Between two terms of the same name there is always a moment.
    if (this.#plan?.lasts != null) return []
    return (this.#plan?.names ?? []).filter((name) => database.get(LED, name) === undefined)
  }

  /** Two that led at once, and tokens that do not rise. */
  get faults(): string[] {
    const byName = [...Map.groupBy(this.#spans, ({ name }) => name).values()]
    return byName.flatMap((spans) => {
      const sorted = spans.toSorted((a, b) => a.from - b.from)
      return sorted.slice(1).flatMap((span, index) => {
        const before = sorted.slice(0, index + 1)
        const rival = before.find(({ until }) => span.from < until)
        const higher = before.find(({ token }) => token >= span.token)
        return [
          ...(rival
            ? [`${span.machine} led "${span.name}" from ${span.from} on, ${rival.machine} until ${rival.until}`]
            : []),
          ...(higher ? [`"${span.name}" has token ${span.token} after ${higher.token}`] : []),
        ]
      })
    })
  }
}
