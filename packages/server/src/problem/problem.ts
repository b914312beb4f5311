import { type ErrorCode, errorCatalogue, isTriarchError } from 'triarch'
import { type ProblemStatus, type Refusal, refusals, statuses } from './status.ts'

/** One place of a request, and what is wrong with it. */
export interface Fault {
  path: string
  message: string
}

/** Problem details: RFC 9457. */
export interface Problem {
  type: string
  title: string
  status: ProblemStatus
  detail: string
  code: ErrorCode | Refusal
  details?: unknown
  errors?: readonly Fault[]
}

/** A request that is refused before the engine is asked. */
export class Refused extends Error {
  readonly code: Refusal
  readonly errors: readonly Fault[]
  readonly details: unknown

  constructor(code: Refusal, message: string, errors: readonly Fault[] = [], details?: unknown) {
    super(message)
    this.code = code
    this.errors = errors
    this.details = details
  }
}

const docs = 'https://github.com/triarch-dev/triarch/blob/main/docs'
/** When what passes is worth another try (s). */
const AGAIN = '1'

/**
 * What a client is told of an error. Of those that are not its own it hears what the catalogue says, never the words of the error, in which
 * there may be anything; `onError` hears those.
 */
export function problemOf(error: unknown, onError: (error: unknown) => void): Problem {
  if (error instanceof Refused) {
    const { code, message, errors, details } = error
    return {
      ...refusal(code, message),
      ...(errors.length > 0 && { errors }),
      ...(details !== undefined && { details }),
    }
  }
  if (!isTriarchError(error) || !Object.hasOwn(statuses, error.code)) {
    onError(error)
    return refusal('INTERNAL')
  }
  const { code, details } = error
  const status = statuses[code]
  const [title, advice] = parted(errorCatalogue[code])
  const type = `${docs}/reference/errors.md#${code.toLowerCase()}`
  if (status < 500)
    return { type, title, status, detail: error.message, code, ...(details !== undefined && { details }) }
  onError(error)
  return { type, title, status, detail: advice, code }
}

export function responseOf(problem: Problem, headers: Record<string, string> = {}): Response {
  const { status } = problem
  return new Response(JSON.stringify(problem), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
      ...((status === 503 || status === 429) && { 'retry-after': AGAIN }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...headers,
    },
  })
}

function refusal(code: Refusal, detail?: string): Problem {
  const [status, text] = refusals[code]
  const [title, advice] = parted(text)
  return { type: `${docs}/concepts/server.md#problems`, title, status, detail: detail ?? advice, code }
}

/** `What it means: what to do.` */
function parted(text: string): [meaning: string, advice: string] {
  const at = text.indexOf(': ')
  const advice = text.slice(at + 2)
  return [text.slice(0, at), advice.charAt(0).toUpperCase() + advice.slice(1)]
}
