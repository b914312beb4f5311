// What the services' own ledgers say was done, in the words of the crash test's, so that one set of rules reads both.
import type { Effect, LedgerRows } from '../../examples/orders/services/ledger.ts'
import type { Story } from '../../packages/triarch/test/crash/evidence.ts'
import type { Entry } from '../../packages/triarch/test/crash/ledger.ts'
import { settings } from './settings.ts'

/** How many attempts these entries tell of that an owner gave to another process, and not to the queue: its history says so. */
export function givenAway(tasks: readonly Story[], entries: readonly Entry[]): number {
  const given = new Set<string>()
  for (const { row, records } of tasks) {
    // What is given of these later may be another operation, which counts its attempts anew.
    const others = new Set<number>()
    for (const event of records.flatMap(({ events }) => events)) {
      if (event.type === 'undoRequested' || event.type === 'verifyRequested') others.add(event.id)
      if (event.type === 'heartbeat' && event.given !== undefined && !others.has(event.id))
        given.add(`${row.id} ${event.id} ${event.attempt}`)
    }
  }
  const began = entries.filter(({ kind, operation }) => kind === 'call' && operation === 'run')
  return began.filter(({ task, step, attempt }) => given.has(`${task} ${step} ${attempt}`)).length
}

export interface Span {
  from: number
  until: number
}

/** A clock that was set forward, for good. */
export interface Step extends Span {
  /** By how much (ms). */
  by: number
}

/**
 * What was seen at a true time, by the store's clock. What was seen while that was being set is taken for later: a witness may lag
 * behind the store, and never be ahead of it.
 */
export function storeTime(at: number, steps: readonly Step[]): number {
  return steps.reduce((sum, { from, by }) => (at >= from ? sum + by : sum), at)
}

/**
 * What was seen, dated by the store's clock. Nodes hear of a clock that was set with their next answers: until then they date as
 * before, and whatever is seen is pardoned.
 */
export function datedByStore(entries: readonly Entry[], steps: readonly Step[]): Entry[] {
  const doubtful = (at: number) => steps.some(({ from, until }) => at >= from - HEARD && at <= until + HEARD)
  return entries.map((entry) => ({
    ...entry,
    at: storeTime(entry.at, steps),
    zombie: entry.zombie || doubtful(entry.at),
  }))
}

/** The true time of what the store dated. */
export function trueTime(at: number, steps: readonly Step[]): number {
  return steps.reduce((left, { until, by }) => (left >= until + by ? left - by : Math.min(left, until)), at)
}

/** When every node has heard of a new time (ms): they renew their leases more often, and a busy machine holds them up. */
const HEARD = 2 * settings.lease

/** How long after a standstill a process may still do what it was about to do before (ms). */
const AFTERMATH = 400

/** `frozen`: when agents stood still. Which of them asked is not written in the ledgers, so it pardons all of them. */
export function entriesOf(ledgers: readonly LedgerRows[], frozen: readonly Span[]): Entry[] {
  return ledgers.flatMap(({ service, effects }) =>
    effects.map((effect) => {
      const { at, undoes } = effect
      const zombie = frozen.some(({ from, until }) => at >= from && at <= until + AFTERMATH)
      const kind = undoes === null ? 'effect' : 'undo'
      return { kind, ...placeOf(effect), action: `orders.${service}`, at, pid: 0, zombie, note: '' } as const
    }),
  )
}

/** A key names the task with its incarnation, which the id of a child has in it: `order-1~mx0w7pt1:2`, `parent-1~mx0w7pt1~3:2`. */
function placeOf({ key, undoes }: Effect): Omit<Entry, 'kind' | 'action' | 'at' | 'pid' | 'zombie' | 'note'> {
  const [, task = '', step = ''] = /^(.*?)(?:~[a-z]\w*)?:(\d+)/.exec(key) ?? []
  const operation = undoes === null ? 'run' : 'undo'
  return { operation, key: key.replace(/:undo$/, ''), task, step: Number(step), attempt: 0 }
}
