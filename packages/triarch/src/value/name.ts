import { TriarchError } from '../error/error.ts'
import { isIdentifier } from './text.ts'

const namePattern = /^[A-Za-z0-9][\w-]{0,99}$/
const versionPattern = /^[\w.+-]{1,100}$/

/** Returns the name of an agent, action or workflow if it is valid. Throws INVALID_NAME. */
export function checkName(what: string, name: unknown): string {
  return check(what, name, namePattern, '1 to 100 letters, digits, "-" or "_", beginning with a letter or digit')
}

/** The name of an action's agent, taken from the action's key. */
export function agentOf(action: string): string {
  return action.slice(0, action.indexOf('.'))
}

/** Returns the version of a workflow if it is valid. Throws INVALID_NAME. */
export function checkVersion(what: string, version: unknown): string {
  return check(what, version, versionPattern, '1 to 100 letters, digits, ".", "+", "-" or "_"')
}

/** Returns the id of a task if it is valid: a well-formed text of 1 to 200 characters without control characters. Throws INVALID_NAME. */
export function checkTaskId(id: unknown): string {
  if (isIdentifier(id)) return id
  throw new TriarchError(
    'INVALID_NAME',
    'a task id must be a well-formed string of 1 to 200 characters without control characters',
  )
}

/** Returns the name of a step or signal if it is valid, under the rules for task ids. Throws INVALID_NAME. */
export function checkLabel(what: string, name: unknown): string {
  if (isIdentifier(name)) return name
  throw new TriarchError(
    'INVALID_NAME',
    `the name of ${what} must be a string of 1 to 200 characters without control characters`,
  )
}

/** The same for a new task: ids with "~" are reserved for the engine. Throws INVALID_NAME. */
export function checkNewTaskId(id: unknown): string {
  const checked = checkTaskId(id)
  if (!checked.includes('~')) return checked
  throw new TriarchError(
    'INVALID_NAME',
    'a task id must not contain "~", which stands in the ids of child tasks: use ":"',
  )
}

function check(what: string, value: unknown, pattern: RegExp, rule: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 120)) : `a value of type ${typeof value}`
  throw new TriarchError('INVALID_NAME', `${what}: ${shown} is not allowed: use ${rule}`)
}
