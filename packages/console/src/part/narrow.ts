import { signal } from '@preact/signals'

const narrow = matchMedia('(max-width: 600px)')

/** The window has room for a few columns only; as in the style. */
export const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})
