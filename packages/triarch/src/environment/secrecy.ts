import { randomBytes } from 'node:crypto'

/** Drawn from the system at a time: calls for a few bytes each would cost more than all the rest of an encryption. */
const POOL = 4_096
let pool: Buffer = Buffer.alloc(0)

/** Bytes that nobody can guess. No run can repeat them, so nothing that the engine decides may depend on them. */
export function unguessable(size: number): Buffer {
  if (size > POOL) return randomBytes(size)
  if (pool.length < size) pool = randomBytes(POOL)
  const bytes = pool.subarray(0, size)
  pool = pool.subarray(size)
  return bytes
}
