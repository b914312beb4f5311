import type { createRequire } from 'node:module'

/** Calls that are under way at once, except where one is taken alone. */
export const IN_FLIGHT = 200

/** A system beside the others: one file each. */
export interface System {
  /** As `--only` names it. */
  name: string
  title: string
  /** What npm installs for it, each in the one version that is measured. */
  packages: Readonly<Record<string, string>>
  /** How it is set: durable, and as fast as its documentation knows. */
  settings: string
  /** What it promises less than a durable task. */
  less?: string
  /** The command that gives what the machine lacks; null: nothing. */
  lacks?(): string | null
  start(ground: Ground): Promise<Running>
  /** A client in this process, and its worker in another (`Ground.worker`). Without it, a client elsewhere is never told what became of its job. */
  across?(ground: Ground): Promise<Pick<Running, 'job'>>
  /** That worker, in its process; `place` is what `across` gave. */
  work?(place: string, require: Ground['require']): Promise<unknown>
}

/** What a system is given: nothing of an earlier measurement is in it. */
export interface Ground {
  folder: string
  /** An empty database on the PostgreSQL of the run; its URL. */
  database(): Promise<string>
  /** Loads what was installed. */
  require: ReturnType<typeof createRequire>
  /** Starts the system's `work` in another process, which ends with this one. */
  worker(place: string): Promise<void>
}

/** A system at work: client and worker in this process. */
export interface Running {
  /** One unit of durable work, from submission until its result is known, or, of a queue, that its completion is durable. */
  job(): Promise<unknown>
  /** Three durable steps, one after the other; of a queue, three jobs of which each submits the next. */
  workflow(): Promise<unknown>
  /** So many durable steps of one workflow at once; of a queue, so many jobs. */
  wide(width: number): Promise<unknown>
}

/** Those who wait for a job, by its key. */
export class Waiting {
  readonly #waiting = new Map<string, () => void>()
  #next = 0

  /** Submits under a key of its own, and waits until that is told. */
  async for(submit: (key: string) => Promise<unknown>): Promise<void> {
    const key = `${this.#next++}`
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(key, resolve)
    await submit(key)
    await promise
  }

  tell(key: string): void {
    this.#waiting.get(key)?.()
    this.#waiting.delete(key)
  }
}
