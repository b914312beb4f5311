import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { Register } from '../../src/environment/register.ts'

interface Keyed {
  set(key: string, value: unknown): unknown
  delete(key: string): boolean
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

it('holds what is there, in the order in which it came', () => {
  const register = new Register<string, number>()
  for (const [index, key] of ['a', 'b', 'c'].entries()) register.set(key, index)
  register.set('b', 7)
  expect(register.delete('a')).toBe(true)
  expect(register.delete('a')).toBe(false)
  register.set('a', 9)
  expect([...register.keys()]).toEqual(['b', 'c', 'a'])
  expect([...register.values()]).toEqual([7, 2, 9])
  expect([register.size, register.has('a'), register.has('d'), register.get('c'), register.get('d')]).toEqual([
    ...[3, true, false, 2, undefined],
  ])
})

it('goes on through what is there, whatever comes and goes meanwhile', () => {
  const register = new Register<number, number>()
  for (let key = 0; key < 4; key++) register.set(key, key)
  const met: number[] = []
  for (const value of register.values()) {
    met.push(value)
    register.delete(value)
    register.delete(2)
    if (value === 3) register.set(4, 4)
  }
  expect(met).toEqual([0, 1, 3, 4])
  expect(register.size).toBe(0)
})

it('keeps nothing alive that has left it, not even until all is collected', () => {
  const held = passThrough(new Register())
  expect(passThrough(new Map())).toBeGreaterThan(10_000_000)
  expect(held).toBeLessThan(3_000_000)
})

/** Bytes that are still there when 10,000 values of about 2 KB have passed, 200 at a time, and only what is young was collected. */
function passThrough(through: Keyed): number {
  const values = 10_000
  const together = 200
  const pass = (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      through.set(
        `key ${index}`,
        Array.from({ length: 250 }, () => index),
      )
      if (index >= together) through.delete(`key ${index - together}`)
      if (index % 1_000 === 0) collect({ type: 'minor' })
    }
  }
  pass(0, 1_000)
  collect() // what is there is old now
  const before = used()
  pass(1_000, values)
  for (let index = values - together; index < values; index++) through.delete(`key ${index}`)
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  return used() - before
}

function used(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^(new|old)/.test(space_name))
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}
