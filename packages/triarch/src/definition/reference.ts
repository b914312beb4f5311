import { TriarchError } from '../error/error.ts'
import type { Jsonified } from '../value/jsonified.ts'

declare const referent: unique symbol

/**
 * A value that is known once its step is done. Its parts are references too (`db.output.addresses[0]`). It may be used anywhere inside the
 * input of a later step, which then waits for it.
 * @example const id: Reference<string> = plan.step(charge, { id: 'o-1', amount: 10 }).output.id
 */
export type Reference<T = unknown> = { readonly [referent]: T } & Parts<NonNullable<T>>

type Parts<T> = unknown extends T
  ? { readonly [key: string]: Reference }
  : T extends readonly (infer E)[]
    ? { readonly [index: number]: Reference<E> }
    : T extends object
      ? { readonly [K in keyof T]-?: Reference<Exclude<T[K], undefined>> }
      : unknown

/**
 * A step that was planned, or everything that an action planned.
 * @example const { output }: Planned<{ id: string }> = plan.step(charge, { id: 'o-1', amount: 10 })
 */
export interface Planned<O = unknown> {
  /** The future output, which may be used in the input of any later step, or in the return value of `plan`. */
  readonly output: Reference<O>
}

/** A value, or references anywhere in it. */
export type Templated<T> = T | Reference<T> | (T extends object ? { readonly [K in keyof T]: Templated<T[K]> } : never)

/** The type of a value when all its references are resolved. */
export type Resolved<T> = T extends { readonly [referent]: infer V }
  ? V
  : T extends { toJSON(key?: string): unknown }
    ? Jsonified<T>
    : T extends readonly unknown[]
      ? { -readonly [K in keyof T]: Resolved<T[K]> }
      : T extends object
        ? { -readonly [K in keyof T]: Resolved<T[K]> }
        : Jsonified<T>

/** The meaning of a reference: an operation and its arguments, which may contain references. */
export interface Expression {
  operation: string
  /** Arguments; of `output`, the step. */
  of: readonly unknown[]
  path: readonly (string | number)[]
  /** The plan that an output belongs to. */
  plan: object | null
}

const known: WeakMap<object, Expression> = new WeakMap()

/** The expression of a reference; undefined for any other value. */
export function expressionOf(value: unknown): Expression | undefined {
  return typeof value === 'object' && value !== null ? known.get(value) : undefined
}

export function newReference<T>(expression: Expression): Reference<T> {
  const reference = new Proxy({}, handler)
  known.set(reference, expression)
  return reference as Reference<T>
}

/** Makes parts of a reference references; any access that needs the value itself is refused. */
const handler: ProxyHandler<object> = {
  get(_, key, reference: object) {
    if (key === Symbol.toPrimitive) return () => refuse()
    if (typeof key === 'symbol') return undefined
    const expression = known.get(reference) as Expression
    const step = /^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : key
    return newReference({ ...expression, path: [...expression.path, step] })
  },
  ownKeys: () => refuse(),
  set: () => refuse(),
}

function refuse(): never {
  throw new TriarchError('PLAN_MISUSE', 'a reference has no value while planning: use the operations of `ref`')
}

type ReferenceValue<T> = Templated<T>

function operation<T>(name: string, of: readonly unknown[]): Reference<T> {
  return newReference<T>({ operation: name, of, path: [], plan: null })
}

/**
 * Pure operations on references, evaluated when the values are known. They can be nested.
 * @example
 * const { output } = plan.step(charge, { id: 'o-1', amount: 10 })
 * plan.step(ship, { id: 'o-1', charge: ref.text`charge ${output.id}` })
 */
export const ref = {
  /** A text with references in it: ref.text`http://${db.output.address}/`. Values other than texts appear as JSON. */
  text: (texts: TemplateStringsArray, ...values: readonly unknown[]): Reference<string> =>
    operation(
      'text',
      texts.flatMap((text, index) => (index < values.length ? [text, values[index]] : [text])),
    ),
  /** The value, or another one if it is missing or null. */
  or: <T>(value: ReferenceValue<T | null | undefined>, otherwise: ReferenceValue<T>): Reference<T> =>
    operation('or', [value, otherwise]),
  /** One of two values, chosen by whether the first one is true. */
  when: <A, B>(is: ReferenceValue<unknown>, then: ReferenceValue<A>, otherwise: ReferenceValue<B>): Reference<A | B> =>
    operation('when', [is, then, otherwise]),
  equals: (a: unknown, b: unknown): Reference<boolean> => operation('equals', [a, b]),
  /** Number of items of a list, or of characters of a text. */
  length: (of: ReferenceValue<readonly unknown[] | string>): Reference<number> => operation('length', [of]),
  /** One property of each item of a list. */
  pluck: <T, K extends keyof T & string>(list: Reference<readonly T[]> | Reference<T[]>, key: K): Reference<T[K][]> =>
    newReference({ operation: 'pluck', of: [list, key], path: [], plan: null }),
  concat: <T>(...lists: readonly ReferenceValue<readonly T[]>[]): Reference<T[]> => operation('concat', lists),
  /** Merges objects; keys of the later one win. */
  merge: <A extends object, B extends object>(a: ReferenceValue<A>, b: ReferenceValue<B>): Reference<A & B> =>
    operation('merge', [a, b]),
  join: (list: ReferenceValue<readonly unknown[]>, separator?: string): Reference<string> =>
    operation('join', [list, separator ?? ',']),
}
