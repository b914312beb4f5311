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
}

export const statuses: readonly HealthStatus[] = ['ok', 'warning', 'critical']

/** Characters of a message. */
const LONGEST = 1_000

export function worst(found: readonly HealthStatus[]): HealthStatus {
  return statuses[Math.max(0, ...found.map((status) => statuses.indexOf(status)))] ?? 'ok'
}

/** What was answered, whatever that is: `failing` is what a failure counts. Never throws. */
export function judged(answer: unknown, failing: HealthStatus): Finding {
  try {
    if (answer === undefined || answer === null || answer === true) return { status: 'ok' }
    if (answer === false) return { status: failing }
    const { status, message, observed } = answer as Finding
    if (!statuses.includes(status) || (message !== undefined && typeof message !== 'string'))
      return { status: failing, message: 'the check answered what is no finding' }
    return {
      status,
      ...(message !== undefined && { message: message.slice(0, LONGEST) }),
      ...(observed !== undefined && { observed }),
    }
  } catch {
    return { status: failing, message: 'the check answered what cannot be read' }
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
