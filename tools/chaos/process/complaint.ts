// Where a process writes down what its engine complains of.
import type { Ledger } from '../../../packages/triarch/test/crash/ledger.ts'

export function complaint(ledger: Ledger, who: string, now: () => number): (error: unknown) => void {
  return (error) => {
    const { code, stack, cause } = error as Error & { code?: string }
    const place = { operation: '' as const, key: code ?? '', action: '', task: '', step: 0, attempt: 0 }
    ledger.write('error', place, now(), `${who}: ${stack ?? error}${cause ? `\ncause: ${cause}` : ''}`)
  }
}
