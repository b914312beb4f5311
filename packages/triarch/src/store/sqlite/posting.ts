import { isTriarchError } from '../../error/error.ts'
import type { Post, PostOutcome } from '../port.ts'

interface Waiting {
  posts: readonly Post[]
  resolve: (outcomes: PostOutcome[]) => void
  reject: (error: unknown) => void
}

/** Letters that are sent at once are written at once: one transaction, and one wait for the disk, for all of them. */
export class Posting {
  readonly #write: (posts: readonly Post[]) => Promise<PostOutcome[]>
  #waiting: Waiting[] = []

  constructor(write: (posts: readonly Post[]) => Promise<PostOutcome[]>) {
    this.#write = write
  }

  post(posts: readonly Post[]): Promise<PostOutcome[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ posts, resolve, reject }) === 1) void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    // Whoever sends at the same time has done so by then.
    await null
    const all = this.#waiting
    this.#waiting = []
    try {
      const outcomes = await this.#write(all.flatMap(({ posts }) => posts))
      let from = 0
      for (const { posts, resolve } of all) {
        resolve(outcomes.slice(from, from + posts.length))
        from += posts.length
      }
    } catch (error) {
      // What the store cannot even take in is the fault of one of them. Any other error would meet each of them.
      const apart = all.length > 1 && !isTriarchError(error)
      for (const one of all) {
        if (apart) await this.#write(one.posts).then(one.resolve, one.reject)
        else one.reject(error)
      }
    }
  }
}
