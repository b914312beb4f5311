import { isTriarchError } from '../../packages/triarch/src/index.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'

/** Until it is tried again what a fault kept from being said (ms). */
const AGAIN = 200

/** An operator's words, each at its time, and again until it is heard. */
export class Words {
  /** Those that are not said yet. */
  owed = 0

  /** Those that were said, and must stay so. */
  readonly #lasting: (() => void)[] = []
  /** How often the store forgot. */
  #repeats = 0

  /** Resolves once it is said. */
  say(machine: Machine, at: number, word: () => Promise<unknown>): Promise<void> {
    this.owed++
    const said = Promise.withResolvers<void>()
    const say = () => {
      word().then(
        () => {
          said.resolve()
          this.owed--
        },
        (error: unknown) => {
          if (!isTriarchError(error)) throw error
          machine.timer(AGAIN, say)
        },
      )
    }
    machine.timer(at, say)
    return said.promise
  }

  /** The same, and whoever said it sees to it that it stays said. */
  async saySurely(machine: Machine, at: number, word: () => Promise<unknown>): Promise<void> {
    let began = 0
    await this.say(machine, at, () => {
      began = this.#repeats
      return word()
    })
    // The store heard it before it forgot, and its answer came after.
    if (began < this.#repeats) return this.saySurely(machine, 0, word)
    this.#lasting.push(() => void this.saySurely(machine, 0, word))
  }

  /** The store may have forgotten some. */
  repeat(): void {
    this.#repeats++
    for (const again of this.#lasting.splice(0)) again()
  }
}
