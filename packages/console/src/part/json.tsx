import { text } from '../api/client.ts'
import { t } from '../shell/preference.ts'
import { Copy } from './copy.tsx'

/** A value as it is, numbers to the last digit. */
export function Value({ of, label }: { of: unknown; label: string }) {
  if (of === undefined) return <span class="faint">–</span>
  const said = text(of, 2)
  return (
    <div class="value">
      <pre tabIndex={0} role="region" aria-label={label}>
        {said}
      </pre>
      <Copy text={said} />
    </div>
  )
}

/** Everything of a view as a file. */
export function Download({ of, name }: { of: unknown; name: string }) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([text(of, 2)], { type: 'application/json' }))
    const link = Object.assign(document.createElement('a'), { href: url, download: `${name}.json` })
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <button type="button" class="quiet small" onClick={save} disabled={of === null}>
      {t().download}
    </button>
  )
}
