import { signal } from '@preact/signals'

/** Where we are: the path below the base, and what is asked for there. All that a page shows is said by it. */
export interface Place {
  path: string
  search: URLSearchParams
}

const base = new URL(document.baseURI).pathname.replace(/\/$/, '')

function here(): Place {
  const { pathname, search } = location
  return { path: pathname.slice(base.length) || '/', search: new URLSearchParams(search) }
}

export const place = signal(here())

addEventListener('popstate', () => {
  place.value = here()
})

export function urlOf(to: string): string {
  return base + to
}

export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', urlOf(to))
  else history.pushState(null, '', urlOf(to))
  place.value = here()
}

/** The same place with another value; null: without. */
export function ask(name: string, value: string | null): void {
  const search = new URLSearchParams(place.value.search)
  if (value === null || value === '') search.delete(name)
  else search.set(name, value)
  const said = search.toString()
  go(place.value.path + (said === '' ? '' : `?${said}`), { replace: true })
}
