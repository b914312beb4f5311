/** The state of a store's resources, as this process sees them. */
export interface StoreVitals {
  /** The file system of the store (bytes); absent if this process cannot see it. */
  disk?: { path: string; free: number; total: number }
  /** Connection pools by purpose: how many connections there may be, how many are in use, and how many calls wait for one. */
  pools?: readonly { name: string; most: number; busy: number; waiting: number }[]
  /** The replica for users' reads: how far it lags behind (ms); null: it cannot be reached, and the primary answers. */
  replica?: { lag: number | null }
}
