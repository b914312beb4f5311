import { TriarchError } from '../error/error.ts'

/**
 * What somebody who asks from outside may do: look (`read`), start tasks (`start`), act on them (`control`); change schedules, circuit breakers,
 * rate limits and kept answers; acknowledge, silence and end `alerts`, and try their sinks; have `statistics` counted anew; be an agent
 * (`agents`); bring tasks with their histories from elsewhere (`import`); read and write settings; read the audit; see, make, rotate and revoke API `keys`.
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
 * All of them.
 * @example const everything = { rights }
 */
export const rights: readonly Right[] = Object.keys(known) as Right[]

/** The rights, each once, in the order of all. Throws INVALID_OPTION. */
export function checkRights(what: string, given: unknown): Right[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new TriarchError('INVALID_OPTION', `${what} must be a list of rights: ${rights.join(', ')}`)
  const unknown = given.find((right) => !rights.includes(right))
  if (unknown === undefined) return rights.filter((right) => given.includes(right))
  const shown = typeof unknown === 'string' ? JSON.stringify(unknown.slice(0, 50)) : typeof unknown
  throw new TriarchError('INVALID_OPTION', `${what}: there is no right ${shown}, there are ${rights.join(', ')}`)
}
