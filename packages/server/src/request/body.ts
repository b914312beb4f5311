import { Refused } from '../problem/problem.ts'

const types = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** The text of a body; '' when there is none. Reads no more than it may. Throws NOT_JSON, BODY_TOO_LARGE, INVALID_JSON, INVALID_REQUEST. */
export async function readBody(request: Request, most: number): Promise<string> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > most) throw tooLarge(most)
  const bytes = await bytesOf(request, most)
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
    throw new Refused('INVALID_REQUEST', 'the body could not be read to its end')
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

function tooLarge(most: number): Refused {
  return new Refused('BODY_TOO_LARGE', `the body has more than ${most} bytes`)
}
