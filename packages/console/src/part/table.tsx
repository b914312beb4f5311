import type { ComponentChildren } from 'preact'
import { go } from '../shell/place.ts'

export interface Column<T> {
  title: string
  cell: (row: T) => ComponentChildren
  /** Numbers stand to the right. */
  isNumber?: boolean
}

/** Rows of one kind. A row that leads somewhere can be focused, and opened by Enter. */
export function Table<T>({
  label,
  rows,
  columns,
  keyOf,
  to,
}: {
  label: string
  rows: readonly T[]
  columns: readonly Column<T>[]
  keyOf: (row: T) => string
  to?: (row: T) => string
}) {
  return (
    <section class="table" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              {...(to && {
                tabIndex: 0,
                'data-row': '',
                onKeyDown: ({ key, target, currentTarget }) => {
                  if (key === 'Enter' && target === currentTarget) go(to(row))
                },
              })}
            >
              {columns.map(({ title, cell, isNumber }) => (
                <td key={title} class={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
