import { useState } from 'preact/hooks'
import { t } from '../shell/preference.ts'
import { type Column, Table } from './table.tsx'
import { instant } from './time.tsx'

export interface Series {
  name: string
  tone: 'good' | 'bad' | 'run' | 'wait'
  /** One for each of the instants; null: not known. */
  values: readonly (number | null)[]
}

const HIGH = 100

/** Figures over time: `bars` stand on each other, `lines` beside. The same as a table for whoever wants or needs one. */
export function Chart({
  title,
  at,
  series,
  as,
  told,
}: {
  title: string
  at: readonly string[]
  series: readonly Series[]
  as: 'bars' | 'lines'
  told: (value: number) => string
}) {
  const [isOpen, setOpen] = useState(false)
  const sums = at.map((_, n) => series.map(({ values }) => values[n] ?? 0))
  const top = Math.max(1, ...sums.map((one) => (as === 'bars' ? one.reduce((a, b) => a + b, 0) : Math.max(...one))))
  const columns: Column<number>[] = [
    { title: t().figures.hour, cell: (n) => instant(at[n] ?? '') },
    ...series.map(({ name, values }) => ({
      ...{ title: name, isNumber: true },
      cell: (n: number) => (values[n] === null || values[n] === undefined ? '–' : told(values[n])),
    })),
  ]
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        {series.map(({ name, tone }) => (
          <span key={name}>
            <span class={`swatch ${tone}`} aria-hidden="true" /> {name}
          </span>
        ))}
        <span class="faint">{t().figures.upTo(told(top))}</span>
      </figcaption>
      <svg viewBox={`0 0 ${at.length} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
        {as === 'bars'
          ? series.map(({ name, tone, values }, index) =>
              values.map((value, n) => {
                const below = (sums[n] ?? []).slice(0, index).reduce((a, b) => a + b, 0)
                const high = ((value ?? 0) / top) * HIGH
                const y = HIGH - (below / top) * HIGH - high
                return (
                  high > 0 && <rect key={`${name} ${at[n]}`} class={tone} x={n + 0.1} y={y} width={0.8} height={high} />
                )
              }),
            )
          : series.map(({ name, tone, values }) => <path key={name} class={tone} d={pathOf(values, top)} />)}
      </svg>
      <p class="ends faint">
        <span>{instant(at[0] ?? '')}</span>
        <span>{instant(at.at(-1) ?? '')}</span>
      </p>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{t().figures.asTable(title)}</summary>
        {isOpen && <Table label={title} rows={at.map((_, n) => n).reverse()} columns={columns} keyOf={String} />}
      </details>
    </figure>
  )
}

/** A step for each that is known: one alone is seen, too. */
function pathOf(values: readonly (number | null)[], top: number): string {
  return values
    .map((value, n) => {
      if (value === null) return ''
      const y = (HIGH - (value / top) * HIGH).toFixed(2)
      return `${n > 0 && typeof values[n - 1] === 'number' ? `L${n}` : `M${n}`} ${y}H${n + 1}`
    })
    .join('')
}
