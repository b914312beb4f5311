import type { ErrorCode } from '../error/catalogue.ts'
import { TriarchError } from '../error/error.ts'
import type { AgentResponse } from './message.ts'

/** A request to a server that failed: SERVER_UNREACHABLE, SERVER_FAILED, SERVER_ANSWER_INVALID, REQUEST_REFUSED. */
export class ExchangeError extends TriarchError {
  /** What it answered; 0: nothing. */
  readonly status: number
  /** How long the server asked to be left alone (ms). */
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

/** What the text of an answer says. Throws SERVER_ANSWER_INVALID where it is no answer of a server of ours. */
export function answerIn(text: string, url: string): AgentResponse {
  try {
    const answer = JSON.parse(text) as AgentResponse
    if (Array.isArray(answer.messages)) return answer
  } catch {
    // It is no JSON, or null.
  }
  throw new ExchangeError(`${url} answered what no server of Triarch says: ${text.slice(0, 200)}`, 200)
}

/** Bytes of an answer. A page of a server has 1 MiB, or one message that is larger. */
const MOST = 64 * 1024 * 1024

/** The text of an answer, up to a bound: whoever answers at that URL may be anybody. Throws where it is longer. */
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

/** Why nothing came: of what `fetch` throws, the cause says it. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message
}
