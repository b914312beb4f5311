import { type Api, text } from '../api/client.ts'
import { type Difference, differences } from '../part/difference.ts'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { ask, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { Act } from './deeds.tsx'

type SettingChange = Api['SettingHistory']['changes'][number]

/** What was done to it, the last first; two of its versions side by side, chosen in the address; and the way back to one. */
export function Versions({
  of,
  changes,
  mayWrite,
  reload,
}: {
  of: Api['Setting']
  changes: readonly SettingChange[]
  mayWrite: boolean
  reload: () => void
}) {
  // Of each version the change that brought it.
  const values = new Map<number, unknown>()
  for (const { version, value } of changes)
    if (version !== undefined && value !== undefined && !values.has(version)) values.set(version, value)
  const known = [...values.keys()].sort((a, b) => b - a)
  const chosen = (name: string, otherwise: number | undefined) => {
    const said = Number(place.value.search.get(name))
    return values.has(said) ? said : otherwise
  }
  const to = chosen('to', known[0])
  const from = chosen(
    'from',
    known.find((it) => to !== undefined && it < to),
  )
  const columns: Column<SettingChange>[] = [
    { title: '#', cell: ({ revision }) => <span class="faint">{revision}</span>, isNumber: true },
    { title: t().setting.move, cell: ({ move }) => t().setting.moves[move] ?? move },
    { title: t().version, cell: ({ version }) => version ?? '–', isNumber: true },
    { title: t().at, cell: ({ at }) => <Time at={at} /> },
    { title: t().setting.by, cell: ({ actor }) => actor },
    { title: t().reason, cell: ({ reason }) => <span class="clip">{reason}</span> },
    {
      title: t().actions,
      cell: ({ version, value }) =>
        !of.trial && version !== undefined && value !== undefined && version !== of.live?.version ? (
          <Act act="rollback" of={of} mayWrite={mayWrite} reload={reload} to={version} />
        ) : null,
    },
  ]
  if (changes.length === 0) return <p class="note">{t().setting.neverChanged}</p>
  return (
    <>
      {known.length > 1 && (
        <>
          <p class="shortcuts">
            <Choice label={t().setting.from} name="from" value={from} of={known} />
            <Choice label={t().setting.to} name="to" value={to} of={known} />
          </p>
          <Differences
            before={from === undefined ? undefined : values.get(from)}
            after={to === undefined ? undefined : values.get(to)}
            label={t().setting.difference}
          />
        </>
      )}
      <div class="apart">
        <Table
          label={t().setting.versions}
          rows={changes}
          columns={columns}
          keyOf={({ revision }) => String(revision)}
        />
      </div>
    </>
  )
}

function Choice({
  label,
  name,
  value,
  of,
}: {
  label: string
  name: string
  value: number | undefined
  of: readonly number[]
}) {
  return (
    <label class="ways">
      {label}
      <select value={value ?? ''} onChange={({ currentTarget }) => ask(name, currentTarget.value)}>
        {value === undefined && <option value="">–</option>}
        {of.map((version) => (
          <option key={version} value={version}>
            {version}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Property by property: what it was, what it is. */
export function Differences({ before, after, label }: { before: unknown; after: unknown; label: string }) {
  const columns: Column<Difference>[] = [
    { title: t().setting.property, cell: ({ path }) => <code>{path || '*'}</code> },
    { title: t().setting.before, cell: ({ before }) => <Side of={before} as="del" /> },
    { title: t().setting.after, cell: ({ after }) => <Side of={after} as="ins" /> },
  ]
  const found = differences(before ?? {}, after ?? {})
  if (found.length === 0) return <p class="note">{t().setting.same}</p>
  return <Table label={label} rows={found} columns={columns} keyOf={({ path }) => path} />
}

function Side({ of, as: As }: { of: unknown; as: 'del' | 'ins' }) {
  return of === undefined ? (
    <span class="faint">–</span>
  ) : (
    <As>
      <code>{text(of)}</code>
    </As>
  )
}
