import type { Json } from '../kernel/json.ts'

type Callable = (...args: never[]) => unknown
/** Types that are refused (UNSERIALISABLE), because JSON would lose their content. */
type Unserialisable =
  | Callable
  | symbol
  | bigint
  | PromiseLike<unknown>
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | RegExp
  | ArrayBuffer
  | ArrayBufferView
/** Responses, requests, blobs, and lists such as headers, which JSON turns into `{}`. */
type Empty =
  | { arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> }
  | { append(name: string, value: never): void; delete(name: string): void; has(name: string): boolean }
/** Undefined, and the result of a function that returns nothing. */
type Nothing = ReturnType<() => void>

/**
 * The type a value has after it went through JSON: a date is a string, methods are gone, undefined is null.
 * @example const recorded: Jsonified<{ at: Date; by: string }> = { at: '2026-01-01T00:00:00.000Z', by: 'anna' }
 */
export type Jsonified<T> = unknown extends T
  ? T
  : Json extends T
    ? T
    : T extends Unserialisable
      ? never
      : T extends { toJSON(key?: string): infer R }
        ? Jsonified<R>
        : T extends string | number | boolean | null
          ? T
          : T extends Nothing
            ? null
            : T extends Empty
              ? Record<never, never>
              : T extends readonly unknown[]
                ? { [K in keyof T]: Jsonified<T[K]> }
                : T extends object
                  ? { [K in keyof T as K extends symbol ? never : T[K] extends Callable ? never : K]: Property<T[K]> }
                  : never

/** A property that may be absent stays optional. */
type Property<T> = unknown extends T ? T : T extends undefined ? T : Jsonified<T>

/**
 * An input's type as it arrives after JSON, down to five levels, because recursive types have no end. Refused types are kept, because such
 * values are refused before they could arrive changed; an optional one, such as a callback, may be left out.
 */
type Arriving<T, Depth extends unknown[] = []> = Depth['length'] extends 5
  ? T
  : unknown extends T
    ? T
    : Json extends T
      ? T
      : T extends string | number | boolean | null | undefined | Unserialisable
        ? T
        : T extends { toJSON(key?: string): infer R }
          ? Arriving<R, [...Depth, 0]>
          : T extends Empty
            ? Record<never, never>
            : T extends object
              ? { [K in keyof T]: T[K] extends Callable ? null : Arriving<T[K], [...Depth, 0]> }
              : T

/**
 * The type that callers must pass: the input itself, or a type that cannot be satisfied if JSON would change the input without `run`
 * noticing.
 */
export type GivenInput<I> = [Arriving<I>] extends [I] ? I : I & NeedsInputSchema<I>

/** The definition needs an `input` schema that accepts the input after JSON: of a Date, a string. */
export interface NeedsInputSchema<I> {
  /** The type of the input after JSON. */
  readonly '~needs an input schema, for it arrives as': Jsonified<I>
}

/** Allows the input to be omitted if the action takes none. */
export type WithoutInput<I> = null extends I ? unknown : MissingInput<I>

/** A compiler message: the input is missing. */
export interface MissingInput<I> {
  /** The type of the missing input. */
  readonly '~give its input': I
}
