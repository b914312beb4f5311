import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Measure } from '../measure.ts'
import { oneStep, start } from '../subject.ts'

/** By the database's own count: what nodes that have nothing to do cost it. */
export const herd: Measure = {
  name: 'herd',
  about: 'transactions of 20 idle nodes, at rest and for each submitted task beyond those with one node',
  async run({ quick, place }) {
    // Sessions tell the server's statistics of their transactions at most once a second: by less, only the way is tried.
    const [crowd, told, rest, tasks] = quick ? [4, 50, 0.1, 5] : [20, 2_000, 30, 100]
    const measured = async (nodes: number) => {
      const url = await place(`herd${nodes}`)
      const all = await Promise.all(Array.from({ length: nodes }, () => start(url)))
      const counter = new pg.Client({ connectionString: url })
      await counter.connect()
      const count = async () => {
        await pause(told)
        const { rows } = await counter.query(
          'SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()',
        )
        return Number(rows[0]?.n)
      }
      const spent = async (work: () => Promise<unknown>) => {
        const [before, began] = [await count(), performance.now()]
        await work()
        const now = await count()
        return { transactions: now - before, seconds: (performance.now() - began) / 1_000 }
      }
      try {
        await all[0]?.engine.submit(oneStep, { n: 0 }).then((task) => task.result())
        if (!quick) await pause(10_000) // until they all look as seldom as they do in the long run
        const idle = await spent(() => pause(rest * 1_000))
        const busy = await spent(async () => {
          for (let n = 0; n < tasks; n++) await (await all[0]?.engine.submit(oneStep, { n }))?.result()
        })
        const resting = idle.transactions / idle.seconds
        return { resting, task: (busy.transactions - resting * busy.seconds) / tasks }
      } finally {
        await counter.end()
        await Promise.all(all.map((node) => node[Symbol.asyncDispose]()))
      }
    }
    const [alone, together] = [await measured(1), await measured(crowd)]
    const figure = { better: 'lower' as const }
    return [
      {
        ...figure,
        what: 'at rest',
        value: together.resting,
        unit: 'transactions/s',
        target: 10,
        note: `${crowd} nodes`,
      },
      {
        ...figure,
        what: 'a task',
        value: together.task - alone.task,
        unit: 'transactions',
        target: 6,
        note: `beyond ${alone.task.toFixed(1)} with one node`,
      },
    ]
  },
}
