import type { Keyring } from 'triarch'
import { every, timer } from '../environment.ts'
import type { Principal, ServerOptions } from '../options.ts'
import { Refused } from '../problem/problem.ts'

/** Whoever has something open is asked so often whether they still may (ms); whose key is taken away, at once. */
const LOOK = 15_000
/** How long `authenticate` may take to say who asks (ms): a request that waits for it holds what it has. */
const PATIENCE = 10_000

/** Who asks: a key of the store, or whom `authenticate` knows; and whether they still may what they began. */
export class Guard {
  /** False: nobody is asked who they are. */
  readonly asks: boolean
  /** Keys of the store are among those who may ask. */
  readonly takesKeys: boolean
  readonly #authenticate: ServerOptions['authenticate']
  readonly #keyring: Keyring | null
  readonly #open = new Map<() => Promise<void>, (error: Refused) => void>()
  #look: (() => void)[] | null = null

  constructor(authenticate: ServerOptions['authenticate'], keyring: Keyring | null) {
    this.asks = authenticate !== undefined || keyring !== null
    this.takesKeys = keyring !== null
    this.#authenticate = authenticate
    this.#keyring = keyring
  }

  /** Null: nobody is asked. Throws UNAUTHENTICATED, AUTHENTICATION_TIMEOUT, STORE_*, and what `authenticate` does. */
  async who(request: Request): Promise<Principal | null> {
    if (!this.asks) return null
    const principal = await this.#found(request)
    if (!principal) throw new Refused('UNAUTHENTICATED', 'nobody known asks')
    return principal
  }

  async #found(request: Request): Promise<Principal | null> {
    const token = this.#keyring ? tokenOf(request) : undefined
    if (token === undefined) return (await inTime(this.#authenticate?.(request))) ?? null
    const key = await this.#keyring?.verify(token)
    return key
      ? { id: `key:${key.name}`, rights: key.rights, ...(key.expiresAt && { expiresAt: key.expiresAt }) }
      : null
  }

  /** `still` throws where somebody may no longer what is open, which `end` ends. What is returned says that it has ended by itself. */
  watch(still: () => Promise<void>, end: (error: Refused) => void): () => void {
    this.#open.set(still, end)
    const ask = () => this.#ask()
    this.#look ??= [every(LOOK, ask), ...(this.#keyring ? [this.#keyring.onLoss(ask)] : [])]
    // It may have been taken away since it was let in.
    if (this.#keyring) this.#check(still, end)
    return () => {
      this.#open.delete(still)
      if (this.#open.size > 0) return
      for (const off of this.#look ?? []) off()
      this.#look = null
    }
  }

  /** What waits ends at once for whoever may not wait any more. Throws what `still` does, and `work`. */
  async during<T>(
    still: () => Promise<void>,
    request: Pick<Request, 'signal'>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const over = new AbortController()
    const off = this.watch(still, (error) => over.abort(error))
    try {
      return await work(AbortSignal.any([over.signal, request.signal]))
    } finally {
      off()
      over.signal.throwIfAborted()
    }
  }

  #ask(): void {
    for (const [still, end] of this.#open) this.#check(still, end)
  }

  #check(still: () => Promise<void>, end: (error: Refused) => void): void {
    still().catch((error: unknown) => {
      // Who cannot be asked for now may go on.
      if (error instanceof Refused && error.code !== 'AUTHENTICATION_TIMEOUT' && this.#open.has(still)) end(error)
    })
  }
}

/** What looks like a key of the store is one, or nothing. */
function tokenOf({ headers }: Request): string | undefined {
  const [, token] = /^Bearer +(triarch_\S+) *$/i.exec(headers.get('authorization') ?? '') ?? []
  return token
}

/** Throws AUTHENTICATION_TIMEOUT. */
async function inTime<T>(asked: T | Promise<T>): Promise<T> {
  if (!(asked instanceof Promise)) return asked
  const late = Promise.withResolvers<never>()
  const stop = timer(PATIENCE, () =>
    late.reject(new Refused('AUTHENTICATION_TIMEOUT', `who asks was not known within ${PATIENCE / 1_000} s`)),
  )
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    stop()
  }
}
