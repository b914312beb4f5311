import type { Claim, ClaimRequest } from '../../packages/triarch/src/store/port.ts'
import type { StoreCall } from '../../packages/triarch/src/testing/shared.ts'
import type { Plan } from './plan.ts'
import type { Vault } from './vault.ts'

/** A task in the line of those that are ready, as its row has it. */
interface Senior {
  id: string
  key: number
  workflow: string
  version: string
  priority: number
  /** Where it stands among those of its priority, and since when it is as it is. */
  place: number
  since: number
  /** Whether what its operator wants waits: it has another line. */
  control: number
}

const COLUMNS = 'id, key, workflow, version, priority, coalesce(readied, key) AS place, updated_at AS since, control'
const LEFT = `SELECT ${COLUMNS} FROM triarch_tasks WHERE ready = 1 AND suspicion < 2 ORDER BY place`
const TAKEN = `SELECT ${COLUMNS} FROM triarch_tasks WHERE id = ?`

/** Tasks that age while they wait for a node: who was taken, and who was left. */
export class Seniority {
  readonly faults: string[] = []
  readonly #store: Vault
  readonly #ageing: number

  constructor(store: Vault, { ageing = 0 }: Plan) {
    this.#store = store
    this.#ageing = ageing
    if (ageing > 0) store.after = (call, args, answer) => this.#see(call, args, answer)
  }

  #see(call: StoreCall, args: readonly unknown[], answer: unknown): void {
    if (call !== 'claim') return
    const { runnable, except = [] } = args[0] as ClaimRequest
    const claims = answer as readonly Claim[]
    // Suspects go by themselves, whatever their age.
    if (claims.length === 0 || claims.some(({ trial }) => trial)) return
    const { database } = this.#store
    const taken = claims.flatMap(({ id }) => database.get<Senior>(TAKEN, id) ?? [])
    const least = Math.min(...taken.map((one) => this.#rank(one, one.since)))
    const heads = new Map<string, number>()
    for (const one of [...taken, ...database.all<Senior>(LEFT)].sort((a, b) => a.place - b.place)) {
      const { workflow, version, priority } = one
      const level = JSON.stringify([workflow, version, priority])
      // Nobody is older than who stands before it.
      const since = Math.max(one.since, heads.get(level) ?? 0)
      heads.set(level, since)
      if (one.control === 1 || taken.some(({ key }) => key === one.key) || except.includes(one.key)) continue
      if (!runnable.some((it) => it.workflow === workflow && it.version === version)) continue
      const late = this.#rank(one, since) - least
      if (late > 0) this.faults.push(`task ${one.id} was passed by one that should come ${late} ms later`)
    }
  }

  #rank({ priority }: Senior, since: number): number {
    return priority * this.#ageing - since
  }
}
