import { describe, expect, it } from 'vitest'
import type { Workflow } from '../../src/definition/definition.ts'
import { newReference, type Reference, ref } from '../../src/definition/reference.ts'
import { workflow } from '../../src/definition/workflow.ts'
import { TriarchError } from '../../src/error/error.ts'
import type { Json } from '../../src/kernel/json.ts'
import { missingReference, references, resolve } from '../../src/kernel/plan/reference.ts'
import { DEFAULT_PLAN_LIMITS } from '../../src/planning/limits.ts'
import { Planner } from '../../src/planning/planner.ts'
import { toTemplate } from '../../src/planning/template.ts'

const plan = {}
interface Machine {
  address: string
  disks: { size: number; name: string }[]
  note: string | null
}
const machine = newReference<Machine>({ operation: 'output', of: [1], path: [], plan })
const other = newReference<Machine>({ operation: 'output', of: [2], path: [], plan })

function template(value: unknown): { template: Json; found: number[] } {
  const found = new Set<number>()
  return { template: toTemplate(value, { what: 'input', plan, limit: 10_000, found }), found: [...found] }
}

const outputs = new Map<number, Json>([
  [1, { address: '10.0.0.1', disks: [{ size: 3, name: 'a' }, { size: 4, name: 'b' }], note: null }], // biome-ignore format: one line a machine
  [2, { address: '10.0.0.2', disks: [], note: 'spare', $ref: ['output', 1] }],
])

function resolved(value: unknown): Json | undefined {
  // What is stored is JSON, so a round trip must not matter.
  return resolve(JSON.parse(JSON.stringify(template(value).template)), outputs)
}

function codeOf(fn: () => unknown): string {
  try {
    fn()
  } catch (error) {
    return error instanceof TriarchError ? error.code : String(error)
  }
  return 'nothing'
}

describe('a reference', () => {
  it('may stand anywhere inside a value, and becomes what its step gave', () => {
    const value = { to: machine.address, all: [machine.disks[1]?.name, { deep: other.note }], plain: 1 }
    expect(template(value).found.sort()).toEqual([1, 2])
    expect([...references(template(value).template)].sort()).toEqual([1, 2])
    expect(resolved(value)).toEqual({ to: '10.0.0.1', all: ['b', { deep: 'spare' }], plain: 1 })
  })

  it('is computed with, by operations that nest and have parts', () => {
    expect(resolved(ref.text`http://${machine.address}:${80}/`)).toBe('http://10.0.0.1:80/')
    expect(resolved(ref.or(machine.note, other.note))).toBe('spare')
    expect(resolved(ref.or((machine as unknown as Reference<{ gone?: string }>).gone, 'none'))).toBe('none')
    expect(resolved(ref.length(machine.disks))).toBe(2)
    expect(resolved(ref.join(ref.pluck(machine.disks, 'name'), '+'))).toBe('a+b')
    expect(resolved(ref.concat(machine.disks, [{ size: 1, name: 'c' }]))).toHaveLength(3)
    expect(resolved(ref.merge({ a: 1 }, { b: machine.address }))).toEqual({ a: 1, b: '10.0.0.1' })
    expect(resolved(ref.merge({ a: 1 }, { b: machine.address }).b)).toBe('10.0.0.1')
    expect(resolved(ref.when(ref.equals(machine.address, '10.0.0.1'), machine.disks[0], other.note))).toEqual({
      size: 3,
      name: 'a',
    })
  })

  it('has no value while its part is missing, and the missing part is named', () => {
    const value = [machine.address, (machine as unknown as Reference<{ gone: { deep: string } }>).gone.deep]
    expect(resolved(value)).toBeUndefined()
    expect(missingReference(template(value).template, outputs)).toBe('output of step 1.gone.deep')
  })

  it('is not mistaken for data, nor data for it', () => {
    const mine = { $ref: ['output', 1], with: machine.address }
    expect(resolved(mine)).toEqual({ $ref: ['output', 1], with: '10.0.0.1' })
    expect(resolved({ got: other })).toEqual({ got: outputs.get(2) })
    expect(resolved(JSON.parse('{"__proto__":1}'))).toEqual(JSON.parse('{"__proto__":1}'))
  })

  it('gives each step a copy of its own', () => {
    const first = resolved({ disks: machine.disks }) as { disks: { size: number }[] }
    ;(first.disks[0] as { size: number }).size = 99
    expect(resolved(machine.disks[0]?.size)).toBe(3)
  })

  it('refuses to be used as a value, or in another plan', () => {
    expect(codeOf(() => `${machine.address}`)).toBe('PLAN_MISUSE')
    expect(codeOf(() => Number(machine.disks[0]?.size) + 1)).toBe('PLAN_MISUSE')
    expect(codeOf(() => ({ ...machine }))).toBe('PLAN_MISUSE')
    expect(codeOf(() => toTemplate(machine, { what: 'x', plan: {}, limit: 100, found: new Set() }))).toBe('PLAN_MISUSE')
    const loop: unknown[] = []
    loop.push(loop)
    expect(codeOf(() => template(loop))).toBe('UNSERIALISABLE')
    expect(codeOf(() => template(() => 1))).toBe('UNSERIALISABLE')
  })
})

describe('a planner', () => {
  it('refuses to go on once its plan is finished', () => {
    const planner = new Planner(1, workflow('flow', { plan: () => 1 }) as Workflow, {
      limits: DEFAULT_PLAN_LIMITS,
      chain: [],
    })
    const context = planner.context(undefined)
    planner.finish(undefined)
    expect(codeOf(() => context.sequence(() => 1))).toBe('PLAN_MISUSE')
  })
})
