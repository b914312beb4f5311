import { type Api, text } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import { useRight } from '../api/right.ts'
import type { Setting } from '../api/types.ts'
import { Copy } from '../part/copy.tsx'
import { Failure } from '../part/failure.tsx'
import { Download, Value } from '../part/json.tsx'
import { Link } from '../part/link.tsx'
import { State } from '../part/state.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { nameIn, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'
import { Buttons } from './deeds.tsx'
import { Standing } from './settings.tsx'
import { Trial } from './trial.tsx'
import { Versions } from './versions.tsx'

type SettingNode = Setting['nodes'][number]

/** One setting: what counts and where that comes from, what is on trial, who runs what, what was done to it. */
export function SettingPage() {
  const name = nameIn(place.value.path)
  const path = `/settings/${encodeURIComponent(name)}`
  const setting = useQuery<Setting>(path)
  // Asked for again when something was done to it.
  const history = useQuery<Api['SettingHistory']>(setting.value && `${path}/history?limit=100`, null, {
    once: true,
    since: setting.value?.revision ?? 0,
  })
  const mayWrite = useRight('settings:write')
  if (!setting.value)
    return setting.error ? <Failure error={setting.error} retry={setting.reload} /> : <p>{t().loading}…</p>
  const it = setting.value
  const changes = history.value?.changes ?? []
  return (
    <>
      <div class="heading">
        <div>
          <p class="crumbs">
            <Link to="/settings">{t().settings}</Link>
          </p>
          <h1>{name}</h1>
        </div>
        <span class="ways">
          <Standing of={it} />
          <Copy text={name} />
          <Download of={it} name={name} />
        </span>
      </div>
      {setting.error && <Failure error={setting.error} retry={setting.reload} />}
      {!mayWrite && <p class="note">{t().setting.noRight('settings:write')}</p>}
      <Buttons of={it} mayWrite={mayWrite} reload={setting.reload} />
      {it.trial && <Trial of={it} mayWrite={mayWrite} reload={setting.reload} />}
      <Counts of={it} />
      <h2>{t().nodes}</h2>
      <Nodes of={it} />
      <h2>{t().setting.versions}</h2>
      {history.error && <Failure error={history.error} retry={history.reload} />}
      <Versions of={it} changes={changes} mayWrite={mayWrite} reload={setting.reload} />
      {history.value?.next !== undefined && (
        <p class="note">{t().habits.firstOnly(changes.length, 'triarch setting history')}</p>
      )}
    </>
  )
}

interface Property {
  name: string
  value: unknown
  origin: string
  /** What each layer says of it, by the layer; those that say nothing are left out. */
  said: Readonly<Record<string, unknown>>
}

/** What this server makes of it, property by property, beside what the store says. */
function Counts({ of: { here, live } }: { of: Setting }) {
  const columns: Column<Property>[] = [
    { title: t().setting.property, cell: ({ name }) => <code>{name}</code> },
    { title: t().setting.counts, cell: ({ value }) => <code class="clip wide">{text(value)}</code> },
    { title: t().setting.origin, cell: ({ origin }) => t().setting.origins[origin] ?? origin },
    // Where only one says anything, that is what counts.
    ...(here && here.layers.length > 1 ? here.layers : []).map(({ origin }): Column<Property> => {
      const title = t().setting.origins[origin] ?? origin
      return { title, cell: ({ said }) => (origin in said ? <code class="clip">{text(said[origin])}</code> : '–') }
    }),
  ]
  return (
    <>
      <h2>{t().setting.counts}</h2>
      {here === undefined ? (
        <p class="note">{t().setting.unknownHere}</p>
      ) : Object.keys(here.origins).length > 0 ? (
        <Table label={t().setting.counts} rows={propertiesOf(here)} columns={columns} keyOf={({ name }) => name} />
      ) : (
        <>
          <p class="note">{t().setting.origins[here.origin]}</p>
          <Value of={here.value} label={t().setting.counts} />
        </>
      )}
      <h2>{t().setting.inStore}</h2>
      {live ? (
        <>
          <p class="note">
            {t().version} {live.version} · {live.actor} · <Time at={live.at} /> · {live.reason}
          </p>
          <Value of={live.value} label={t().setting.inStore} />
        </>
      ) : (
        <p class="note">{t().setting.storeSilent}</p>
      )}
    </>
  )
}

function propertiesOf({ value, origins, layers }: NonNullable<Setting['here']>): Property[] {
  const values = value as Record<string, unknown>
  return Object.entries(origins).map(([name, origin]) => {
    const said = layers.flatMap(({ origin: layer, value: all }): [string, unknown][] =>
      typeof all === 'object' && all !== null && name in all ? [[layer, (all as Record<string, unknown>)[name]]] : [],
    )
    return { name, value: values[name], origin, said: Object.fromEntries(said) }
  })
}

/** Which version each living node runs, and which it should. */
function Nodes({ of: { nodes } }: { of: Setting }) {
  const columns: Column<SettingNode>[] = [
    { title: t().id, cell: ({ id }) => <code>{id}</code> },
    { title: t().setting.runs, cell: ({ version }) => said(version), isNumber: true },
    { title: t().setting.should, cell: ({ expected }) => said(expected), isNumber: true },
    {
      title: t().status,
      cell: ({ version, expected }) => <State of={version === expected ? 'ok' : 'drift'} />,
    },
  ]
  if (nodes.length === 0) return <p class="note">{t().setting.noNodes}</p>
  return <Table label={t().nodes} rows={nodes} columns={columns} keyOf={({ id }) => id} />
}

function said(version: number): string {
  return version === 0 ? '–' : String(version)
}
