import { isTriarchError } from '../../error/error.ts'
import type { Post, PostOutcome } from '../port.ts'

interface PendingPosts {
  posts: readonly Post[]
  resolve: (outcomes: PostOutcome[]) => void
  reject: (error: unknown) => void
}

/** Writes messages that are posted at the same time together: one transaction, and one flush to disk, for all of them. */
export class Posting {
  readonly #write: (posts: readonly Post[]) => Promise<PostOutcome[]>
  #waiting: PendingPosts[] = []

  constructor(write: (posts: readonly Post[]) => Promise<PostOutcome[]>) {
    this.#write = write
  }

  post(posts: readonly Post[]): Promise<PostOutcome[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ posts, resolve, reject }) === 1) void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    // Other callers in this turn have posted by then.
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
      // An error that is no TriarchError is caused by one of them, so each is tried alone. Any other error would affect them all.
      const apart = all.length > 1 && !isTriarchError(error)
      for (const one of all) {
        if (apart) await this.#write(one.posts).then(one.resolve, one.reject)
        else one.reject(error)
      }
    }
  }
}
