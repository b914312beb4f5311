import { Table } from '../../src/kernel/table.ts'

export function tableOf<K, V>(entries: Iterable<readonly [K, V]>): Table<K, V> {
  const table = new Table<K, V>()
  for (const [key, value] of entries) table.set(key, value)
  return table
}
