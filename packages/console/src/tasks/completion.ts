/** What a filter may speak of, and the values that are known of some. */
export type Known = Readonly<Record<string, readonly string[]>>

const MOST = 12

/** The line, with its last word as it may be meant: first the fields, then the values of the one that was named. */
export function complete(typed: string, known: Known): { line: string; word: string }[] {
  const start = typed.lastIndexOf(' ') + 1
  const last = typed.slice(start)
  const [, not = '', rest = ''] = /^(-?)(.*)$/.exec(last) ?? []
  const [, field, comparison, before = '', value = ''] = /^([\w.]+)([:~])((?:[^,]*,)*)(.*)$/.exec(rest) ?? []
  const words =
    field === undefined
      ? Object.keys(known)
          .filter((it) => rest !== '' && it.startsWith(rest))
          .map((it) => (it === 'tag' ? 'tag.' : `${it}:`))
      : (Object.hasOwn(known, field) ? (known[field] ?? []) : [])
          .filter((it) => it.toLowerCase().startsWith(value.toLowerCase()) && it !== value)
          .map((it) => `${field}${comparison}${before}${quoted(it)}`)
  return words.slice(0, MOST).map((word) => ({ line: `${typed.slice(0, start)}${not}${word}`, word: not + word }))
}

/** As it stands in a filter (docs/reference/filter.md). */
export function quoted(value: string): string {
  return /[\s(),"*]/.test(value) || value === '' ? `"${value.replace(/["\\]/g, '\\$&')}"` : value
}
