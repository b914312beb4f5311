/** A cached answer of an action, for all nodes. */
export interface CachedAnswer {
  /** The key, which does not reveal the request. */
  key: string
  /** The answer, as text that the store does not read. */
  value: string
  /** The last generation of invalidations that the asking node knew. */
  seen: number
}

/** The cache entry of a key. `age`: how long ago the answer was given (ms). Null: there is no answer. */
export interface CacheRow {
  /** The answer. */
  answer: (CachedAnswer & { age: number }) | null
  /** Whether a living node is asking the service for it. */
  flying: boolean
}

/** Whether a fill was begun, and the answer that is kept then; null: there is none, or another node fills the key. */
export interface FillBegun {
  /** False: another living node is asking the service. */
  begun: boolean
  /** The kept answer. It may have come after the last read, or have expired. */
  answer: CacheRow['answer']
}

/**
 * A write of an answer, which ends the fill of its node, but of no other. An answer that is no newer than the stored
 * one does not replace it.
 */
export interface CacheWrite extends CachedAnswer {
  /** The node that asked for it. */
  node: string
  /** When it was given, by the store's clock as its writer knows it, so that a late write does not make it look newer. */
  at: number
  /** How long it is kept (ms). */
  keep: number
}

/** A fill: a node is about to ask the service. */
export interface CacheFill {
  /** The key. */
  key: string
  /** The node. */
  node: string
  /** After this time others may ask, whatever the outcome (ms). */
  within: number
}

/** Invalidations, by names of answers, actions and tags. */
export interface Invalidations {
  /** The generation of the last one. */
  last: number
  /** The names of generations up to this one were dropped: no answer that was asked for before it is valid. */
  floor: number
  /** Each name with the last generation in which it was invalidated, those above the requested generation. */
  marks: { name: string; generation: number }[]
}

/** The bounds of the cache. */
export interface CacheBounds {
  /** Most rows dropped in one call. */
  limit: number
  /** Most invalidations that are kept. */
  marks: number
  /** Most answers that are kept. */
  answers: number
}
