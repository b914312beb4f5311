import { Refused } from '../problem/problem.ts'

/**
 * What a principal may do: look (`read`), start tasks (`start`), act on them (`control`); change schedules, circuit breakers, rate limits and
 * kept answers; acknowledge, silence and end `alerts`, and try their sinks; have `statistics` counted anew; be an agent (`agents`); bring tasks with their histories from elsewhere (`import`); read and write settings; read the audit.
 * @example const clerk: readonly Right[] = ['read', 'start', 'settings:read']
 */
export type Right =
  | 'read'
  | 'start'
  | 'control'
  | 'schedules'
  | 'breakers'
  | 'rates'
  | 'caches'
  | 'alerts'
  | 'statistics'
  | 'agents'
  | 'import'
  | 'settings:read'
  | 'settings:write'
  | 'audit'

const known: Readonly<Record<Right, true>> = {
  read: true,
  start: true,
  control: true,
  schedules: true,
  breakers: true,
  rates: true,
  caches: true,
  alerts: true,
  statistics: true,
  agents: true,
  import: true,
  'settings:read': true,
  'settings:write': true,
  audit: true,
}

/** All of them. Which route needs which is said by `x-right` of the document. */
export const rights: readonly Right[] = Object.keys(known) as Right[]

/** Who asks, as far as rights go; null: nobody was asked who they are. */
type Holder = { readonly rights?: readonly Right[] } | null

/** What somebody has; who says nothing of rights has all. */
export function rightsOf(holder: Holder): readonly Right[] {
  const had = holder?.rights
  if (had === undefined) return rights
  // Whatever it is, it grants nothing: a mistake must not open the door.
  if (!Array.isArray(had)) throw new Error('authenticate: the rights of a principal must be an array')
  return rights.filter((right) => had.includes(right))
}

/** Throws FORBIDDEN. */
export function checkRight(holder: Holder, right: Right): void {
  if (rightsOf(holder).includes(right)) return
  throw new Refused('FORBIDDEN', `this needs the right "${right}"`, [], { right })
}
