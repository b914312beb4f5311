import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Table } from '../../src/kernel/table.ts'

type Deed = { do: 'set' | 'delete'; key: number; value: number } | { do: 'clear' }

const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: fc.record({ do: fc.constantFrom('set', 'delete'), key: fc.nat(3), value: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  ),
  { maxLength: 40 },
)

it('a table is a map, whatever is done to it', () => {
  fc.assert(
    fc.property(deeds, (all) => {
      const [table, map] = [new Table<number, number>(), new Map<number, number>()]
      for (const deed of all) {
        if (deed.do === 'clear') {
          table.clear()
          map.clear()
        } else if (deed.do === 'set') {
          table.set(deed.key, deed.value)
          map.set(deed.key, deed.value)
        } else expect(table.delete(deed.key)).toBe(map.delete(deed.key))
        expect([...table]).toEqual([...map])
        expect([...table.keys()]).toEqual([...map.keys()])
        expect([...table.values()]).toEqual([...map.values()])
        expect(table.size).toBe(map.size)
        for (let key = 0; key <= 3; key++)
          expect([table.has(key), table.get(key)]).toEqual([map.has(key), map.get(key)])
      }
    }),
  )
})

it('tables with the same entries are equal, however they came to them', () => {
  fc.assert(
    fc.property(deeds, (all) => {
      const table = new Table<number, number>()
      for (const deed of all)
        if (deed.do === 'clear') table.clear()
        else if (deed.do === 'set') table.set(deed.key, deed.value)
        else table.delete(deed.key)
      const fresh = new Table<number, number>()
      for (const [key, value] of table) fresh.set(key, value)
      expect(table).toEqual(fresh)
    }),
  )
})

it('each entry is met once by who takes out what is met', () => {
  const table = new Table<number, string>()
  for (const key of [1, 2, 3]) table.set(key, `${key}`)
  const met: number[] = []
  for (const [key] of table) {
    met.push(key)
    table.delete(key)
  }
  expect(met).toEqual([1, 2, 3])
  expect(table.size).toBe(0)
})
