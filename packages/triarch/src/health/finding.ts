import { type HealthCode, type HealthDetails, messages } from './message.ts'

/**
 * How something is. `warning`: somebody should look; `critical`: it does not do its work.
 * @example const worst = (statuses: HealthStatus[]) => statuses.includes('critical')
 */
export type HealthStatus = 'ok' | 'warning' | 'critical'

/**
 * What a check of the user's own found.
 * @example const finding: HealthFinding = { status: 'warning', message: 'the balance is low' }
 */
export interface HealthFinding {
  /** How it is. */
  status: HealthStatus
  /** What was seen, for people: its first 1,000 characters are kept; none. */
  message?: string
}

/**
 * A check of the user's own. Nothing, or true: all is well; false: it is not. What it throws, and any other answer, is a failure of what it
 * looks at. The signal aborts when nobody waits any more.
 * @example
 * const bank: HealthCheck = async (signal) => {
 *   const { ok } = await fetch('https://bank.example.com/ping', { signal })
 *   return ok
 * }
 */
export type HealthCheck = (signal: AbortSignal) => HealthAnswer | Promise<HealthAnswer>

/**
 * What a check may answer.
 * @example const well: HealthAnswer = true
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is a check
export type HealthAnswer = boolean | HealthFinding | null | undefined | void

/**
 * What a check of the engine saw, besides: numbers and names, for machines.
 * @example const latency = (values: HealthValues) => Number(values.latency)
 */
export type HealthValues = Readonly<Record<string, number | string | boolean>>

/** As a check of the engine's own tells it. */
export interface Finding extends HealthFinding {
  observed?: HealthValues
  /** Which message it is, and what that is made of. */
  code?: HealthCode
  details?: HealthValues
}

/** A finding with its words; `details`: null where they are the same each time. */
export function finding<C extends HealthCode>(
  status: HealthStatus,
  code: C,
  details: HealthDetails[C],
  observed?: HealthValues,
): Finding {
  const made: HealthValues | null = details
  const message = messages[code](details)
  return { status, code, message, ...(made && { details: made }), ...(observed && { observed }) }
}

/** Rows that are named, at most. */
const NAMED = 5

export function named(names: readonly string[]): { names: string; more: number } {
  return { names: names.slice(0, NAMED).join(', '), more: Math.max(0, names.length - NAMED) }
}

export const statuses: readonly HealthStatus[] = ['ok', 'warning', 'critical']

/** Characters of a message. */
const LONGEST = 1_000

export function worst(found: readonly HealthStatus[]): HealthStatus {
  return statuses[Math.max(0, ...found.map((status) => statuses.indexOf(status)))] ?? 'ok'
}

/** What was answered, whatever that is: `failing` is what a failure counts, `own`: of a check of the engine's own. Never throws. */
export function judged(answer: unknown, failing: HealthStatus, own: boolean): Finding {
  try {
    if (answer === undefined || answer === null || answer === true) return { status: 'ok' }
    if (answer === false) return { status: failing }
    const { status, message, observed, code, details } = answer as Finding
    if (!statuses.includes(status) || (message !== undefined && typeof message !== 'string'))
      return finding(failing, 'no-finding', null)
    return {
      status,
      ...(message !== undefined && { message: message.slice(0, LONGEST) }),
      ...(observed !== undefined && { observed }),
      // Of the engine's own, or of nobody's.
      ...(own && code !== undefined && { code }),
      ...(own && details !== undefined && { details }),
    }
  } catch {
    return finding(failing, 'unreadable-finding', null)
  }
}

/** What a check threw, in words. Never throws. */
export function thrownText(error: unknown): string {
  try {
    const { code, message } = error as { code?: unknown; message?: unknown }
    const said = typeof message === 'string' && message !== '' ? message : String(error)
    return (typeof code === 'string' ? `${code}: ${said}` : said).slice(0, LONGEST)
  } catch {
    return 'the check threw what cannot be read'
  }
}
