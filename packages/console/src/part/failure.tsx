import type { ApiError } from '../api/client.ts'
import { t } from '../shell/preference.ts'
import { Said } from './said.tsx'

/** An answer that did not come: its code, what it means, and asking again. */
export function Failure({
  error,
  retry,
}: {
  error: Pick<ApiError, 'message'> & Partial<Pick<ApiError, 'code' | 'page' | 'status'>>
  retry?: () => void
}) {
  return (
    <div class="failure" role="alert">
      <strong>{error.code}</strong>{' '}
      <Said code={error.code} message={error.message} isOurs={error.status === 0 && error.code !== 'UNREACHABLE'} />
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
