import { type ErrorCode, isErrorCode, TriarchError } from 'triarch/contract'

/** What the server refuses before the engine is asked, where the engine has a word for it. */
const words: Readonly<Record<string, ErrorCode>> = {
  INVALID_REQUEST: 'INVALID_OPTION',
  BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  INTERNAL: 'SERVER_FAILED',
  STOPPING: 'NODE_STOPPED',
}

/** The error that an answer tells of: problem details (RFC 9457), or what a gateway says without any. */
export function errorOf(status: number, body: unknown): TriarchError {
  const { code, title, detail, details, errors } = membersOf(body)
  const said = [status >= 500 ? title : undefined, detail ?? title].filter((text) => typeof text === 'string')
  const message = (said.join('. ') || `the server answered ${status}`).slice(0, 8_192)
  if (isErrorCode(code))
    return new TriarchError(code, message, details === undefined ? {} : { details: details as null })
  const faults = Array.isArray(errors) ? { errors } : {}
  const { right } = membersOf(details)
  const lacking = typeof right === 'string' ? { right } : {}
  if (typeof code === 'string')
    return new TriarchError(words[code] ?? 'REQUEST_REFUSED', message, {
      details: { code, status, ...faults, ...lacking },
    })
  if (isPassing(status)) return new TriarchError('SERVER_UNREACHABLE', message, { details: { status } })
  const refused = status >= 400 && status < 500
  return new TriarchError(refused ? 'REQUEST_REFUSED' : 'SERVER_ANSWER_INVALID', message, { details: { status } })
}

/** Worth to be asked again: the server, or what stands before it, has no time or no way now. */
export function isPassing(status: number): boolean {
  return [408, 425, 429, 502, 503, 504].includes(status)
}

function membersOf(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
}
