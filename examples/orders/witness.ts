// Sees which process has which order, and which process dies with an order in its hands. It knows only what anybody can ask a
// Triarch: in which process a node lives, and which node has a task.
import type { TaskInfo, Triarch } from 'triarch'

/** A process of the fleet, as long as it lives: the next one of its name is another. */
export interface Process {
  name: string
  pid: number
}

/** From then on a node had the order, or so it was seen. */
export interface Ownership {
  order: string
  node: string
  at: number
}

/** A process was killed, and these orders were its own at that time. */
export interface Death extends Process {
  at: number
  orders: string[]
}

/** All that was seen, as it is kept beside the store. */
export interface Testimony {
  /** By the id of the node. */
  processes: Record<string, Process>
  ownerships: Ownership[]
  deaths: Death[]
}

export class Witness {
  readonly testimony: Testimony
  readonly #triarch: Triarch
  readonly #owners = new Map<string, string>()

  /** `processes`: by the ids of their nodes; more may come. */
  constructor(triarch: Triarch, processes: Record<string, Process>) {
    this.#triarch = triarch
    this.testimony = { processes, ownerships: [], deaths: [] }
  }

  /** Notes who has what. `tasks`: those that are active. */
  async look(tasks: readonly TaskInfo[]): Promise<void> {
    this.#note(tasks, Date.now())
    const { processes } = this.testimony
    // One that was taken for dead and was not goes on as another node, in the same process.
    for (const { id, place } of await this.#triarch.nodes.list()) {
      const known = Object.values(processes).find(({ pid }) => pid === place?.pid)
      if (known) processes[id] ??= known
    }
  }

  /** A process has just died. What the store says is its own was in its hands. `tasks`: asks for those that are active. */
  async died(dead: { name: string; pid: number | undefined }, tasks: () => Promise<TaskInfo[]>): Promise<void> {
    const { name, pid } = dead
    if (pid === undefined) return
    const death: Death = { name, pid, at: Date.now(), orders: [] }
    this.testimony.deaths.push(death)
    const isIts = (node: string | undefined) => node !== undefined && this.testimony.processes[node]?.pid === pid
    const own = (await tasks()).filter(({ lockedBy }) => isIts(lockedBy))
    this.#note(own, death.at)
    death.orders = own.map(({ id }) => id)
  }

  #note(tasks: readonly TaskInfo[], at: number): void {
    for (const { id, lockedBy } of tasks) {
      if (lockedBy === undefined || this.#owners.get(id) === lockedBy) continue
      this.#owners.set(id, lockedBy)
      this.testimony.ownerships.push({ order: id, node: lockedBy, at })
    }
  }
}
