import type { TriarchError } from '../error/error.ts'
import type { Leading } from './leader.ts'

/** What the store has of one endpoint that a prober watches. */
export interface ProbeRow {
  /** Which. */
  name: string
  /** When it was written last, by its writer's clock (ms since the epoch). */
  at: number
  /** How it is, as JSON text. */
  state: string
  /** What the last looks saw, as JSON text; null: it was not asked for. */
  results: string | null
  /** Why one of them cannot be decoded; it is no JSON then. */
  undecoded?: TriarchError
}

/** These, or those behind a name; with what the last looks saw, or without. By name. */
export type ProbeQuery = { results: boolean } & ({ names: readonly string[] } | { after: string; limit: number })

/** How endpoints are, by the word of whoever probes: all of it or nothing. */
export interface ProbeWrite {
  /** By which leadership. */
  leading: Leading
  /** They take the place of what was there. */
  kept: readonly { name: string; at: number; state: string; results: string }[]
  /** These are watched no more. */
  dropped: readonly string[]
}

/** What a store does for probers. */
export interface ProbeStore {
  /** Endpoints that are watched. */
  probes(query: ProbeQuery): Promise<ProbeRow[]>
  /** False: the leadership is over, and nothing was written. */
  writeProbes(write: ProbeWrite): Promise<boolean>
}
