import type { Json } from '../kernel/json.ts'

type Callable = (...args: never[]) => unknown
/** Undefined, and what a function without a result returns. */
type Nothing = ReturnType<() => void>

/** The type a value has after it went through JSON: a date is a string, methods are gone, undefined is null. */
export type Jsonified<T> = unknown extends T
  ? T
  : Json extends T
    ? T
    : T extends { toJSON(key?: string): infer R }
      ? Jsonified<R>
      : T extends string | number | boolean | null
        ? T
        : T extends Nothing
          ? null
          : T extends Callable | symbol | bigint
            ? never
            : T extends readonly unknown[]
              ? { [K in keyof T]: Jsonified<T[K]> }
              : T extends object
                ? { [K in keyof T as K extends symbol ? never : T[K] extends Callable ? never : K]: Property<T[K]> }
                : never

/** A property may be absent, and stays so. */
type Property<T> = unknown extends T ? T : T extends undefined ? T : Jsonified<T>
