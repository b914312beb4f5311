import { PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const ledger = workflow('ledger', {
  async run(amount: number, task) {
    if (task.patched('rounded')) task.progress('new')
    const balance = await task.transaction('book', () => amount * 2, { undo: () => undefined })
    if (amount < 0) throw new PermanentError('overdrawn')
    return balance
  },
})

/** Transactions on the store's own database, taken back as well, and a patch of running code. */
export const transactions: Feature = {
  name: 'transaction',
  workflows: [ledger],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(ledger, 21, { id: 'booked' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(ledger, -1, { id: 'taken-back' }) },
  ],
}
