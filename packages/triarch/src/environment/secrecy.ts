import { randomBytes } from 'node:crypto'

/** Bytes drawn from the system at a time, because a call for a few bytes costs more than the rest of an encryption. */
const POOL = 4_096
let pool: Buffer = Buffer.alloc(0)

/** Cryptographically random bytes. They differ in each run, so no decision of the engine may depend on them. */
export function unguessable(size: number): Buffer {
  if (size > POOL) return randomBytes(size)
  if (pool.length < size) pool = randomBytes(POOL)
  const bytes = pool.subarray(0, size)
  pool = pool.subarray(size)
  return bytes
}
