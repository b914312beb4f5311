import type { Hint } from '../store/port.ts'

/** What a scheduler may be woken to look for. Each is one shared object, so that they can be compared by identity. */
export const hints = {
  nothing: new Set<Hint>() as ReadonlySet<Hint>,
  tasks: new Set<Hint>(['tasks']) as ReadonlySet<Hint>,
  mail: new Set<Hint>(['mail']) as ReadonlySet<Hint>,
  either: new Set<Hint>(['mail', 'tasks']) as ReadonlySet<Hint>,
}
