import type { Growing } from '../api/growing.ts'
import { language, t } from '../shell/preference.ts'
import { Failure } from './failure.tsx'

/** Below what was read in parts: how much is shown, and that there is more. */
export function More<T>({ of, name }: { of: Growing<T>; name: string }) {
  const { rows, isWhole, error, more, reload } = of
  if (error) return <Failure error={error} retry={reload} />
  return (
    <p class="buttons">
      <span class="note" role="status">
        {isWhole
          ? t().one.all(rows.length.toLocaleString(language.value), name)
          : t().one.first(rows.length.toLocaleString(language.value), name)}
      </span>
      {!isWhole && (
        <button type="button" onClick={more}>
          {t().more}
        </button>
      )}
    </p>
  )
}
