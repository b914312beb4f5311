// Where time and chance come from, and nowhere else in this package.
import { randomBytes } from 'node:crypto'

/** Milliseconds that only grow. */
export function monotonic(): number {
  return performance.now()
}

/** So many random bytes, in hexadecimal; never all zero, which is no id. */
export function randomHex(bytes: number): string {
  const text = randomBytes(bytes).toString('hex')
  return /^0+$/.test(text) ? randomHex(bytes) : text
}

/** How long ago it was, by this machine's clock (s). */
export function age(instant: Date): number {
  return (Date.now() - instant.getTime()) / 1_000
}

/** What the promise resolves to; `late` when it takes longer than so many ms. It rejects as the promise does. */
export async function within<T, L>(ms: number, promise: Promise<T>, late: L): Promise<T | L> {
  const { promise: over, resolve } = Promise.withResolvers<L>()
  const timer = setTimeout(() => resolve(late), ms)
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}
