/** How the means of a store are, as this process sees them. */
export interface StoreVitals {
  /** Of the file system that holds it (bytes); absent where this process cannot see that. */
  disk?: { path: string; free: number; total: number }
  /** Connections by what they are for: how many there may be, how many are at work, and how many calls wait for one. */
  pools?: readonly { name: string; most: number; busy: number; waiting: number }[]
  /** A copy that answers what users ask: how far behind it is (ms); null: it cannot be asked, and the store itself answers. */
  replica?: { lag: number | null }
}
