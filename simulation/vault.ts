import { SharedStore, type StoreCall } from '../packages/triarch/src/testing/shared.ts'

/** What users write in transactions of the store: outlives every node. */
const TABLE = `
CREATE TABLE world_effects (task TEXT NOT NULL, step INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL)`

/** The store of a world: others may stand between it and its calls. */
export class Vault extends SharedStore {
  /** Sees each call before it is carried out, and may throw in its place. */
  before: (call: StoreCall, args: readonly unknown[]) => void = () => undefined

  constructor() {
    super()
    this.database.exec(TABLE)
  }

  override reset(clock: { now(): number }): this {
    this.before = () => undefined
    if (this.database.connection.isTransaction) this.database.run('ROLLBACK')
    this.database.run('DELETE FROM world_effects')
    return super.reset(clock)
  }

  override perform(call: StoreCall, args: readonly unknown[]): unknown {
    this.before(call, args)
    return super.perform(call, args)
  }
}
