import { expect } from 'vitest'
import type { ErrorCode } from '../../src/error/catalogue.ts'
import { isTriarchError, type TriarchError } from '../../src/error/error.ts'

/** Runs what must raise a TriarchError of this code, and gives the error. */
export function raises(code: ErrorCode, fn: () => unknown): TriarchError {
  try {
    fn()
  } catch (error) {
    if (isTriarchError(error, code)) return error
    throw error
  }
  return expect.fail(`nothing was thrown, but should have been: ${code}`)
}
