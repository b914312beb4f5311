import { useState } from 'preact/hooks'
import { t } from '../shell/preference.ts'

export function Copy({ text }: { text: string }) {
  const [said, say] = useState<'copied' | 'notCopied' | null>(null)
  const copy = async () => {
    try {
      // There is none where the page did not come over HTTPS, nor from this machine.
      await navigator.clipboard.writeText(text)
      say('copied')
    } catch {
      say('notCopied')
    }
    setTimeout(() => say(null), 1_500)
  }
  return (
    <button type="button" class="quiet small" onClick={() => void copy()}>
      {t()[said ?? 'copy']}
    </button>
  )
}
