import type { ApiError } from '../api/client.ts'
import { t } from '../shell/preference.ts'

/** An answer that did not come: its code, what it means, and asking again. */
export function Failure({
  error,
  retry,
}: {
  error: Pick<ApiError, 'message'> & Partial<Pick<ApiError, 'code' | 'page'>>
  retry?: () => void
}) {
  return (
    <div class="failure" role="alert">
      <strong>{error.code}</strong> {error.message}
      <span class="buttons">
        {error.page?.startsWith('http') && (
          <a href={error.page} target="_blank" rel="noreferrer">
            {t().explained}
          </a>
        )}
        {retry && (
          <button type="button" onClick={retry}>
            {t().retryNow}
          </button>
        )}
      </span>
    </div>
  )
}
