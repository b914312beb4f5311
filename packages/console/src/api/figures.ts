import { signal } from '@preact/signals'
import type { Api } from './client.ts'
import { isPaused } from './live.ts'
import { type Query, useQuery } from './query.ts'

export type Figures = Api['Figures']
export type FiguresRow = Figures['rows'][number]
export type FiguresColumn = 'hour' | 'kind' | 'workflow' | 'agent' | 'action' | 'outcome' | 'error' | 'tag'

/** What was counted moves with the supervisor's sweeps: it is asked for again no more often than this (ms). */
const PACE = 15_000
export const HOUR = 3_600_000

const beat = signal(0)
setInterval(() => {
  if (!isPaused.value) beat.value++
}, PACE)

/** Figures of the last hours, told apart by columns; of those alone that have what is `chosen`. */
export function useFigures(
  by: readonly FiguresColumn[],
  hours: number,
  chosen: Partial<Record<FiguresColumn, string | null>> = {},
): Query<Figures> {
  const asked = new URLSearchParams(by.map((it) => ['by', it]))
  for (const [name, value] of Object.entries(chosen)) if (value !== null && value !== undefined) asked.set(name, value)
  asked.set('from', new Date(firstHour(hours)).toISOString())
  return useQuery<Figures>(`/statistics?${asked}`, null, { once: true, since: beat.value })
}

/** The beginning of the first of so many hours, of which this one is the last (ms since the epoch). */
export function firstHour(hours: number): number {
  const now = Date.now()
  return now - (now % HOUR) - (hours - 1) * HOUR
}
