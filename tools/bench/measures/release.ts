import { setTimeout as pause } from 'node:timers/promises'
import { agent, type TaskHandle, TransientError, type Workflow, workflow } from 'triarch'
import { Child } from '../child/process.ts'
import type { Ledger } from '../child/service.ts'
import { type Bench, type Figure, type Measure, timed } from '../measure.ts'
import { start } from '../subject.ts'

/** What one call takes (ms). */
const SERVICE = 20
const PROBES = 3
/** Calls that the process may have under way. */
const SLOTS = 500
const STEPS = 10_000
/** Longer than a refused step waits for its next attempt: else there are always some that wait for that, and not for the breaker. */
const OPEN = '2s'
/** Between two looks (ms). */
const LOOK = 20

/** Counted by the service, which is a process of its own: what it saw, not what the engine meant to do. */
export const release: Measure = {
  name: 'release',
  about: `${STEPS} steps of a service that is ill, and what it sees when it is well again; with a circuit breaker and without`,
  async run(bench) {
    const steps = bench.quick ? 100 : STEPS
    const [guarded, bare] = [await outage(bench, steps, true), await outage(bench, steps, false)]
    const calls = { unit: 'calls', better: 'lower' } as const
    const rush = { unit: '×', better: 'lower' } as const
    const told = (of: Outage) => `${of.ledger.waves.slice(0, 12).join(', ')}${of.ledger.waves.length > 12 ? ' …' : ''}`
    return [
      {
        what: `calls while ill, ${steps} waiting`,
        value: guarded.ledger.ill,
        ...calls,
        note: `in ${seconds(guarded.ill)}`,
      },
      { what: 'the same without breaker', value: bare.ledger.ill, ...calls, note: `in ${seconds(bare.ill)}` },
      {
        ...{ what: 'under way for each answered', value: guarded.ledger.rush, ...rush, target: 1 },
        note: `at most ${guarded.ledger.busiest}; waves of ${told(guarded)}`,
      },
      {
        ...{ what: 'the same without breaker', value: bare.ledger.rush, ...rush },
        note: `at most ${bare.ledger.busiest}; waves of ${told(bare)}`,
      },
      done('all done', guarded),
      done('the same without breaker', bare),
    ]
  },
}

interface Outage {
  ledger: Ledger
  /** How long the service was ill, and how long after that the last step was done (ms). */
  ill: number
  done: number
}

function done(what: string, { done: ms }: Outage): Figure {
  return { what, value: ms, unit: 'ms', better: 'lower', note: 'after it is well' }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

/** All wait for the service; then it is well. */
async function outage(bench: Bench, steps: number, guarded: boolean): Promise<Outage> {
  await using service = new Child('./service.ts', [SERVICE, PROBES])
  const url = `http://127.0.0.1:${await service.line()}`
  const name = guarded ? 'guarded' : 'bare'
  const payments = agent(`payments-${name}`, {
    concurrency: SLOTS,
    ...(guarded && { circuitBreaker: { minimum: 20, open: OPEN, openMax: OPEN, probes: PROBES } }),
  })
  const charge = payments.action('charge', {
    retry: { attempts: 1_000, backoff: { initial: '1s', max: '1s' } },
    async run() {
      const answer = await fetch(url)
      await answer.arrayBuffer()
      if (!answer.ok) throw new TransientError(`the service said ${answer.status}`)
      return null
    },
  })
  const order: Workflow<null, null> = workflow(`order-${name}`, { run: (_: null, task) => task.run(charge) })
  const more = { agents: [payments], workflows: [order], limits: { tasks: 2 * steps } }
  await using subject = await start(await bench.place(name), more)
  const { engine } = subject
  const ledger = async (): Promise<Ledger> => (await fetch(`${url}/ledger`)).json() as Promise<Ledger>
  const tasks: TaskHandle<null>[] = []
  const ill = await timed(async () => {
    for (let left = steps; left > 0; left -= 1_000) {
      const entries = Array.from({ length: Math.min(left, 1_000) }, () => ({ input: null }))
      for (const result of await engine.submitMany(order, entries)) {
        if (result.status === 'rejected') throw result.reason
        tasks.push(result.value)
      }
    }
    // All wait in the queue but for those that try the service, or each has been refused once.
    for (let before = -1; ; await pause(LOOK)) {
      const seen = guarded ? (await engine.breakers.get(payments.name).info()).waiting : (await ledger()).ill
      if (guarded ? seen >= steps - PROBES && seen === before : seen >= steps) break
      before = seen
    }
  })
  await fetch(`${url}/well`)
  const ms = await timed(() => Promise.all(tasks.map((task) => task.result())))
  return { ledger: await ledger(), ill, done: ms }
}
