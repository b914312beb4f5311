import { signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Api, get } from '../api/client.ts'
import { Combobox, type Option } from '../part/combobox.tsx'
import { Dialog } from '../part/dialog.tsx'
import { taskPath } from '../part/link.tsx'
import { quoted } from '../tasks/completion.ts'
import { views } from '../tasks/views.tsx'
import { isThere, pages } from './pages.ts'
import { go } from './place.ts'
import { t } from './preference.ts'

export const isPaletteOpen = signal(false)

interface PaletteEntry extends Option {
  take: () => void
}

/** Tasks are asked for when nobody has typed for so long (ms). */
const CALM = 150
const MOST_TASKS = 8

/** Everything by its name: pages, views, tasks by the beginning of their id, and what the page below offers as a button. */
export function Palette() {
  const [typed, type] = useState('')
  const [tasks, setTasks] = useState<readonly string[]>([])
  /** The tasks are those of what was typed. */
  const [isAsked, setAsked] = useState(false)
  const offered = useMemo(buttons, [])
  useEffect(() => {
    const end = new AbortController()
    const wanted = typed.trim()
    setAsked(false)
    const timer = setTimeout(() => {
      if (wanted === '') return setTasks([])
      const said = new URLSearchParams({ filter: `id:${quoted(wanted)}*`, limit: String(MOST_TASKS) })
      void get<Api['TaskPage']>(`/tasks?${said}`, end.signal)
        .then((page) => setTasks(page.tasks.map(({ id }) => id)))
        // What cannot be asked for is not offered; the page below says why.
        .catch(() => setTasks([]))
        .then(() => setAsked(!end.signal.aborted))
    }, CALM)
    return () => {
      clearTimeout(timer)
      end.abort()
    }
  }, [typed])
  const words = typed.toLowerCase().split(/\s+/)
  const entries: PaletteEntry[] = [
    ...pages.filter(isThere).map(({ name, path }) => ({
      ...{ key: path, label: t()[name] as string, kind: t().palette.page },
      take: () => go(path),
    })),
    ...views.value.map(({ name, search }) => ({
      ...{ key: `view ${name}`, label: name, kind: t().palette.view },
      take: () => go(`/tasks?${search}`),
    })),
    ...offered.map(({ label, press }) => ({ key: `do ${label}`, label, kind: t().palette.action, take: press })),
  ].filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
  const found = tasks.map((id) => ({
    ...{ key: `task ${id}`, label: id, kind: t().task },
    take: () => go(taskPath(id)),
  }))
  const close = () => {
    isPaletteOpen.value = false
  }
  return (
    <Dialog title={t().palette.title} onClose={close}>
      <Combobox
        label={t().palette.title}
        placeholder={t().palette.hint}
        value={typed}
        options={[...entries, ...found]}
        onType={type}
        onTake={({ take }) => {
          close()
          // The window is closed first: what is taken may open another one.
          setTimeout(take)
        }}
        isFirstChosen
        autofocus
        isAlwaysOpen
        none={isAsked ? t().palette.none(typed.trim()) : ''}
      />
    </Dialog>
  )
}

/** What can be pressed now, around and in the page; one of each name. Those in rows belong to their row. */
function buttons(): { label: string; press: () => void }[] {
  const all = [...document.querySelectorAll<HTMLButtonElement>('.tools button, main button')]
  const usable = all.filter((it) => !it.disabled && !it.closest('table, [role="tablist"]'))
  const named = usable.map((it) => [it.textContent?.trim() ?? '', it] as const).filter(([name]) => name !== '')
  return [...new Map(named.toReversed())].reverse().map(([label, it]) => ({ label, press: () => it.click() }))
}
