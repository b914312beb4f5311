import { Refused } from '../problem/problem.ts'

const types = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * The text of a body; '' when there is none. Reads no more than it may. `isHeld`: a body has no more bytes than its header announced. Throws NOT_JSON, BODY_TOO_LARGE, INVALID_JSON,
 * INVALID_REQUEST.
 */
export async function readBody(request: Request, most: number, isHeld: boolean): Promise<string> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > most) throw tooLarge(most)
  const bytes = await (isHeld && announced !== null ? wholeOf(request) : bytesOf(request, most))
  if (bytes.byteLength === 0) return ''
  const type = request.headers.get('content-type')
  if (type === null || !types.test(type.trim()))
    throw new Refused('NOT_JSON', 'send JSON in UTF-8, as application/json')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Refused('INVALID_JSON', 'the body is not in UTF-8')
  }
}

/** At once: a stream that is read by pieces costs more than all the rest of a small request. */
async function wholeOf(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch {
    throw unread()
  }
}

async function bytesOf(request: Request, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength
      if (size > most) throw tooLarge(most)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refused) throw error
    throw unread()
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

function unread(): Refused {
  return new Refused('INVALID_REQUEST', 'the body could not be read to its end')
}

function tooLarge(most: number): Refused {
  return new Refused('BODY_TOO_LARGE', `the body has more than ${most} bytes`)
}
