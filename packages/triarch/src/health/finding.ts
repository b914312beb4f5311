import { type HealthCode, type HealthDetails, messages } from './message.ts'

/**
 * A health status. `warning`: an operator should look; `critical`: the part does not work.
 * @example const worst = (statuses: HealthStatus[]) => statuses.includes('critical')
 */
export type HealthStatus = 'ok' | 'warning' | 'critical'

/**
 * The result of a user's check.
 * @example const finding: HealthFinding = { status: 'warning', message: 'the balance is low' }
 */
export interface HealthFinding {
  /** The status. */
  status: HealthStatus
  /** A description for people, of which the first 1,000 characters are kept; none. */
  message?: string
}

/**
 * A user's check. Nothing, or true: all is well; false: it is not. An error, or any other result, is a failure of what it
 * checks. The signal aborts when the result is not awaited any more.
 * @example
 * const bank: HealthCheck = async (signal) => {
 *   const { ok } = await fetch('https://bank.example.com/ping', { signal })
 *   return ok
 * }
 */
export type HealthCheck = (signal: AbortSignal) => HealthAnswer | Promise<HealthAnswer>

/**
 * The result of a check.
 * @example const well: HealthAnswer = true
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is a check
export type HealthAnswer = boolean | HealthFinding | null | undefined | void

/**
 * Observations of a check of the engine, as numbers and names for programs.
 * @example const latency = (values: HealthValues) => Number(values.latency)
 */
export type HealthValues = Readonly<Record<string, number | string | boolean>>

/** The result of the engine's own checks. */
export interface Finding extends HealthFinding {
  observed?: HealthValues
  /** The code of the message, and its details. */
  code?: HealthCode
  details?: HealthValues
}

/** A finding with its message; `details`: null if the message has none. */
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

/** Largest number of names in a message. */
const NAMED = 5

export function shortenedNames(names: readonly string[]): { names: string; more: number } {
  return { names: names.slice(0, NAMED).join(', '), more: Math.max(0, names.length - NAMED) }
}

export const statuses: readonly HealthStatus[] = ['ok', 'warning', 'critical']

/** Longest message (characters). */
const LONGEST = 1_000

export function worst(found: readonly HealthStatus[]): HealthStatus {
  return statuses[Math.max(0, ...found.map((status) => statuses.indexOf(status)))] ?? 'ok'
}

/** Converts the answer of a check, whatever it is. `failing`: the status of a failure; `own`: it is a check of the engine. Never throws. */
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
      // Only checks of the engine may set these.
      ...(own && code !== undefined && { code }),
      ...(own && details !== undefined && { details }),
    }
  } catch {
    return finding(failing, 'unreadable-finding', null)
  }
}

/** The error of a check as text. Never throws. */
export function thrownText(error: unknown): string {
  try {
    const { code, message } = error as { code?: unknown; message?: unknown }
    const said = typeof message === 'string' && message !== '' ? message : String(error)
    return (typeof code === 'string' ? `${code}: ${said}` : said).slice(0, LONGEST)
  } catch {
    return 'the check threw what cannot be read'
  }
}
