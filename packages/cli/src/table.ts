import { stripVTControlCharacters, styleText } from 'node:util'
import type { Terminal } from './terminal.ts'

/** A column of a table: its heading, and what of a row stands in it. */
export type Column<R> = readonly [heading: string, of: (row: R) => unknown]

const GAP = 2
/** What is left of the last column where there is no room. */
const LEAST = 12

/** Rows under headings; the last column is cut where a terminal is too narrow for it. */
export function tableOf<R>(columns: readonly Column<R>[], rows: readonly R[], { width, colour }: Terminal): string {
  const cells = rows.map((row) => columns.map(([, of]) => cell(of(row))))
  const widths = columns.map(([heading], at) =>
    cells.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), heading.length),
  )
  const last = columns.length - 1
  if (width !== null) {
    const before = widths.slice(0, last).reduce((sum, each) => sum + each + GAP, 0)
    widths[last] = Math.min(widths[last] ?? 0, Math.max(width - before, LEAST))
  }
  const line = (texts: readonly string[]) =>
    texts
      .map((text, at) => fit(text, widths[at] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd()
  const heading = line(columns.map(([name]) => name))
  return [colour ? styleText('bold', heading, { validateStream: false }) : heading, ...cells.map(line)].join('\n')
}

/** One thing: a line for each of its fields that has a value. */
export function fieldsOf(fields: Readonly<Record<string, unknown>>, { colour }: Terminal): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  const width = given.reduce((most, [name]) => Math.max(most, name.length), 0)
  return given
    .map(([name, value]) => {
      const label = name.padEnd(width)
      return `${colour ? styleText('bold', label, { validateStream: false }) : label}${' '.repeat(GAP)}${cell(value)}`
    })
    .join('\n')
}

function fit(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width)
}

/** On one line, whatever is in it: what tasks carry must not steer the terminal of who looks at it. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return instant(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return stripVTControlCharacters(text ?? '').replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
}

/** As JSON whose texts steer no terminal: what JSON itself leaves as it is, such as the control characters from U+0080 on, is escaped. */
export function dataOf(value: unknown, indent = 0): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replace(/[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu, escaped)
}

/** To the second, always UTC: the same line means the same instant wherever it is read. */
export function instant(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ')
}
