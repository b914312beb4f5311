import { useEffect, useState } from 'preact/hooks'
import { type Api, get } from '../api/client.ts'
import { isPaused } from '../api/live.ts'
import { ask } from '../shell/place.ts'
import { locale, t } from '../shell/preference.ts'
import { shownOf } from './own.ts'
import { outcomes, statuses } from './states.ts'

const chips = ['', ...statuses.map((it) => `status:${it}`), ...outcomes.slice(1).map((it) => `outcome:${it}`)]
/** They are counted up to here: more is "or more". */
const MOST = 1_000
/** Distance of two countings (ms). */
const PACE = 5_000

/** Tasks by state, with how many there are of each: one count after the other, so that they never crowd the server. */
export function Counts({ filter }: { filter: string }) {
  const [counts, set] = useState<Record<string, Api['Matching']>>({})
  useEffect(() => {
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const count = async () => {
      for (const chip of chips) {
        // Who does not look needs no figures.
        if (isPaused.value || document.hidden) break
        const said = new URLSearchParams({ filter: shownOf(chip), most: String(MOST) })
        const found = await get<Api['Matching']>(`/stats/tasks?${said}`, end.signal).catch(() => null)
        if (end.signal.aborted) return
        if (found) set((old) => (isSame(old[chip], found) ? old : { ...old, [chip]: found }))
      }
      timer = setTimeout(() => void count(), PACE)
    }
    void count()
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [])
  return (
    <p class="shortcuts">
      {chips.map((it) => (
        <button
          key={it}
          type="button"
          class={it === filter ? 'chip on' : 'chip'}
          aria-pressed={it === filter}
          onClick={() => ask('filter', it)}
        >
          {it === '' ? t().allOf : (t().states[it.split(':')[1] ?? ''] ?? it)}
          <span class="count">{said(counts[it])}</span>
        </button>
      ))}
    </p>
  )
}

function isSame(one: Api['Matching'] | undefined, other: Api['Matching']): boolean {
  return one?.count === other.count && one.truncated === other.truncated
}

function said(found: Api['Matching'] | undefined): string {
  return found ? ` ${found.count.toLocaleString(locale())}${found.truncated ? '+' : ''}` : ''
}
