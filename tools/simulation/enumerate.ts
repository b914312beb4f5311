import type { CallFault, Plan } from './plan.ts'
import { type Report, run } from './run.ts'

export type Strike = Exclude<CallFault, 'slow' | 'unanswered'>

/** What can happen at each call. */
export const strikes: readonly Strike[] = ['crash-before', 'crash-after', 'unheard', 'refused', 'busy', 'twice']

export interface Enumeration {
  runs: number
  /** Faults that fired, by kind. */
  fired: Record<string, number>
  elapsed: number
  /** Empty when every run kept every rule. */
  failures: { plan: Plan; violations: string[] }[]
}

/**
 * The scenario undisturbed, then again and again, each time with one fault at the next call that found or changed
 * something: until there is no such call left. Up to the fault each run is the undisturbed one, so none is missed.
 */
export async function enumerate(
  plan: Plan,
  faults: readonly Strike[] = strikes,
  tell: (report: Report) => void = () => undefined,
): Promise<Enumeration> {
  const result: Enumeration = { runs: 0, fired: {}, elapsed: 0, failures: [] }
  const one = async (variant: Plan) => {
    const report = await run(variant)
    result.runs++
    result.elapsed += report.elapsed
    for (const [kind, count] of Object.entries(report.fired)) result.fired[kind] = (result.fired[kind] ?? 0) + count
    if (report.violations.length > 0) result.failures.push({ plan: variant, violations: report.violations })
    tell(report)
    return report
  }
  const { moments } = await one(plan)
  for (const index of moments) for (const fault of faults) await one({ ...plan, strike: { index, fault } })
  return result
}
