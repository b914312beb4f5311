import { signal } from '@preact/signals'
import { isPaused, liveness } from '../api/live.ts'
import { Dialog } from '../part/dialog.tsx'
import { ownKeys } from './own-keys.ts'
import { isThere, pages } from './pages.ts'
import { isPaletteOpen } from './palette.tsx'
import { go } from './place.ts'
import { singleKeys, t, theme } from './preference.ts'

export const isSheetOpen = signal(false)

let isGoing = false

/** Listens to the keyboard; gives what stops that. */
export function listen(): () => void {
  const heard = (event: KeyboardEvent) => {
    const { key, target } = event
    if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) {
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) isPaletteOpen.value = true
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    if (target instanceof HTMLElement && target.matches('input, textarea, select')) {
      if (key === 'Escape') target.blur()
      return
    }
    if (singleKeys.value === 'on' && take(key)) event.preventDefault()
  }
  addEventListener('keydown', heard)
  return () => removeEventListener('keydown', heard)
}

function take(key: string): boolean {
  if (isGoing) {
    isGoing = false
    const page = pages.find((one) => one.key === key && isThere(one))
    if (page) go(page.path)
    return page !== undefined
  }
  if (ownKeys.value?.(key)) return true
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  switch (key) {
    case 'g':
      isGoing = true
      return true
    case '?':
      isSheetOpen.value = true
      return true
    case '/':
      document.querySelector<HTMLElement>('[data-filter]')?.focus()
      return true
    case 'j':
      rows[Math.min(at + 1, rows.length - 1)]?.focus()
      return true
    case 'k':
      rows[Math.max(at - 1, 0)]?.focus()
      return true
    case 'r':
      isPaused.value = !isPaused.value
      liveness.value = isPaused.value ? 'paused' : 'live'
      return true
    case 't':
      theme.value = theme.value === 'dark' ? 'light' : 'dark'
      return true
    default:
      return false
  }
}

export function Sheet() {
  const absent = new Set(pages.filter((page) => !isThere(page)).map(({ key }) => `g ${key}`))
  const sheet = Object.entries(t().sheet).filter(([key]) => !absent.has(key))
  return (
    <Dialog
      title={t().keys}
      onClose={() => {
        isSheetOpen.value = false
      }}
    >
      <label>
        <input
          type="checkbox"
          checked={singleKeys.value === 'on'}
          onChange={({ currentTarget }) => {
            singleKeys.value = currentTarget.checked ? 'on' : 'off'
          }}
        />{' '}
        {t().habits.letters}
      </label>
      <dl class="sheet">
        {sheet.map(([key, does]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
