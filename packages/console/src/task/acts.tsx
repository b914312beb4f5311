import { useRight } from '../api/right.ts'
import { deed } from '../part/asking.tsx'
import { t } from '../shell/preference.ts'
import { type About, deedOf, type TaskAct } from './deeds.ts'

/** A button for each act; none can be pressed without the right, and each says which. */
export function Acts({
  acts,
  about,
  done,
  isFirst = false,
}: {
  acts: readonly TaskAct[]
  about: About
  done: () => void
  /** The first is what one is most likely to want. */
  isFirst?: boolean
}) {
  const may = useRight('control')
  return acts.map((act, index) => (
    <button
      key={act}
      type="button"
      class={isFirst && index === 0 ? 'primary' : undefined}
      disabled={!may}
      title={may ? undefined : t().one.needs('control')}
      onClick={() => {
        deed.value = deedOf(act, about, done)
      }}
    >
      {t().act[act]}
    </button>
  ))
}
