import type { Campaign } from './campaign.ts'

/** What was run and covered, in lines. */
export function summary(campaign: Campaign, seconds: number): string {
  const { runs, repeated, failures, elapsed, calls, steps, fired, coverage } = campaign
  return [
    '',
    `${runs} runs in ${seconds.toFixed(1)} s (${(runs / seconds).toFixed(0)} a second), ${repeated} of them twice; ${failures.length} failed`,
    `virtual time: ${(elapsed / 3_600_000).toFixed(1)} h; ${calls} store calls, ${steps} events of the simulation`,
    `faults fired: ${counted(Object.entries(fired))}`,
    `states reached: ${counted(coverage.states)}`,
    `moves made: ${coverage.share} in the table of states; not made: ${coverage.missing.join(', ') || 'none'}`,
    `events in histories: ${counted(coverage.events)}`,
  ].join('\n')
}

function counted(counts: Iterable<readonly [string, number]>): string {
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([name, times]) => `${name} ${times}`).join(', ') || 'none'
}
