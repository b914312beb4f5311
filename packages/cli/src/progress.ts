import { every, now } from './environment.ts'
import { cell } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Nothing is shown of what is done sooner (ms). */
const PATIENCE = 1_000
/** How often it is drawn (ms). */
const PACE = 250
const BAR = 24

/** How far something is; `total` is null while nobody knows. */
export interface Measure {
  done: number
  total: number | null
}

/**
 * Shows people that something goes on, and how far it is, once it takes longer than a second: one line of the standard error, which is gone in the
 * end. Nothing where that is no terminal. `measure`: is asked again only after it has answered, and may fail.
 */
export async function during<T>(
  terminal: Pick<Terminal, 'err' | 'errWidth'>,
  label: string,
  work: Promise<T>,
  measure?: () => Promise<Measure | null>,
): Promise<T> {
  const { errWidth: width } = terminal
  if (width === null) return work
  const began = now()
  let last: Measure | null = null
  let isAsked = false
  let isShown = false
  const ask = async () => {
    isAsked = true
    last = (await measure?.().catch(() => null)) ?? last
    isAsked = false
  }
  const stop = every(PACE, () => {
    const passed = now() - began
    if (passed < PATIENCE) return
    if (measure && !isAsked) void ask()
    isShown = true
    terminal.err(`\r\u001b[2K${lineOf(label, last, passed, width - 1)}`)
  })
  try {
    return await work
  } finally {
    stop()
    if (isShown) terminal.err('\r\u001b[2K')
  }
}

/** What is shown: as much of it as fits. */
export function lineOf(label: string, measure: Measure | null, passed: number, width: number): string {
  const seconds = `${Math.floor(passed / 1_000)} s`
  const { done, total } = measure ?? { done: 0, total: null }
  if (!total) return cell([label, ...(done > 0 ? [done] : []), seconds].join(' ')).slice(0, width)
  const share = Math.min(1, done / total)
  const full = Math.round(share * BAR)
  const bar = `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}]`
  return cell(`${label} ${bar} ${Math.floor(share * 100)}% ${done}/${total} ${seconds}`).slice(0, width)
}
