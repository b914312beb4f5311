/**
 * The raw ceiling: the facts that a task leaves behind, written to the bare database by nothing but prepared statements
 * in group commits, with the engine's settings, on its disk.
 */
export interface RawStore extends AsyncDisposable {
  /** Writes `tasks` tasks with these records, `inFlight` at a time, the n-th records of all of them in one commit; keys. */
  write(records: readonly string[], tasks: number, inFlight: number): Promise<number[]>
  /** Reads a history and parses it. */
  read(key: number): Promise<unknown[]>
}

/** Rising, and as long as a UUID: what the engine's ids are to an index. */
export function rawId(number: number): string {
  return number.toString(16).padStart(36, '0')
}
