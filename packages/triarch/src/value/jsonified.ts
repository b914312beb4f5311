import type { Json } from '../kernel/json.ts'

type Callable = (...args: never[]) => unknown
/** What is refused (UNSERIALISABLE), for JSON would lose what is in it. */
type Refused =
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
/** Responses, requests, blobs, and lists such as headers: JSON makes `{}` of them. */
type Empty =
  | { arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> }
  | { append(name: string, value: never): void; delete(name: string): void; has(name: string): boolean }
/** Undefined, and what a function without a result returns. */
type Nothing = ReturnType<() => void>

/**
 * The type a value has after it went through JSON: a date is a string, methods are gone, undefined is null.
 * @example const recorded: Jsonified<{ at: Date; by: string }> = { at: '2026-01-01T00:00:00.000Z', by: 'anna' }
 */
export type Jsonified<T> = unknown extends T
  ? T
  : Json extends T
    ? T
    : T extends Refused
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

/** A property may be absent, and stays so. */
type Property<T> = unknown extends T ? T : T extends undefined ? T : Jsonified<T>

/**
 * An input as it arrives, down to five levels: recursive types have no last. What is refused cannot arrive as something else; what
 * may be absent, such as a callback, is taken to be.
 */
type Arriving<T, Depth extends unknown[] = []> = Depth['length'] extends 5
  ? T
  : unknown extends T
    ? T
    : Json extends T
      ? T
      : T extends string | number | boolean | null | undefined | Refused
        ? T
        : T extends { toJSON(key?: string): infer R }
          ? Arriving<R, [...Depth, 0]>
          : T extends Empty
            ? Record<never, never>
            : T extends object
              ? { [K in keyof T]: T[K] extends Callable ? null : Arriving<T[K], [...Depth, 0]> }
              : T

/** What callers give: the input, or what cannot be given where JSON would make something else of it, and `run` would be none the wiser. */
export type Given<I> = [Arriving<I>] extends [I] ? I : I & NeedsInputSchema<I>

/** The definition needs an `input` schema that takes what JSON makes of the input: of a Date, a string. */
export interface NeedsInputSchema<I> {
  /** What JSON makes of it. */
  readonly '~needs an input schema, for it arrives as': Jsonified<I>
}

/** Of what takes no input, it need not be given. */
export type WithoutInput<I> = null extends I ? unknown : MissingInput<I>

/** It takes an input. */
export interface MissingInput<I> {
  /** What it takes. */
  readonly '~give its input': I
}
