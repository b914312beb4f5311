import type { DatabaseSync } from 'node:sqlite'
import { Triarch } from 'triarch'
import { Transactions } from '../../packages/triarch/src/store/sqlite/transactions.ts'
import { SimulatedNetwork } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Act, Feature, Hands } from './feature.ts'

export interface StageOptions {
  feature: Feature
  store: SharedStore
  world: World
  /** Told after each call of the store that may have changed something. */
  wrote?: () => void
}

/** Nobody else is there: looking out for others now and then makes long sleeps cheap. */
const standing = { lease: '1d', sweep: '1h', poll: '1h', grace: 0, notices: false } as const
const writing: ReadonlySet<string> = new Set([
  ...[
    'commit',
    'submit',
    'post',
    'reply',
    'sweep',
    'leave',
    'declareDead',
    'writeSchedule',
    'quarantine',
    'terminate',
    'truncate',
  ],
])
const PATIENCE = 60_000
/** What tokens are signed by. */
const secret = { number: 1, secret: Buffer.alloc(32, 1).toString('base64url'), madeAt: 0, overlapsUntil: null }

/** One process after the other, on one store, in virtual time. */
export class Stage {
  readonly world: World
  readonly errors: unknown[] = []
  readonly #feature: Feature
  readonly #network: SimulatedNetwork
  readonly #store: SharedStore
  #machine: Machine
  triarch: Triarch

  constructor({ feature, store, world, wrote }: StageOptions) {
    this.world = world
    this.#feature = feature
    this.#store = store
    store.reset({ now: () => world.now })
    this.#network = new SimulatedNetwork(world, store, {
      observe: ({ name }) => {
        if (writing.has(name)) wrote?.()
      },
    })
    this.#machine = world.machine('node')
    this.triarch = this.#process(this.#machine)
  }

  #process(machine: Machine): Triarch {
    const { agents = [], workflows } = this.#feature
    return new Triarch({
      ...standing,
      agents,
      workflows,
      environment: machine,
      store: () => {
        const database = this.#store.database
        const transactions = new Transactions(machine, 0, () => database)
        return {
          ...this.#network.link(machine),
          // Always the same: the features have tokens in them that were handed out once.
          secrets: async () => [secret],
          transact: (effect, bounds, body) =>
            transactions.transact(effect, bounds, body as (tx: DatabaseSync) => string),
        }
      },
      onError: (error) => this.errors.push(error),
    })
  }

  start(): Promise<void> {
    return this.during(() => this.triarch.start())
  }

  /** The process dies, and another one is there. */
  async crash(): Promise<void> {
    this.#machine.crash()
    const { database } = this.#store
    // Its node is known to be dead: nobody waits for its lease to end.
    const nodes = database.all<{ id: string }>('SELECT id FROM triarch_nodes').map(({ id }) => id)
    this.#machine = this.world.machine('node')
    this.triarch = this.#process(this.#machine)
    this.#store.perform('declareDead', [nodes])
    await this.start()
  }

  /** What the act does, as far as it gets; the error that it met. */
  async act(act: Act): Promise<unknown> {
    let crashes = false
    const hands: Hands = {
      triarch: this.triarch,
      crash() {
        crashes = true
      },
    }
    try {
      await this.during(async () => act.do(hands))
      if (crashes) await this.crash()
      return undefined
    } catch (error) {
      return error
    }
  }

  /** Time passes until the work is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    let over = false
    const done = work().finally(() => {
      over = true
    })
    done.catch(() => undefined)
    await this.world.run(PATIENCE, () => over)
    if (!over) throw new Error(`${this.#feature.name}: nothing comes of it`)
    return done
  }

  /** What still runs reaches nobody any more. */
  leave(): void {
    this.#machine.crash()
  }
}
