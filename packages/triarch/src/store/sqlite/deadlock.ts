import type { Database } from './database.ts'

// Who waits for whom. A claim waits for the holder of its name, and for those before it in line; a parent waits for its
// children, and so for what these wait for. A line is looked at once: of those before a claim only such matter as may wait for
// something else too (`tied`), for all others wait for the same holder. So a line of thousands costs one look.

/** Tasks and lines one search looks at. What would take more is taken for no circle: a timeout, or a later sweep, may know. */
const MOST = 1_000

const WAITS = 'SELECT name, priority, id FROM triarch_locks WHERE task = ? AND held = 0'
/** For each name that children of a task wait for, the last of them in line; from one name to the next. */
const CHILDREN_WAIT = `
SELECT name, -rank AS priority, claim AS id FROM triarch_lock_parents WHERE parent = ?1 AND (name < ?2 OR ?2 IS NULL)
ORDER BY name DESC, rank DESC, claim DESC LIMIT 1`
const HOLDER = 'SELECT task FROM triarch_locks WHERE name = ? AND held = 1'
/** By its own small index: without statistics the whole line looks as good. */
const TIED = `
SELECT task FROM triarch_locks INDEXED BY triarch_locks_tied WHERE name = ?1 AND tied = 1 AND held = 0
  AND (priority > ?2 OR (priority = ?2 AND id < ?3)) ORDER BY priority DESC, id LIMIT ${MOST}`
const PARENTS = 'SELECT DISTINCT parent AS task FROM triarch_lock_parents WHERE claim = ?'

interface Place {
  name: string
  priority: number
  id: number
}

/**
 * Whether this waiting claim of the task makes it wait for itself, or for a task that waits for its end: the key of the one
 * it would wait for.
 */
export function circleOf(database: Database, task: number, claim: number): number | undefined {
  const ends = new Set([task, ...database.all<{ task: number }>(PARENTS, claim).map((parent) => parent.task)])
  const seen = new Set([task])
  const lines: Map<string, Place> = new Map()
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

/** Where a task waits: by its own claims, and by those of its children. */
function* placesOf(database: Database, task: number): Generator<Place> {
  yield* database.all<Place>(WAITS, task)
  let name: string | null = null
  for (;;) {
    const place: Place | undefined = database.get<Place>(CHILDREN_WAIT, task, name)
    if (!place) return
    yield place
    name = place.name
  }
}

function ahead(database: Database, { name, priority, id }: Place): number[] {
  return [
    ...database.all<{ task: number }>(HOLDER, name),
    ...database.all<{ task: number }>(TIED, name, priority, id),
  ].map((row) => row.task)
}

function isBefore(a: Place, b: Place): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.id < b.id)
}
