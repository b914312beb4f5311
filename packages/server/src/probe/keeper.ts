import type { KeptEndpoint, Leadership } from 'triarch'

interface KeeperOptions {
  leadership: Pick<Leadership, 'keepProbes' | 'signal'>
  /** How an endpoint is now. */
  read: (name: string) => KeptEndpoint
  failed: (error: unknown) => void
}

/** Keeps what probes found in the store: all that is found while one write is under way makes the next. What could not be written goes with it. */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #found = new Set<string>()
  #writing: Promise<void> | null = null

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  keep(name: string): void {
    this.#found.add(name)
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null
    })
  }

  /** Once nothing is being written. Never rejects. */
  async done(): Promise<void> {
    await this.#writing
  }

  async #write(): Promise<void> {
    const { leadership, read, failed } = this.#options
    while (this.#found.size > 0) {
      const names = [...this.#found]
      this.#found.clear()
      try {
        await leadership.keepProbes(names.map(read))
      } catch (error) {
        for (const name of names) this.#found.add(name)
        // Who leads no more has nothing to keep: the next probes anew.
        if (!leadership.signal.aborted) failed(error)
        return
      }
    }
  }
}
