// Where time, chance and the network come from, and nowhere else in this package. Of what every runtime with fetch has.

/** What a client needs of where it runs. */
export interface Environment {
  fetch(url: string, init: RequestInit): Promise<Response>
  /** Milliseconds that only grow. */
  monotonic(): number
  /** Calls back after so many ms; what it returns calls that off. */
  timer(ms: number, callback: () => void): () => void
  /** Uniform in [0, 1). */
  random(): number
  /** One that nobody else has. */
  id(): string
}

export function systemEnvironment(fetch: Environment['fetch'] | undefined): Environment {
  return {
    // Looked up at each call, and called as the function of nobody: so it may be replaced, and browsers take it.
    fetch: (url, init) => (fetch ?? globalThis.fetch)(url, init),
    monotonic: () => performance.now(),
    timer(ms, callback) {
      const timer = setTimeout(callback, ms)
      return () => clearTimeout(timer)
    },
    random: () => Math.random(),
    // Not randomUUID: pages without TLS lack it.
    id() {
      const bytes = crypto.getRandomValues(new Uint8Array(16))
      return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    },
  }
}
