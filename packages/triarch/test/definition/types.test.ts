import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { Triarch } from '../../src/client/triarch.ts'
import { agent } from '../../src/definition/agent.ts'
import type { Action, TaskContext, Workflow } from '../../src/definition/definition.ts'
import type { StepContext } from '../../src/definition/step.ts'
import { workflow } from '../../src/definition/workflow.ts'
import { testEngine } from '../../src/testing/index.ts'
import type { Duration } from '../../src/value/duration.ts'
import type { Jsonified } from '../../src/value/jsonified.ts'
import type { InferInput, InferOutput, StandardSchema } from '../../src/value/schema.ts'

const Order = z.object({ id: z.string(), total: z.coerce.number<string>() })
const Receipt = z.object({ chargeId: z.string(), at: z.date(), note: z.string().default('') })
type OrderInput = { id: string; total: string }
type OrderParsed = { id: string; total: number }
type ReceiptJson = { chargeId: string; at: string; note: string }

// The compiler checks what is in here; little of it runs.
declare const task: TaskContext
declare const brand: unique symbol
const shop = agent('shop')

describe('an action takes its types', () => {
  it('from its schemas: the caller gives the schema input, run is given the schema output', () => {
    const charge = shop.action('charge', {
      input: Order,
      output: Receipt,
      run(order, step) {
        expectTypeOf(order).toEqualTypeOf<OrderParsed>()
        expectTypeOf(step).toEqualTypeOf<StepContext>()
        return { chargeId: order.id, at: new Date(0) }
      },
      undo({ input, output }) {
        expectTypeOf(input).toEqualTypeOf<OrderParsed>()
        expectTypeOf(output).toEqualTypeOf<ReceiptJson>()
      },
      verify(input) {
        expectTypeOf(input).toEqualTypeOf<OrderParsed>()
        return { done: true, output: { chargeId: 'c', at: new Date(0) } }
      },
    })
    expectTypeOf(charge).toEqualTypeOf<Action<OrderInput, ReceiptJson>>()
  })

  it('from the annotation and the result of run when there are no schemas', () => {
    const reserve = shop.action('reserve', {
      attemptWithin: '5s',
      async run(order: { sku: string }) {
        return { reserved: order.sku.length, until: new Date(0) }
      },
      async undo({ input, output }, step) {
        expectTypeOf(input).toEqualTypeOf<{ sku: string }>()
        expectTypeOf(output).toEqualTypeOf<{ reserved: number; until: string }>()
        expectTypeOf(step).toEqualTypeOf<StepContext>()
      },
    })
    expectTypeOf(reserve).toEqualTypeOf<Action<{ sku: string }, { reserved: number; until: string }>>()
  })

  it('from run, whatever verify gives', () => {
    // Without exactOptionalPropertyTypes, which applications seldom set, `{ done }` has an output: undefined.
    const pay = shop.action('pay-verified', {
      run: (amount: number) => ({ receipt: `r-${amount}` }),
      verify: (amount: number): { done: true; output: { receipt: string } } | { done: false; output?: undefined } =>
        amount > 0 ? { done: true, output: { receipt: 'r' } } : { done: false },
      undo: ({ output }) => expectTypeOf(output).toEqualTypeOf<{ receipt: string }>(),
    })
    expectTypeOf(pay).toEqualTypeOf<Action<number, { receipt: string }>>()
    // @ts-expect-error run gives another
    void (() => shop.action('else', { run: () => 1, verify: () => ({ done: true, output: 'one' }) as const }))
  })

  it('from run, also where verify only ever says that it does not know', () => {
    const asked = shop.action('asked', { run: (amount: number) => amount, verify: async () => ({ done: 'unknown' }) })
    expectTypeOf(asked).toEqualTypeOf<Action<number, number>>()
    const checked = shop.action('asked-too', {
      output: z.string(),
      run: () => 'a',
      verify: async () => ({ done: 'unknown' }),
    })
    expectTypeOf(checked).toEqualTypeOf<Action<unknown, string>>()
    // @ts-expect-error a word is no answer
    void (() => shop.action('asked-else', { run: () => 1, verify: () => 'unknown' }))
  })

  it('from one schema and run, whichever is there', () => {
    const first = shop.action('first', { input: Order, run: async (order) => order.total })
    expectTypeOf(first).toEqualTypeOf<Action<OrderInput, number>>()
    const second = shop.action('second', {
      output: Receipt,
      run: (order: { id: string }) => ({ chargeId: order.id, at: new Date(0) }),
    })
    expectTypeOf(second).toEqualTypeOf<Action<{ id: string }, ReceiptJson>>()
    const third = shop.action('third', { run() {} })
    expectTypeOf(third).toEqualTypeOf<Action<unknown, null>>()
  })

  it('and refuses what does not fit', () => {
    // @ts-expect-error the output schema wants a string
    void (() => shop.action('bad-output', { output: Receipt, run: () => ({ chargeId: 1, at: new Date(0) }) }))
    // @ts-expect-error there is no such option
    void (() => shop.action('bad-option', { run: () => 1, completWithin: '1s' }))
    // @ts-expect-error there is no such unit
    void (() => shop.action('bad-duration', { run: () => 1, attemptWithin: '1 fortnight' }))
    // @ts-expect-error the answer must carry an output
    void (() => shop.action('bad-verification', { run: () => 1, verify: () => ({ done: true }) }))
  })
})

describe('what JSON makes something else of', () => {
  const due = shop.action('due', { run: async (input: { when: Date }) => input.when.getTime() })
  const remind = workflow('remind', { run: async (input: { when: Date }) => input.when.getTime() })
  const later = workflow('later', { plan: (input: { when: Date }) => input.when.getTime() })

  it('cannot be given to code that takes it as it was', () => {
    // @ts-expect-error the date arrives as a string
    void (() => task.run(due, { when: new Date(0) }))
    // @ts-expect-error the same for a child
    void (() => task.call(remind, { when: new Date(0) }))
    void (async (triarch: Triarch) => {
      // @ts-expect-error and for a submission
      await triarch.submit(remind, { when: new Date(0) })
      // @ts-expect-error of a plan, too
      await triarch.submit(later, { when: new Date(0) })
    })
    const strict = shop.action('strict', { input: z.object({ when: z.date() }), run: (input) => input.when.getTime() })
    // @ts-expect-error this schema would refuse the string that arrives
    void (() => task.run(strict, { when: new Date(0) }))
  })

  it('can, where a schema makes it again of what arrives', () => {
    const coerced = z.object({ when: z.coerce.date<string>() })
    const strict = shop.action('coerced', { input: coerced, run: (input) => input.when.getTime() })
    expectTypeOf(() => task.run(strict, { when: '2026-01-01' })).returns.resolves.toEqualTypeOf<number>()
  })

  it('may stand deep in it, and be methods, too', () => {
    class Basket {
      readonly ids: string[] = []
      clear(): void {}
    }
    const clear = shop.action('clear', { run: async (input: { basket: Basket }) => input.basket.clear() })
    // @ts-expect-error its methods do not arrive
    void (() => task.run(clear, { basket: new Basket() }))
    const deep = shop.action('deep', { run: async (input: { a: { b: { c: Date }[] } }) => input.a.b.length })
    // @ts-expect-error the date is as deep
    void (() => task.run(deep, { a: { b: [{ c: new Date(0) }] } }))
  })

  it('is not in what is recursive, branded, optional, or either of two', () => {
    type Text = string | Text[] | { [key: string]: Text }
    type Tree = { name: string; children: Tree[]; parent?: Tree | undefined }
    type Brand = { readonly [brand]: 'order' }
    const all = shop.action('all', {
      run: async (input: { text: Text; tree: Tree; id: string & Brand; when: Date | string; done?: () => void }) =>
        input.id.length,
    })
    const tree: Tree = { name: 'a', children: [{ name: 'b', children: [] }] }
    void (() => task.run(all, { text: ['a', { b: 'c' }], tree, id: 'o-1' as string & Brand, when: '2026-01-01' }))
    const pair = shop.action('pair', { run: async (input: [a: number, b?: string] | null) => input?.[1] ?? '' })
    expectTypeOf(() => task.run(pair, [1])).returns.resolves.toEqualTypeOf<string>()
  })

  it('is no concern of code that is written for any type', () => {
    const any = <T extends { id: string }>(name: string, work: (input: T) => Promise<string>): Action<T, string> =>
      shop.action(name, { run: (input: T) => work(input) })
    const own = any('own', async (input: { id: string; n?: number }) => input.id)
    expectTypeOf(() => task.run(own, { id: 'a' })).returns.resolves.toEqualTypeOf<string>()
    const call = async <I, O>(child: Workflow<I, O>, input: NoInfer<I>): Promise<O> => task.call(child, input)
    expectTypeOf(call).toBeFunction()
  })

  it('comes out of a step as it is recorded, not as it was', () => {
    void (async () => {
      const response = await task.run('get', () => fetch('http://localhost'))
      // @ts-expect-error nothing is left of a response
      response.status
      const map = await task.run('map', () => new Map([[1, 2]]))
      // @ts-expect-error a map is refused
      map.size
    })
    expectTypeOf<Jsonified<Response>>().toEqualTypeOf<Record<never, never>>()
    expectTypeOf<Jsonified<{ a: Headers; b: Buffer; c: Promise<string>; d: Set<string> }>>().toEqualTypeOf<{
      a: Record<never, never>
      b: never
      c: never
      d: never
    }>()
  })
})

describe('an action that takes no input', () => {
  const look = shop.action('look', { run: () => 1 })
  const nightly = workflow('nightly', { run: async (_, task) => task.run(look) })

  it('needs none', () => {
    expectTypeOf(() => task.run(look)).returns.resolves.toEqualTypeOf<number>()
    // @ts-expect-error this one takes an input
    void (() => task.run(charge))
  })

  it('runs without', async () => {
    await using engine = await testEngine({ agents: [shop], workflows: [nightly] })
    expect(await (await engine.submit(nightly, null)).result()).toBe(1)
  })
})

describe('an output schema', () => {
  it('holds run, and verify, to what it takes', () => {
    const kind = z.enum(['small', 'large'])
    expectTypeOf(shop.action('kind', { output: kind, run: () => 'small' as const })).toEqualTypeOf<
      Action<unknown, 'small' | 'large'>
    >()
    // @ts-expect-error any string is too much
    void (() => shop.action('any', { output: kind, run: (): string => 'small' }))
    // @ts-expect-error the same of a workflow
    void (() => workflow('any', { output: kind, run: async (): Promise<string> => 'small' }))
    // @ts-expect-error and of an answer of verify
    void (() => shop.action('of', { output: kind, run: () => 'small' as const, verify: () => ({ done: true, output: 1 }) })) // biome-ignore format: one line
  })
})

describe('a workflow takes its types', () => {
  it('from its schemas', () => {
    const fulfil = workflow('fulfil', {
      input: Order,
      output: Receipt,
      async run(order, context) {
        expectTypeOf(order).toEqualTypeOf<OrderParsed>()
        expectTypeOf(context).toEqualTypeOf<TaskContext>()
        return { chargeId: order.id, at: context.now() }
      },
    })
    expectTypeOf(fulfil).toEqualTypeOf<Workflow<OrderInput, ReceiptJson>>()
  })

  it('from run', () => {
    const plain = workflow('plain', { run: async (input: { n: number }) => ({ m: input.n, at: new Date(0) }) })
    expectTypeOf(plain).toEqualTypeOf<Workflow<{ n: number }, { m: number; at: string }>>()
    // @ts-expect-error the output schema wants a receipt
    void (() => workflow('bad', { output: Receipt, run: async () => 1 }))
  })
})

const purchase = workflow('purchase', {
  signals: { paid: z.object({ by: z.string(), at: z.coerce.date<string>() }), nudged: z.string().nullable() },
  async run(order: { id: string }, context) {
    const event = () => context.waitForSignal('paid', { timeout: '1d' })
    expectTypeOf(event).returns.resolves.toEqualTypeOf<{ by: string; at: Date }>()
    expectTypeOf(() => context.waitForSignal('nudged')).returns.resolves.toEqualTypeOf<string | null>()
    expectTypeOf(() => context.waitForSignal('other')).returns.resolves.toEqualTypeOf<unknown>()
    expectTypeOf(() => context.waitForSignal('paid', { schema: z.number() })).returns.resolves.toEqualTypeOf<number>()
    return helped(context, order.id)
  },
})
const helped = async (context: TaskContext, id: string): Promise<number> =>
  (await context.waitForSignal<number>('n')) + id.length

describe('a workflow that declares its signals', () => {
  it('types what is sent to its tasks', () => {
    expectTypeOf(purchase).toExtend<Workflow>()
    void (async (triarch: Triarch) => {
      const task = await triarch.submit(purchase, { id: 'a' })
      expectTypeOf(task.result).returns.resolves.toEqualTypeOf<number>()
      await task.signal('paid', { by: 'card', at: '2026-01-01' })
      await task.signal('nudged')
      await task.signal('nudged', 'twice')
      await triarch.tasks.get('a', purchase).signal('paid', { by: 'card', at: '2026-01-01' })
      await triarch.tasks.get('a').signal('anything', { at: 'all' })
      await (await triarch.submit(child, { n: 1 })).signal('anything')
      // @ts-expect-error the payload is missing
      await task.signal('paid')
      // @ts-expect-error its payload has a `by`
      await task.signal('paid', { at: '2026-01-01' })
      // @ts-expect-error it takes no such signal
      await task.signal('payed', { by: 'card', at: '2026-01-01' })
      // @ts-expect-error the same by its id
      await triarch.tasks.get('a', purchase).signal('paid', 1)
    })
    // @ts-expect-error a signal is declared by a schema
    void (() => workflow('bad-events', { signals: { paid: 'string' }, run: async () => 1 }))
    // @ts-expect-error a plan waits for no signals
    void (() => workflow('bad-plan', { signals: { paid: z.string() }, plan: () => 1 }))
  })
})

const charge = shop.action('pay', { input: Order, output: Receipt, run: () => ({ chargeId: '', at: new Date(0) }) })
const child = workflow('child', { run: async (input: { n: number }) => input.n })

describe('a task context', () => {
  it('runs actions with their own types', () => {
    const run = () => task.run(charge, { id: 'a', total: '1' }, { attemptWithin: '1s', rescue: { skip: null } })
    expectTypeOf(run).returns.resolves.toEqualTypeOf<ReceiptJson>()
    // @ts-expect-error the total is missing
    void (() => task.run(charge, { id: 'a' }))
    // @ts-expect-error the total must be the schema's input
    void (() => task.run(charge, { id: 'a', total: 1 }))
    // @ts-expect-error there is no such field
    void (() => task.run(charge, { id: 'a', total: '1', extra: true }))
    // @ts-expect-error a predicate cannot be recorded with a step
    void (() => task.run(charge, { id: 'a', total: '1' }, { retry: { retryIf: () => true } }))
  })

  it('from the parameter of its function, a transaction', () => {
    interface Client {
      query(text: string): void
    }
    const book = () =>
      task.transaction('book', async (tx: Client) => ({ at: new Date(0), sent: tx.query('') }), {
        isolation: 'serializable',
        undo(tx, { output }) {
          expectTypeOf(tx).toEqualTypeOf<Client>()
          expectTypeOf(output.at).toEqualTypeOf<string>()
        },
      })
    expectTypeOf(book).returns.resolves.toHaveProperty('at').toEqualTypeOf<string>()
    const look = () => task.transaction('look', (tx, step) => [tx, step.attempt])
    expectTypeOf(look).returns.resolves.toBeArray()
  })

  it('runs local steps with what JSON makes of their result', () => {
    const run = () =>
      task.run('local', async () => ({ at: new Date(0), n: 1 as number | undefined }), {
        undo: ({ output }) => {
          expectTypeOf(output.at).toEqualTypeOf<string>()
        },
      })
    expectTypeOf(run).returns.resolves.toEqualTypeOf<{ at: string; n: number | undefined }>()
  })

  it('types signals by their schema, children by their workflow', () => {
    const event = () => task.waitForSignal('approved', { schema: z.object({ by: z.string() }), timeout: '2d' })
    expectTypeOf(event).returns.resolves.toEqualTypeOf<{ by: string }>()
    expectTypeOf(() => task.waitForSignal('x')).returns.resolves.toEqualTypeOf<unknown>()
    expectTypeOf(() => task.waitForSignal<number>('x')).returns.resolves.toEqualTypeOf<number>()
    expectTypeOf(() => task.call(child, { n: 1 })).returns.resolves.toEqualTypeOf<number>()
    // @ts-expect-error n must be a number
    void (() => task.call(child, { n: '1' }))
    // @ts-expect-error n is missing
    void (() => task.start(child, {}))
  })

  it('keeps Promise.all tuples', () => {
    const both = async () => Promise.all([task.run(charge, { id: 'a', total: '1' }), task.call(child, { n: 1 })])
    expectTypeOf(both).returns.resolves.toEqualTypeOf<[ReceiptJson, number]>()
  })
})

describe('types of the pieces', () => {
  it('any action and workflow fits where the kind does not matter', () => {
    expectTypeOf(charge).toExtend<Action>()
    expectTypeOf(child).toExtend<Workflow>()
    expectTypeOf<Action<string, string>>().not.toExtend<Action<number, string>>()
    expectTypeOf<Workflow<string, string>>().not.toExtend<Workflow<string, number>>()
  })

  it('Jsonified says what comes back from JSON', () => {
    expectTypeOf<Jsonified<undefined>>().toEqualTypeOf<null>()
    expectTypeOf<Jsonified<unknown>>().toEqualTypeOf<unknown>()
    expectTypeOf<Jsonified<[Date, number, undefined]>>().toEqualTypeOf<[string, number, null]>()
    expectTypeOf<Jsonified<{ a?: Date; b(): void; c: readonly URL[] }>>().toEqualTypeOf<{
      a?: string
      c: readonly string[]
    }>()
    expectTypeOf<Jsonified<'a' | Date | null>>().toEqualTypeOf<string | null>()
    expectTypeOf<Jsonified<() => void>>().toEqualTypeOf<never>()
  })

  it('schemas and durations', () => {
    expectTypeOf(Order).toExtend<StandardSchema<OrderInput, OrderParsed>>()
    expectTypeOf<InferInput<typeof Order>>().toEqualTypeOf<OrderInput>()
    expectTypeOf<InferOutput<typeof Order>>().toEqualTypeOf<OrderParsed>()
    expectTypeOf<'30s'>().toExtend<Duration>()
    expectTypeOf<'30x'>().not.toExtend<Duration>()
  })
})
