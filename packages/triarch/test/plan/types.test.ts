import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { agent, type Planned, type Reference, ref, type Templated, type Workflow, workflow } from '../../src/index.ts'

interface Disk {
  id: string
  size: number
}
const own = agent('typed')
const attach = own.action('attach', { run: async (input: { host: string; size: number }): Promise<Disk> => ({ id: input.host, size: input.size }) }) // biome-ignore format: one line
const create = own.action('create', {
  input: z.object({ name: z.string(), disks: z.array(z.object({ id: z.string(), size: z.number() })) }),
  output: z.object({ address: z.string(), at: z.date() }),
  run: (input) => ({ address: input.name, at: new Date(0) }),
})
const machine = own.action('machine', {
  plan(input: { name: string; size: Templated<number> }, plan) {
    const disk = plan.step(attach, { host: input.name, size: input.size })
    const { output } = plan.step(create, {
      name: input.name,
      disks: [disk.output, { id: 'x', size: disk.output.size }],
    })
    return { address: output.address, disks: [disk.output] }
  },
})
const checked = own.action('checked', {
  plan(input: { name: string }, plan) {
    const planned = plan.self({ count: ref.length(input.name) })
    expectTypeOf(planned).toEqualTypeOf<Planned<{ ok: boolean }>>()
  },
  run: (input: { count: number }) => ({ ok: input.count > 0 }),
  finalize({ input, output }) {
    expectTypeOf(input).toEqualTypeOf<{ count: number }>()
    expectTypeOf(output).toEqualTypeOf<{ ok: boolean }>()
  },
})

// The compiler checks what is in here; it never runs.
describe('a plan', () => {
  it('takes the types of what it refers to', () => {
    const flow = workflow('flow', {
      input: z.object({ name: z.string() }),
      plan(input, plan) {
        expectTypeOf(input).toEqualTypeOf<{ name: string }>()
        const made = plan.step(machine, { name: input.name, size: 3 })
        expectTypeOf(made.output.address).toEqualTypeOf<Reference<string>>()
        // @ts-expect-error: there is no such part
        made.output.port
        // @ts-expect-error: a text is no number
        plan.step(attach, { host: 'h', size: made.output.address })
        // @ts-expect-error: whoever plans it needs its name now
        plan.step(machine, { name: made.output.address, size: 3 })
        const { output } = plan.step(checked, { name: 'c' })
        return { ok: output.ok, url: ref.text`http://${made.output.address}`, sizes: [made.output.disks[0]?.size] }
      },
    })
    expectTypeOf(flow).toExtend<Workflow<{ name: string }, { ok: boolean; url: string; sizes: unknown[] }>>()
    const nothing = workflow('nothing', { async plan(_: null) {} })
    expectTypeOf(nothing).toEqualTypeOf<Workflow<null, null>>()
  })
})
