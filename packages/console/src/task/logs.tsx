import { type Api, text } from '../api/client.ts'
import { useGrowing } from '../api/growing.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { Download } from '../part/json.tsx'
import { More } from '../part/more.tsx'
import { type Column, Table } from '../part/table.tsx'
import { instant } from '../part/time.tsx'
import { t } from '../shell/preference.ts'

type LogLine = Api['LogPage']['lines'][number]

function partOf({ lines, next, last }: Api['LogPage']) {
  return { rows: lines, after: next ?? last, isLast: next === undefined }
}

/** What its steps and its workflow logged, or one of its steps. `polls`: more may come. */
export function Logs({ path, step, polls }: { path: string; step?: number; polls: boolean }) {
  const said = new URLSearchParams({ limit: '1000', ...(step !== undefined && { step: String(step) }) })
  const page = useGrowing(`${path}/logs?${said}`, partOf, { polls })
  if (page.error && page.rows.length === 0) return <Failure error={page.error} retry={page.reload} />
  if (page.rows.length === 0) return page.isWhole ? <Empty text={t().noLogs} /> : <p>{t().loading}…</p>
  const columns: Column<LogLine>[] = [
    { title: t().at, cell: ({ at }) => instant(at) },
    { title: t().status, cell: ({ level }) => <span class={`level ${level}`}>{level}</span> },
    ...(step === undefined ? [{ title: t().step, cell: ({ step }: LogLine) => step ?? '' }] : []),
    { title: t().attempts, cell: ({ attempt }) => attempt ?? '', isNumber: true },
    {
      title: t().data,
      cell: ({ message, fields, dropped }) =>
        `${dropped > 0 ? `${t().one.dropped(dropped)} ` : ''}${message} ${Object.keys(fields).length > 0 ? text(fields) : ''}`,
    },
  ]
  return (
    <>
      <p class="buttons">
        <Download of={page.rows} name="logs" />
      </p>
      <Table label={t().logs} rows={page.rows} columns={columns} keyOf={({ seq }) => String(seq)} />
      <More of={page} name={t().one.lines} />
    </>
  )
}
