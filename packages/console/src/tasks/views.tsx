import { effect, signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { Link } from '../part/link.tsx'
import { place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'

/** A filter with its columns, under a name. */
export interface SavedView {
  name: string
  /** Of the address: whoever has it sees the same. */
  search: string
}

const KEY = 'triarch-views'
const MOST = 50

function kept(): SavedView[] {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '[]') as unknown
    return Array.isArray(found)
      ? found.filter((it: SavedView) => typeof it?.name === 'string' && typeof it.search === 'string').slice(0, MOST)
      : []
  } catch {
    return []
  }
}

/** Kept in this browser. */
export const views = signal<readonly SavedView[]>(kept())
effect(() => localStorage.setItem(KEY, JSON.stringify(views.value)))
// Another window of this browser saved or forgot one.
addEventListener('storage', ({ key }) => {
  if (key === KEY) views.value = kept()
})

/** The views that were saved, and a way to save this one. */
export function Views() {
  const [name, set] = useState('')
  const here = place.value.search.toString()
  const saved = views.value.find(({ search }) => search === here)
  return (
    <div class="shortcuts">
      {views.value.map((view) => (
        <Link key={view.name} to={`/tasks?${view.search}`} class={view === saved ? 'chip view on' : 'chip view'}>
          {view.name}
        </Link>
      ))}
      {saved ? (
        <button
          type="button"
          class="quiet small"
          onClick={() => {
            views.value = views.value.filter((it) => it !== saved)
          }}
        >
          {t().views.forget(saved.name)}
        </button>
      ) : (
        here !== '' &&
        views.value.length < MOST && (
          <form
            class="ways"
            onSubmit={(event) => {
              event.preventDefault()
              const said = name.trim()
              if (said === '') return
              views.value = [...views.value.filter((it) => it.name !== said), { name: said, search: here }]
              set('')
            }}
          >
            <input
              class="short"
              aria-label={t().views.name}
              placeholder={t().views.name}
              maxLength={60}
              value={name}
              onInput={({ currentTarget }) => set(currentTarget.value)}
            />
            <button type="submit" class="small" disabled={name.trim() === ''}>
              {t().views.save}
            </button>
          </form>
        )
      )}
    </div>
  )
}
