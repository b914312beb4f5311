import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { go } from '../shell/place.ts'
import { FEW, useExtent } from './extent.ts'

export interface Column<T> {
  title: string
  cell: (row: T) => ComponentChildren
  /** Numbers stand to the right. */
  isNumber?: boolean
}

/**
 * Rows of one kind. A row that leads somewhere can be focused, and opened by Enter. Of many rows only those near what is seen are there.
 * `onEnd`: the last of them is near.
 */
export function Table<T>({
  label,
  rows,
  columns,
  keyOf,
  to,
  onEnd,
  isChosen,
  isDense = false,
}: {
  label: string
  rows: readonly T[]
  columns: readonly Column<T>[]
  keyOf: (row: T) => string
  to?: (row: T) => string
  onEnd?: () => void
  isChosen?: (row: T) => boolean
  /** It is a table on the narrowest screens as well: it has few columns there. */
  isDense?: boolean
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  const extent = useExtent(body, rows.length)
  const isLong = rows.length > FEW
  const isNearEnd = isLong && extent.to >= rows.length
  useEffect(() => {
    if (isNearEnd) onEnd?.()
  }, [isNearEnd, rows.length])
  const gap = (count: number) =>
    isLong && count > 0 ? (
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can be focused
      <tr aria-hidden="true">
        <td class="gap" colSpan={columns.length} style={{ height: `${count * extent.height}px` }} />
      </tr>
    ) : null
  return (
    <section class="table" aria-label={label} tabIndex={0}>
      <table
        class={isDense ? (isLong ? 'long dense' : 'dense') : isLong ? 'long' : 'stacks'}
        {...(isLong && { 'aria-rowcount': rows.length + 1 })}
      >
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {gap(extent.from)}
          {rows.slice(extent.from, extent.to).map((row, index) => (
            <tr
              key={keyOf(row)}
              data-index={extent.from + index}
              class={isChosen?.(row) ? 'chosen' : undefined}
              {...(isLong && { 'aria-rowindex': extent.from + index + 2 })}
              {...(to && {
                tabIndex: 0,
                'data-row': '',
                onKeyDown: ({ key, target, currentTarget }: KeyboardEvent) => {
                  if (key === 'Enter' && target === currentTarget) go(to(row))
                },
              })}
            >
              {columns.map(({ title, cell, isNumber }) => (
                <td key={title} data-title={title} class={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {gap(rows.length - extent.to)}
        </tbody>
      </table>
    </section>
  )
}
