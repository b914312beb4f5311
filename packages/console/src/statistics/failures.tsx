import { type FiguresColumn, type FiguresRow, useFigures } from '../api/figures.ts'
import { Empty } from '../part/empty.tsx'
import { Failure } from '../part/failure.tsx'
import { type Column, Table } from '../part/table.tsx'
import { ask, place } from '../shell/place.ts'
import { locale, t } from '../shell/preference.ts'

/** What failures can be told apart by, one by one or all at once. */
const WAYS = ['workflow', 'agent', 'action', 'error'] as const
/** Rows that are shown. */
const MOST = 50

type FailureTexts = Record<(typeof WAYS)[number], string> & { kind: string; count: number }

/** Tasks and attempts that failed, the most frequent first. */
export function Failures({ hours, chosen }: { hours: number; chosen: Partial<Record<FiguresColumn, string | null>> }) {
  const figures = useFigures(['kind', ...WAYS], hours, chosen)
  const by = WAYS.find((it) => it === place.value.search.get('by'))
  const shown = by ? [by] : WAYS
  const rows = toldApart(figures.value?.rows ?? [], shown)
  const titles = { workflow: t().workflow, agent: t().figures.agent, action: t().action, error: t().error }
  const columns: Column<FailureTexts>[] = [
    { title: t().kind, cell: ({ kind }) => t().figures.kinds[kind] ?? kind },
    ...shown.map((it) => ({ title: titles[it], cell: (row: FailureTexts) => row[it] || '–' })),
    { title: t().figures.failed, cell: ({ count }) => count.toLocaleString(locale()), isNumber: true },
  ]
  return (
    <>
      <h2>{t().figures.failures}</h2>
      <p>
        <label>
          {t().figures.toldBy}{' '}
          <select value={by ?? ''} onChange={({ currentTarget }) => ask('by', currentTarget.value)}>
            <option value="">{t().figures.everything}</option>
            {WAYS.map((it) => (
              <option key={it} value={it}>
                {titles[it]}
              </option>
            ))}
          </select>
        </label>
      </p>
      {figures.error && <Failure error={figures.error} retry={figures.reload} />}
      {figures.value && rows.length === 0 && <Empty text={t().figures.noFailures} />}
      {rows.length > 0 && (
        <Table
          label={t().figures.failures}
          rows={rows.slice(0, MOST)}
          columns={columns}
          keyOf={(row) => [row.kind, ...shown.map((it) => row[it])].join(' ')}
        />
      )}
      {(rows.length > MOST || figures.value?.truncated) && <p class="note">{t().figures.mostFrequent(MOST)}</p>}
    </>
  )
}

/** Steps that failed did so in an attempt, which is counted as well. */
function toldApart(rows: readonly FiguresRow[], by: readonly (typeof WAYS)[number][]): FailureTexts[] {
  const told = new Map<string, FailureTexts>()
  for (const { kind = '', count, error = '', ...row } of rows) {
    if (error === '' || kind === 'step') continue
    const one = { workflow: '', agent: '', action: '', ...row, error }
    const key = JSON.stringify([kind, ...by.map((it) => one[it])])
    const known = told.get(key) ?? { ...one, kind, count: 0 }
    told.set(key, { ...known, count: known.count + count })
  }
  return [...told.values()].sort((a, b) => b.count - a.count)
}
