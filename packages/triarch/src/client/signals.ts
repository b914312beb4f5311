import type { Triarch } from './triarch.ts'

/**
 * Stops the process gracefully on signals. The first signal drains (no new work, running steps get their grace, leases are handed back);
 * a second one exits at once. Nothing is lost either way; the exit code is 0.
 * @example
 * await triarch.start()
 * stopOnSignals(triarch)
 */
export function stopOnSignals(triarch: Triarch, signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']): void {
  let asked = false
  const end = async () => {
    if (!asked) {
      asked = true
      await triarch.stop()
    }
    process.exit(0)
  }
  for (const signal of signals) process.on(signal, () => void end())
}
