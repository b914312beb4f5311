import { useState } from 'preact/hooks'
import { t } from '../shell/preference.ts'

export function Copy({ text }: { text: string }) {
  const [isDone, set] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    set(true)
    setTimeout(() => set(false), 1_500)
  }
  return (
    <button type="button" class="quiet small" onClick={() => void copy()}>
      {isDone ? t().copied : t().copy}
    </button>
  )
}
