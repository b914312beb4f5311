import { useEffect } from 'preact/hooks'
import { type Api, text } from '../api/client.ts'
import { type Growing, useGrowing } from '../api/growing.ts'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { More } from '../part/more.tsx'
import { type Column, Table } from '../part/table.tsx'
import { Time } from '../part/time.tsx'
import { ask, askAll, place } from '../shell/place.ts'
import { t } from '../shell/preference.ts'

export type HistoryRecord = Api['History']['records'][number]

interface Row {
  key: string
  seq: number
  at: string
  type: string
  rest: string
}

/** The history of the task at a path, as far as it was read; null: not now. */
export function useHistory(path: string | null, since: number): Growing<HistoryRecord> {
  return useGrowing(path === null ? null : `${path}/history`, partOf, { since })
}

function partOf({ records, next }: Api['History']) {
  return { rows: records, after: records.at(-1)?.seq ?? 0, isLast: next === undefined }
}

/** All that happened to the task, in order. A record in the address is shown first. */
export function History({ records }: { records: Growing<HistoryRecord> }) {
  const chosen = place.value.search.get('record')
  useEffect(() => {
    if (chosen !== null) document.querySelector('tr.chosen')?.scrollIntoView({ block: 'center' })
  }, [chosen, records.rows.length > 0])
  if (records.error && records.rows.length === 0) return <Failure error={records.error} retry={records.reload} />
  const rows = records.rows.flatMap(({ seq, at, events }) =>
    events.map(({ type, ...rest }, index): Row => {
      const said = Object.keys(rest).length > 0 ? text(rest) : ''
      return { key: `${seq}.${index}`, seq, at, type, rest: said }
    }),
  )
  const columns: Column<Row>[] = [
    {
      title: '#',
      cell: ({ seq }) => (
        <button
          type="button"
          class="quiet small"
          title={t().one.link}
          aria-pressed={String(seq) === chosen}
          onClick={() => ask('record', String(seq) === chosen ? null : String(seq))}
        >
          {seq}
        </button>
      ),
      isNumber: true,
    },
    { title: t().at, cell: ({ at }) => <Time at={at} /> },
    { title: t().event, cell: ({ type }) => <code>{type}</code> },
    { title: t().data, cell: ({ rest }) => <code class="clip wide">{rest}</code> },
  ]
  return (
    <>
      <p class="buttons">
        <Download of={records.rows.length > 0 ? records.rows : null} name="history" />
      </p>
      {chosen !== null && <Chosen record={records.rows.find(({ seq }) => String(seq) === chosen)} />}
      <Table
        label={t().history}
        rows={rows}
        columns={columns}
        keyOf={({ key }) => key}
        isChosen={({ seq }) => String(seq) === chosen}
      />
      <More of={records} name={t().one.records} />
    </>
  )
}

/** One record in full. */
function Chosen({ record }: { record: HistoryRecord | undefined }) {
  if (!record) return null
  return (
    <section class="apart" aria-label={t().one.record(record.seq)}>
      <h3>
        {t().one.record(record.seq)} <Time at={record.at} />
      </h3>
      <div class="value">
        <pre tabIndex={0} role="region" aria-label={t().data}>
          {text(record.events, 2)}
        </pre>
      </div>
      <p class="buttons">
        <button
          type="button"
          class="small"
          onClick={() => {
            askAll({ tab: 'past', at: String(record.seq) })
          }}
        >
          {t().one.lookBack}
        </button>
      </p>
    </section>
  )
}
