import { afterEach, beforeEach, describe } from 'vitest'
import type { StateStore } from '../../src/store/port.ts'
import { alertSuite } from './alert.suite.ts'
import { auditSuite } from './audit.suite.ts'
import { breakerSuite } from './breaker.suite.ts'
import { cacheSuite } from './cache.suite.ts'
import { claimSuite } from './claim.suite.ts'
import { type HandClock, handClock } from './clock.ts'
import { commitSuite } from './commit.suite.ts'
import { filterSuite } from './filter.suite.ts'
import { gateSuite, sharedGateSuite } from './gate.suite.ts'
import { importSuite } from './import.suite.ts'
import { keySuite } from './key.suite.ts'
import { leaderSuite } from './leader.suite.ts'
import { legibleSuite } from './legible.suite.ts'
import { logSuite } from './log.suite.ts'
import { probeSuite } from './probe.suite.ts'
import { quarantineSuite } from './quarantine.suite.ts'
import { queueSuite } from './queue.suite.ts'
import { readSuite } from './read.suite.ts'
import { retentionSuite } from './retention.suite.ts'
import { scheduleSuite, sharedScheduleSuite } from './schedule.suite.ts'
import { seatSuite } from './seat.suite.ts'
import { secretSuite } from './secret.suite.ts'
import { settingSuite } from './setting.suite.ts'
import { shareSuite } from './share.suite.ts'
import { sharedSuite } from './shared.suite.ts'
import { statisticsSuite } from './statistics.suite.ts'
import { supervisionSuite } from './supervision.suite.ts'
import { transactionSuite } from './transaction.suite.ts'

/** One store to be examined, with its data: fresh for each test. */
export interface Subject {
  /** A store on the subject's data, not opened yet; each call gives another one on the same data. */
  store(clock: HandClock): StateStore
  /** Runs the body with `transaction` in a transaction of the user's own connection; rolls back when it throws. */
  transaction(body: (transaction: unknown) => Promise<void>): Promise<void>
  /** Runs SQL on what a transaction of the store gives, and answers the first column of the first row. */
  sql(tx: unknown, text: string): Promise<unknown>
  /** The store's own name for one of its tables, to put something wrong into it. */
  table(name: string): string
  /** Removes the data. */
  dispose(): Promise<void>
}

/** What a test gets; `store` is open. */
export interface Bench {
  store: StateStore
  clock: HandClock
  subject: Subject
  /** A second open store on the same data, closed after the test. */
  another(): Promise<StateStore>
}

/** What every store guarantees. `shared`: several stores can work on the same data. */
export function storeConformance(name: string, make: () => Promise<Subject>, { shared }: { shared: boolean }): void {
  describe(name, () => {
    const bench = {} as Bench
    const others: StateStore[] = []

    beforeEach(async () => {
      bench.clock = handClock()
      bench.subject = await make()
      bench.store = bench.subject.store(bench.clock)
      bench.another = async () => {
        const store = bench.subject.store(bench.clock)
        others.push(store)
        await store.open()
        return store
      }
      await bench.store.open()
    })

    afterEach(async () => {
      for (const store of [bench.store, ...others.splice(0)]) await store.close()
      await bench.subject.dispose()
    })

    commitSuite(bench)
    importSuite(bench)
    queueSuite(bench)
    shareSuite(bench)
    seatSuite(bench, { shared })
    breakerSuite(bench)
    auditSuite(bench)
    alertSuite(bench)
    keySuite(bench)
    secretSuite(bench)
    leaderSuite(bench)
    probeSuite(bench)
    statisticsSuite(bench)
    settingSuite(bench)
    cacheSuite(bench)
    claimSuite(bench)
    quarantineSuite(bench)
    legibleSuite(bench)
    supervisionSuite(bench)
    readSuite(bench)
    filterSuite(bench)
    transactionSuite(bench)
    gateSuite(bench)
    logSuite(bench)
    retentionSuite(bench, { shared })
    scheduleSuite(bench)
    if (shared) sharedSuite(bench)
    if (shared) sharedGateSuite(bench)
    if (shared) sharedScheduleSuite(bench)
  })
}
