import type { Environment } from '../src/environment.ts'

/** What a request is answered with: a Response, a failure of the network, or nothing ever. */
export type Answer = (url: string, init: RequestInit) => Response | Promise<Response>

/** Surroundings whose network answers as it is told, and whose pauses take no time. */
export class Surroundings implements Environment {
  readonly asked: { method: string; path: string; headers: Headers; body: unknown }[] = []
  /** Spans of pauses between attempts (ms). */
  readonly pauses: number[] = []
  readonly #answers: Answer[]
  readonly #timeout: number
  #now = 0
  #ids = 0

  /** `timeout`: of attempts. One that waits so long is over at once, if no answer comes. */
  constructor(answers: readonly Answer[], timeout = 30_000) {
    this.#answers = [...answers]
    this.#timeout = timeout
  }

  async fetch(url: string, init: RequestInit): Promise<Response> {
    const { method = 'GET', headers, body } = init
    const said = typeof body === 'string' ? JSON.parse(body) : undefined
    this.asked.push({ method, path: new URL(url).pathname, headers: new Headers(headers), body: said })
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]
    if (!answer) throw new Error('nobody answers')
    return answer(url, init)
  }

  monotonic(): number {
    return this.#now
  }

  timer(ms: number, callback: () => void): () => void {
    const isPause = ms < this.#timeout
    if (isPause) this.pauses.push(ms)
    // What is answered, is answered before an attempt's time is over.
    const timer = setTimeout(
      () => {
        this.#now += ms
        callback()
      },
      isPause ? 0 : 50,
    )
    return () => clearTimeout(timer)
  }

  random(): number {
    return 0.5
  }

  id(): string {
    this.#ids++
    return `id-${this.#ids}`
  }
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

export const problem = (
  status: number,
  code: string,
  more: object = {},
  headers: Record<string, string> = {},
): Answer =>
  json(
    status,
    { type: 'about:blank', title: `the title of ${code}`, status, detail: `the detail of ${code}`, code, ...more },
    { 'content-type': 'application/problem+json', ...headers },
  )

export const cut: Answer = () => Promise.reject(new TypeError('fetch failed'))
export const silence: Answer = () => new Promise(() => undefined)
