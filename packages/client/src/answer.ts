import { TriarchError } from 'triarch/contract'

/** The body as text, read no further than it may be. Throws SERVER_ANSWER_INVALID, and what the network does. */
export async function readText(response: Response, most: number): Promise<string> {
  const announced = Number(response.headers.get('content-length') ?? 0)
  const reader = response.body?.getReader()
  if (!reader) return ''
  try {
    if (announced > most) throw tooLarge(most)
    const decoder = new TextDecoder()
    let said = ''
    for (let size = 0; ; ) {
      const { done, value } = await reader.read()
      if (done) return said + decoder.decode()
      size += value.byteLength
      if (size > most) throw tooLarge(most)
      said += decoder.decode(value, { stream: true })
    }
  } finally {
    // What is left of it is not wanted, and its connection may be used again.
    reader.cancel().catch(() => undefined)
  }
}

/** What it says as JSON; undefined: nothing, or no JSON. */
export function parsed(response: Response, said: string): unknown {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(response.headers.get('content-type') ?? '')) return undefined
  try {
    return JSON.parse(said)
  } catch {
    return undefined
  }
}

export function misunderstood(what: string): TriarchError {
  return new TriarchError('SERVER_ANSWER_INVALID', `the answer is ${what}`)
}

function tooLarge(most: number): TriarchError {
  return misunderstood(`larger than ${most} bytes`)
}
