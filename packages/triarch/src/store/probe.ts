import type { TriarchError } from '../error/error.ts'
import type { Leading } from './leader.ts'

/** The stored state of one endpoint that a prober watches. */
export interface ProbeRow {
  /** The name of the endpoint. */
  name: string
  /** When it was last written, by its writer's clock (ms since the epoch). */
  at: number
  /** Its state, as JSON text. */
  state: string
  /** The last results, as JSON text; null if they were not requested. */
  results: string | null
  /** Why one of the texts cannot be decoded; then it is not JSON. */
  undecoded?: TriarchError
}

/** Selects endpoints by name, or a page behind a name; with the last results, or without. Ordered by name. */
export type ProbeQuery = { results: boolean } & ({ names: readonly string[] } | { after: string; limit: number })

/** A write of the prober: all of it is written, or nothing. */
export interface ProbeWrite {
  /** The leadership of the prober. */
  leading: Leading
  /** Rows that replace those of the same name. */
  kept: readonly { name: string; at: number; state: string; results: string }[]
  /** Names of endpoints that are no longer watched. */
  dropped: readonly string[]
}

/** The calls of a store for probers. */
export interface ProbeStore {
  /** Returns watched endpoints. */
  probes(query: ProbeQuery): Promise<ProbeRow[]>
  /** Writes endpoints. Returns false if the leadership is over; then nothing was written. */
  writeProbes(write: ProbeWrite): Promise<boolean>
}
