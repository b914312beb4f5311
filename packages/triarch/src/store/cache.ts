/** An answer that all nodes may use. */
export interface CachedAnswer {
  /** What it is kept under: tells nothing of what was asked. */
  key: string
  /** As text that the store does not read. */
  value: string
  /** The generation of invalidations that whoever asked for it knew. */
  seen: number
}

/** The same, as it was found. `age`: since it was kept (ms); null: there is none. */
export interface CacheRow {
  /** The answer. */
  answer: (CachedAnswer & { age: number }) | null
  /** A node that lives is asking the service for it. */
  flying: boolean
}

/** An answer to keep, for so long (ms). One that is no younger than what is kept changes nothing. The flight of its node has landed with it, and that of no other. */
export interface CacheWrite extends CachedAnswer {
  /** The node that asked for it. */
  node: string
  /** When it was given, by the store's clock as its writer knows it; however late it comes, it is as old as it is. */
  at: number
  /** Until it is dropped (ms). */
  keep: number
}

/** A node that is about to ask the service, for so long at most (ms). */
export interface CacheFill {
  /** What for. */
  key: string
  /** The node. */
  node: string
  /** Whatever becomes of it, others may ask after that (ms). */
  within: number
}

/** What is not valid any more, by names of answers, actions and tags. */
export interface Invalidations {
  /** Of the last. */
  last: number
  /** Of those up to here nobody remembers what they were: no answer that was asked for before them is valid. */
  floor: number
  /** Each name with the last generation that it was named in, those above the one that was asked for. */
  marks: { name: string; generation: number }[]
}

/** What a sweep leaves: so many marks, and so many answers. */
export interface CacheBounds {
  /** Most rows dropped in one call. */
  limit: number
  /** Most invalidations that are remembered. */
  marks: number
  /** Most answers that are kept. */
  answers: number
}
