import type { ComponentChildren } from 'preact'
import { type Column, Table } from '../part/table.tsx'
import { span } from '../part/time.tsx'
import { locale, t } from '../shell/preference.ts'
import { failing, type StatisticsLine } from './lines.ts'

/** What became of all that have one name. `begins`: that they began is counted, too. */
export function Lines({
  label,
  title,
  lines,
  begins,
  name,
}: {
  label: string
  title: string
  lines: readonly StatisticsLine[]
  begins?: boolean
  name: (line: StatisticsLine) => ComponentChildren
}) {
  const number = (title: string, cell: (line: StatisticsLine) => ComponentChildren): Column<StatisticsLine> => {
    return { title, cell, isNumber: true }
  }
  const columns: Column<StatisticsLine>[] = [
    { title, cell: name },
    ...(begins ? [number(t().submitted, ({ begun }) => begun.toLocaleString(locale()))] : []),
    number(t().figures.done, ({ done }) => done.toLocaleString(locale())),
    number(t().figures.failed, ({ failed }) => failed.toLocaleString(locale())),
    number(t().figures.share, (line) => <Share of={failing(line)} />),
    ...(['p50', 'p95', 'p99'] as const).map((it) => number(it, (line) => took(line[it]))),
  ]
  return <Table label={label} rows={lines} columns={columns} keyOf={({ name }) => name} />
}

export function Share({ of }: { of: number | null }) {
  return <>{of === null ? '–' : percent(of)}</>
}

export function percent(share: number): string {
  return share.toLocaleString(locale(), { style: 'percent', maximumFractionDigits: 1 })
}

export function took(ms: number | null): string {
  return ms === null ? '–' : span(ms)
}
