import type { Database } from './database.ts'

// The graph of waiting tasks. A lock request waits for the holder of its name, and for the requests before it in line;
// a parent waits for its children, and so for what these wait for. Each line is examined once: of the requests before a
// given one, only those whose tasks may wait for something else too (`tied`) matter, because all others wait for the
// same holder. So a line of thousands costs one query.

/** Most tasks and lines that one search examines. A larger search is taken for no deadlock; a timeout or a later sweep may resolve it. */
const MOST = 1_000

const WAITS = 'SELECT name, priority, id FROM triarch_locks WHERE task = ? AND held = 0'
/** For each name that children of a task wait for, finds their last request in line; from one name to the next. */
const CHILDREN_WAIT = `
SELECT name, -rank AS priority, claim AS id FROM triarch_lock_parents WHERE parent = ?1 AND (name < ?2 OR ?2 IS NULL)
ORDER BY name DESC, rank DESC, claim DESC LIMIT 1`
const HOLDER = 'SELECT task FROM triarch_locks WHERE name = ? AND held = 1'
/** Uses its own small index: without statistics SQLite may choose the index of the whole line. */
const TIED = `
SELECT task FROM triarch_locks INDEXED BY triarch_locks_tied WHERE name = ?1 AND tied = 1 AND held = 0
  AND (priority > ?2 OR (priority = ?2 AND id < ?3)) ORDER BY priority DESC, id LIMIT ${MOST}`
const PARENTS = 'SELECT DISTINCT parent AS task FROM triarch_lock_parents WHERE claim = ?'

interface LockPlace {
  name: string
  priority: number
  id: number
}

/**
 * Searches for a deadlock: whether this waiting request makes its task wait for itself, or for a task that waits for
 * its end. Returns the key of that task, or undefined.
 */
export function circleOf(database: Database, task: number, claim: number): number | undefined {
  const ends = new Set([task, ...database.all<{ task: number }>(PARENTS, claim).map((parent) => parent.task)])
  const seen = new Set([task])
  const lines: Map<string, LockPlace> = new Map()
  for (const one of seen) {
    for (const place of placesOf(database, one)) {
      const known = lines.get(place.name)
      if (known && !isBefore(known, place)) continue
      lines.set(place.name, place)
      for (const next of ahead(database, place)) {
        if (ends.has(next)) return next
        seen.add(next)
      }
      if (seen.size + lines.size > MOST) return undefined
    }
  }
  return undefined
}

/** The lines in which a task waits: by its own requests, and by those of its children. */
function* placesOf(database: Database, task: number): Generator<LockPlace> {
  yield* database.all<LockPlace>(WAITS, task)
  let name: string | null = null
  for (;;) {
    const place: LockPlace | undefined = database.get<LockPlace>(CHILDREN_WAIT, task, name)
    if (!place) return
    yield place
    name = place.name
  }
}

function ahead(database: Database, { name, priority, id }: LockPlace): number[] {
  return [
    ...database.all<{ task: number }>(HOLDER, name),
    ...database.all<{ task: number }>(TIED, name, priority, id),
  ].map((row) => row.task)
}

function isBefore(a: LockPlace, b: LockPlace): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.id < b.id)
}
