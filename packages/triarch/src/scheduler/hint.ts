import type { Hint } from '../store/port.ts'

/** What a scheduler may be told to look for. One object each, so that two of a kind are the same. */
export const hints = {
  nothing: new Set<Hint>() as ReadonlySet<Hint>,
  tasks: new Set<Hint>(['tasks']) as ReadonlySet<Hint>,
  mail: new Set<Hint>(['mail']) as ReadonlySet<Hint>,
  either: new Set<Hint>(['mail', 'tasks']) as ReadonlySet<Hint>,
}
