import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A mutant whose runs take longer (ms) hangs: they are a few hundredths of a second each. */
const WITHIN = 60_000

/** Judges mutants by the simulation, in a process of its own that one of them may cost its life. */
export class Simulation {
  readonly #target: string
  readonly #seeds: number
  #child: ChildProcess | null = null
  #reached = new Set<number>()

  constructor(target: string, seeds: number) {
    this.#target = target
    this.#seeds = seeds
  }

  /** What noticed it; null: nothing did. */
  async judge(mutant: number): Promise<string | null> {
    const child = this.#child ?? (await this.#start())
    if (!this.#reached.has(mutant)) return null
    return new Promise((resolve) => {
      const end = (noticed: string | null) => {
        clearTimeout(timer)
        child.removeAllListeners()
        if (child.exitCode !== null || child.signalCode !== null) this.#child = null
        resolve(noticed)
      }
      const timer = setTimeout(() => {
        this.close()
        end('hangs in the simulation')
      }, WITHIN)
      child.once('message', ({ noticed }: { noticed: string | null }) => end(noticed))
      child.once('exit', (code, signal) => end(`ends the simulation with ${signal ?? code}`))
      child.send(mutant)
    })
  }

  close(): void {
    this.#child?.kill('SIGKILL')
    this.#child = null
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(join(import.meta.dirname, 'seeds.ts'), [this.#target, String(this.#seeds)])
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`the simulation of ${this.#target} ends with ${code} before it begins`)
    })
    const [{ reached }] = (await Promise.race([once(child, 'message'), failed])) as [{ reached: number[] }]
    failed.catch(() => undefined)
    this.#reached = new Set(reached)
    this.#child = child
    return child
  }
}
