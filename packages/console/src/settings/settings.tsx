import { type Api, text } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Setting } from '../api/types.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { First } from '../part/first.tsx'
import { Download } from '../part/json.tsx'
import { Link } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

const snippet = `export const limits = setting('payments.limits', schema, { amount: 10_000 })
new Triarch({ store, settings: [limits] })`

export function settingPath(name: string): string {
  return `/settings/${encodeURIComponent(name)}`
}

/** What all nodes share and can be changed while they run. */
export function Settings() {
  const settings = useQuery<Api['SettingPage']>('/settings?limit=200')
  const columns: Column<Setting>[] = [
    { title: t().name, cell: ({ name }) => <Link to={settingPath(name)}>{name}</Link> },
    { title: t().setting.counts, cell: ({ here, live }) => <Short of={here ? here.value : live?.value} /> },
    { title: t().setting.origin, cell: ({ here }) => (here ? t().setting.origins[here.origin] : '–') },
    { title: t().version, cell: ({ live }) => live?.version ?? '–', isNumber: true },
    { title: t().updated, cell: ({ live, trial }) => <Time at={trial?.at ?? live?.at} /> },
    { title: t().setting.by, cell: ({ live, trial }) => trial?.actor ?? live?.actor ?? '–' },
    { title: t().status, cell: (it) => <Standing of={it} /> },
  ]
  const { value, error, reload } = settings
  return (
    <>
      <div class="heading">
        <h1>{t().settings}</h1>
        <Download of={value && value.settings.length > 0 ? value.settings : null} name="settings" />
      </div>
      {error && <Failure error={error} retry={reload} />}
      {value?.settings.length === 0 && <Empty text={t().setting.none} snippet={snippet} />}
      {value && value.settings.length > 0 && (
        <Table
          label={t().settings}
          rows={value.settings}
          columns={columns}
          keyOf={({ name }) => name}
          to={({ name }) => settingPath(name)}
        />
      )}
      {value && <First of={value.settings} next={value.next} command="triarch setting list" />}
    </>
  )
}

/** On trial, or not the same everywhere, or all is as it should be. */
export function Standing({ of: { trial, drift } }: { of: Setting }) {
  return (
    <span class="ways">
      {trial && <State of="trial" />}
      {drift ? <State of="drift" /> : trial ? null : <State of="ok" />}
    </span>
  )
}

function Short({ of }: { of: unknown }) {
  return of === undefined ? <>–</> : <code class="clip">{text(of)}</code>
}
