import type { ErrorCode } from '../error/catalogue.ts'
import { TriarchError } from '../error/error.ts'
import type { AgentResponse } from './message.ts'

/** A failed request to a server: SERVER_UNREACHABLE, SERVER_FAILED, SERVER_ANSWER_INVALID, REQUEST_REFUSED. */
export class ExchangeError extends TriarchError {
  /** HTTP status; 0: no answer. */
  readonly status: number
  /** How long the server asked to wait before the next request (ms). */
  readonly after: number

  constructor(message: string, status: number, { after = 0, ...options }: ErrorOptions & { after?: number } = {}) {
    super(codeOf(status), message, { details: { status }, ...options })
    this.status = status
    this.after = after
  }
}

const passing: readonly number[] = [0, 408, 425, 429, 502, 503, 504]

function codeOf(status: number): ErrorCode {
  if (passing.includes(status)) return 'SERVER_UNREACHABLE'
  if (status >= 500) return 'SERVER_FAILED'
  return status >= 400 ? 'REQUEST_REFUSED' : 'SERVER_ANSWER_INVALID'
}

/** Parses an answer. Throws SERVER_ANSWER_INVALID if it is not an answer of a Triarch server. */
export function answerIn(text: string, url: string): AgentResponse {
  try {
    const answer = JSON.parse(text) as AgentResponse
    if (Array.isArray(answer.messages)) return answer
  } catch {
    // The text is not JSON, or null.
  }
  throw new ExchangeError(`${url} answered what no server of Triarch says: ${text.slice(0, 200)}`, 200)
}

/** Most bytes of an answer. A page of a server has 1 MiB, or one larger message. */
const MOST = 64 * 1024 * 1024

/** Reads an answer up to a limit, because any server may answer at that URL. Throws if it is longer. */
export async function readText(response: Response): Promise<string> {
  const { body } = response
  if (!body) return response.text()
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MOST) throw new Error(`the answer has more than ${MOST} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Why a request failed; for errors of `fetch`, the cause says so. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message
}
