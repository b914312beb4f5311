/** What comes while a call is under way goes together into the next one: how a program puts many jobs in at its fastest. */
export class Gathering<T> {
  readonly #put: (items: T[]) => Promise<unknown>
  #next: T[] = []
  #going: Promise<unknown> | null = null
  #then: Promise<unknown> | null = null

  constructor(put: (items: T[]) => Promise<unknown>) {
    this.#put = put
  }

  /** Resolves once it is in. */
  async add(item: T): Promise<void> {
    this.#next.push(item)
    this.#then ??= (this.#going ?? Promise.resolve()).then(() => {
      this.#then = null
      this.#going = this.#put(this.#next.splice(0))
      return this.#going
    })
    await this.#then
  }
}
