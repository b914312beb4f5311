import { type JsonBounds, readJson } from 'triarch'
import { Refused } from '../problem/problem.ts'

/**
 * What the text says as JSON, if nothing is lost by it. Throws INVALID_JSON, also for what is deeper or wider than the bounds, and
 * INEXACT_NUMBER.
 */
export function parseJson(text: string, bounds: JsonBounds): unknown {
  const read = readJson(text, bounds)
  if (!('problem' in read)) return read.value
  throw new Refused(read.problem === 'inexact' ? 'INEXACT_NUMBER' : 'INVALID_JSON', `the body ${read.message}`)
}
