// What the services' own ledgers say was done, in the words of the crash test's, so that one set of rules reads both.
import type { Effect, LedgerRows } from '../examples/orders/services/ledger.ts'
import type { Entry } from '../packages/triarch/test/crash/ledger.ts'

export interface Span {
  from: number
  until: number
}

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

function placeOf({ key, undoes }: Effect): Omit<Entry, 'kind' | 'action' | 'at' | 'pid' | 'zombie' | 'note'> {
  const [, task = '', step = ''] = /^(.*?):(\d+)/.exec(key) ?? []
  const operation = undoes === null ? 'run' : 'undo'
  return { operation, key: key.replace(/:undo$/, ''), task, step: Number(step), attempt: 0 }
}
