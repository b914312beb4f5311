import { t } from '../shell/preference.ts'

/** Told apart by shape as well as by colour. */
export const shapes: Record<string, string> = {
  ...{ success: '✓', compensated: '↺', compensating: '↺', error: '✕', critical: '✕', cancelled: '⊘', skipped: '⤼' },
  ...{ running: '▶', paused: '❚❚', suspended: '❚❚', warning: '!', open: '○', closed: '●', ok: '✓', 'half-open': '◐' },
  ...{ trial: '◐', drift: '≠', unknown: '?', cached: '≈', operator: '✎', waiting: '◌', pending: '◌' },
  ...{ active: '✓', expired: '◷', revoked: '⊘' },
}

export function State({ of }: { of: string }) {
  return (
    <span class={`state ${of}`}>
      <span aria-hidden="true">{shapes[of] ?? '·'}</span> {t().states[of] ?? of}
    </span>
  )
}
