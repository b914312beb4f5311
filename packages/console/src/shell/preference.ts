import { effect, signal } from '@preact/signals'
import { de } from '../text/de.ts'
import { en, type Texts } from '../text/en.ts'

/** What the user chose, kept in this browser. */
function kept<T extends string>(name: string, values: readonly T[], initial: T) {
  const found = localStorage.getItem(`triarch-${name}`) as T | null
  const it = signal<T>(found !== null && values.includes(found) ? found : initial)
  effect(() => localStorage.setItem(`triarch-${name}`, it.value))
  return it
}

export const theme = kept('theme', ['system', 'light', 'dark'], 'system')
export const zone = kept('zone', ['local', 'utc'], 'local')
export const moments = kept('moments', ['relative', 'absolute'], 'relative')
/** Whether keys of one letter do anything: who speaks to a computer may say them by chance. */
export const singleKeys = kept('letters', ['on', 'off'], 'on')
export const language = kept('language', ['en', 'de'], navigator.language.startsWith('de') ? 'de' : 'en')

/** How numbers and instants are written: as the browser's user does, where that is the language that was chosen. */
export function locale(): string {
  return navigator.languages.find((it) => it.startsWith(language.value)) ?? language.value
}

effect(() => {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset.theme
  else dataset.theme = theme.value
})
effect(() => {
  document.documentElement.lang = language.value
})

/** All texts, in the language that was chosen. */
export function t(): Texts {
  return language.value === 'de' ? de : en
}
