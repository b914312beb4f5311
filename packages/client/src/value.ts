import { type Duration, milliseconds, TriarchError } from 'triarch/contract'

/** A value as JSON. Throws UNSERIALISABLE where JSON has nothing of the kind. */
export function encode(what: string, value: unknown): string {
  let refused = ''
  const checked = (name: string, member: unknown): unknown => {
    const kind = typeof member
    const isLost = kind === 'bigint' || kind === 'function' || kind === 'symbol' || (kind === 'number' && !Number.isFinite(member)) // biome-ignore format: one line
    if (isLost) refused ||= `${name === '' ? 'it' : `"${name.slice(0, 100)}" in it`} is ${String(member).slice(0, 50)}`
    return isLost ? null : member
  }
  try {
    const text = JSON.stringify(value, checked)
    if (refused === '') return text
  } catch (error) {
    refused = error instanceof Error ? error.message.slice(0, 200) : 'it has no JSON'
  }
  throw new TriarchError('UNSERIALISABLE', `${what} cannot be sent as JSON: ${refused}`)
}

/** As the API has it. Throws INVALID_DURATION. */
export function duration(what: string, value: Duration): string {
  return `${milliseconds(value, what)}ms`
}

/** As the API has it. Throws INVALID_OPTION. */
export function instant(what: string, value: Date): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  throw new TriarchError('INVALID_OPTION', `${what} is not a valid date`)
}

export function moment(what: string, value: Date | Duration): string {
  return value instanceof Date ? instant(what, value) : duration(what, value)
}

/** A segment of a path. Throws INVALID_NAME: no path leads to it. */
export function segment(what: string, name: unknown): string {
  const fits = typeof name === 'string' && name.length >= 1 && name.length <= 200 && name.isWellFormed()
  if (fits && name !== '.' && name !== '..' && !hasControls(name)) return encodeURIComponent(name)
  throw new TriarchError(
    'INVALID_NAME',
    `${what} must be a well-formed string of 1 to 200 characters without control characters`,
  )
}

function hasControls(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at)
    if (code < 32 || (code >= 127 && code < 160)) return true
  }
  return false
}

type Parameter = string | number | boolean | undefined | readonly string[] | Readonly<Record<string, string>>

/** The query of a URL, with its question mark. */
export function query(parameters: Readonly<Record<string, Parameter>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    if (Array.isArray(value)) for (const one of value) search.append(name, one)
    else if (typeof value === 'object')
      for (const [member, one] of Object.entries(value)) search.append(`${name}[${member}]`, one)
    else search.append(name, String(value))
  }
  const said = search.toString()
  return said === '' ? '' : `?${said}`
}
