import { post, put } from '../api/client.ts'
import type { Setting } from '../api/types.ts'
import { type Deed, deed } from '../part/asking.tsx'
import { t } from '../shell/preference.ts'

export type SettingAct = 'set' | 'stage' | 'clear' | 'advance' | 'everywhere' | 'rollback'

/** Tried on a tenth of the nodes for ten minutes, then everywhere. */
const STAGES = [{ share: 0.1, lasts: '10m' }]

/**
 * What can be done to a setting. It names the revision that one saw: who was slower is told, and overwrites nothing. `to`: the version to
 * go back to.
 */
export function deedOf(act: SettingAct, of: Setting, reload: () => void, to?: number): Deed {
  const path = `/settings/${encodeURIComponent(of.name)}`
  const base = { title: t().setting.act[act], will: t().setting.will[act], isReasonNeeded: true }
  const seen = of.revision > 0 ? { expected: of.revision } : {}
  const sent = (name: string, more: object = {}) => ({
    ...base,
    act: async ({ reason }: Record<string, unknown>) => {
      await post(`${path}/${name}`, { reason, ...seen, ...more })
      reload()
    },
  })
  switch (act) {
    case 'advance':
      return sent('advance')
    case 'everywhere':
      return sent('advance', { all: true })
    case 'rollback':
      return {
        ...sent('rollback', to === undefined ? {} : { to }),
        ...(to !== undefined && { title: t().setting.backTo(to) }),
        isRisky: true,
      }
    case 'clear':
      return { ...sent('clear'), isRisky: true }
    case 'set':
    case 'stage': {
      const value = { name: 'value', label: t().value, json: true, initial: of.live?.value ?? of.here?.value ?? {} }
      const stages = { name: 'stages', label: t().setting.stages, json: true, initial: STAGES }
      const guards = { name: 'guards', label: t().setting.guards, json: true, initial: [] }
      const fields = act === 'set' ? [value] : [value, stages, guards]
      const initial = Object.fromEntries(fields.map((field) => [field.name, field.initial]))
      return {
        ...base,
        fields,
        act: async (given) => {
          await put(path, { ...initial, ...given, ...seen })
          reload()
        },
      }
    }
  }
}

/** A button for one of them; without the right it says which is missing. */
export function Act({
  act,
  of,
  mayWrite,
  reload,
  to,
}: {
  act: SettingAct
  of: Setting
  mayWrite: boolean
  reload: () => void
  to?: number
}) {
  return (
    <button
      type="button"
      class={to === undefined ? undefined : 'small'}
      disabled={!mayWrite}
      title={mayWrite ? undefined : t().setting.noRight('settings:write')}
      onClick={() => {
        deed.value = deedOf(act, of, reload, to)
      }}
    >
      {to === undefined ? t().setting.act[act] : t().setting.backTo(to)}
    </button>
  )
}

export function Buttons({ of, mayWrite, reload }: { of: Setting; mayWrite: boolean; reload: () => void }) {
  // While something is on trial, it goes on or is taken back first. What this server does not know it cannot check.
  if (of.trial || !of.here) return null
  const acts: SettingAct[] = ['set', 'stage', ...(of.live ? (['rollback', 'clear'] as const) : [])]
  return (
    <p class="shortcuts">
      {acts.map((act) => (
        <Act key={act} act={act} of={of} mayWrite={mayWrite} reload={reload} />
      ))}
    </p>
  )
}
