import {
  type ErrorCode,
  PermanentError,
  readJson,
  TransientError,
  TriarchError,
  UnknownOutcomeError,
  type Verification,
} from 'triarch'
import { now } from '../environment.ts'
import { type Answer, NoAnswer } from '../outbound/outbound.ts'

/** The service is there, and asks for another try. */
const again: readonly number[] = [408, 425, 429]
/** A gateway says that it got no answer that it could use: whether the service did it, it cannot know. */
const between: readonly number[] = [502, 504]
/** What an error says of a body. */
const SHOWN = 500

/** What a 2xx says. Throws what the others mean; INVALID_OUTPUT where the work is done and nobody can read what came of it. */
export function outputOf(what: string, { status, headers, body }: Answer): unknown {
  if (status >= 200 && status < 300) {
    if (body === null) throw new TriarchError('INVALID_OUTPUT', `${what}: the answer has too many bytes`)
    if (body === '') return null
    const read = readJson(body)
    if (!('problem' in read)) return read.value
    throw new TriarchError('INVALID_OUTPUT', `${what}: the answer ${read.message}: ${body.slice(0, SHOWN)}`)
  }
  const said = `${what} answered ${status}${body ? `: ${body.slice(0, SHOWN)}` : ''}`
  if (status >= 300 && status < 400) throw new PermanentError(`${said} (a redirect is not followed)`)
  if (status < 500 && !again.includes(status)) throw new PermanentError(said)
  const retryAfter = waitOf(headers['retry-after'])
  const wait = retryAfter === undefined ? {} : { retryAfter }
  throw between.includes(status) ? new UnknownOutcomeError(said, wait) : new TransientError(said, wait)
}

/** Of an operation that cannot wait for a token: a 202 is no answer. Throws ANSWER_DEFERRED. */
export function answeredNow(what: string, operation: 'undo' | 'verify', answer: Answer): Answer {
  if (answer.status !== 202) return answer
  const message = `${what} answered 202 to ${operation}, which cannot wait: it answers when that is done`
  throw Object.assign(new PermanentError(message), { code: 'ANSWER_DEFERRED' satisfies ErrorCode })
}

/** What verify answers, as an action's would. Throws INVALID_OUTPUT. */
export function verificationOf(what: string, answer: Answer): Verification<unknown> {
  const told = outputOf(what, answer)
  const done = typeof told === 'object' && told !== null && 'done' in told ? told.done : undefined
  if (done === false || done === 'unknown') return { done }
  if (done === true) return { done, output: (told as { output?: unknown }).output ?? null }
  throw new TriarchError(
    'INVALID_OUTPUT',
    `${what}: verify answers { "done": true, "output" }, { "done": false } or { "done": "unknown" }`,
  )
}

/** What it means that no answer came. */
export function lossOf(what: string, error: unknown): Error {
  if (!(error instanceof NoAnswer)) return error as Error
  const { message, unsent, cause } = error
  return unsent
    ? new TransientError(`${what} was not reached: ${message}`, { cause })
    : new UnknownOutcomeError(`${what} did not answer: ${message}`, { cause })
}

/** Seconds, or an instant; ms. Whoever throws it bounds it. */
function waitOf(header: string | string[] | undefined): number | undefined {
  const said = Array.isArray(header) ? header[0] : header
  if (said === undefined) return undefined
  const wait = /^\d+$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - now()
  return Number.isNaN(wait) ? undefined : Math.min(Number.MAX_VALUE, Math.max(0, wait))
}
