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
  const from = place.value.path
  if (replace) history.replaceState(null, '', urlOf(to))
  else history.pushState(null, '', urlOf(to))
  place.value = here()
  // The way back leads to where one was on a page; another page is read from its beginning.
  if (place.value.path !== from) scrollTo(0, 0)
}

/**
 * The same place with another value; null: without. It is a place of its own, to which the way back leads; `replace`: one of many on the
 * way to it, such as those of a slider.
 */
export function ask(name: string, value: string | null, options?: { replace?: boolean }): void {
  askAll({ [name]: value }, options)
}

/** Several at once: one step on the way back. */
export function askAll(values: Readonly<Record<string, string | null>>, options?: { replace?: boolean }): void {
  const search = new URLSearchParams(place.value.search)
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === '') search.delete(name)
    else search.set(name, value)
  }
  const said = search.toString()
  if (said !== place.value.search.toString()) go(place.value.path + (said === '' ? '' : `?${said}`), options)
}

/** What is named by the last part of a path, such as a task by its id; as it was typed, where that is no name that was encoded. */
export function nameIn(path: string): string {
  const name = path.slice(path.indexOf('/', 1) + 1)
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
