import type { ComponentChildren } from 'preact'
import { t } from '../shell/preference.ts'
import { type Deed, deed } from './asking.tsx'

/** A button for what an operator may do; who may not sees it, and cannot press it. */
export function Offer({
  of,
  may,
  isFirst = false,
  children,
}: {
  of: () => Deed
  may: boolean
  isFirst?: boolean
  children: ComponentChildren
}) {
  return (
    <button
      type="button"
      class={isFirst ? 'small primary' : 'small'}
      disabled={!may}
      onClick={() => {
        deed.value = of()
      }}
    >
      {children}
    </button>
  )
}

/** Which right is missing, where one is. */
export function Barred({ may, right }: { may: boolean; right: string }) {
  return may ? null : <p class="note">{t().habits.notRight(right)}</p>
}
