import { TriarchError } from '../error/error.ts'

/**
 * The rights of a client of a server: `read`, `start` tasks, `control` them; change schedules, circuit breakers, rate limits and cached
 * answers; acknowledge, silence and end `alerts`, and test their sinks; recount `statistics`; act as an agent (`agents`); `import` tasks
 * with their histories; read and write settings; read the audit; list, create, rotate and revoke API `keys`.
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
  | 'keys'

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
  keys: true,
}

/**
 * All rights.
 * @example const everything = { rights }
 */
export const rights: readonly Right[] = Object.keys(known) as Right[]

/** The rights without duplicates, in the order of `rights`. Throws INVALID_OPTION. */
export function checkRights(what: string, given: unknown): Right[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new TriarchError('INVALID_OPTION', `${what} must be a list of rights: ${rights.join(', ')}`)
  const unknown = given.find((right) => !rights.includes(right))
  if (unknown === undefined) return rights.filter((right) => given.includes(right))
  const shown = typeof unknown === 'string' ? JSON.stringify(unknown.slice(0, 50)) : typeof unknown
  throw new TriarchError('INVALID_OPTION', `${what}: there is no right ${shown}, there are ${rights.join(', ')}`)
}
