import type { Import } from './imports.ts'
import { lineAt, type Source } from './source.ts'

/** A forbidden piece of code, and what to write in its place. */
export type Ban = readonly [pattern: RegExp, instead: string]

/** For each room, the rooms it may import; `environment (types)` allows only `import type`. */
export type Rooms = Readonly<Record<string, readonly string[]>>

// Each rule returns its complaints, one line each. An empty list means tidy.

export function banned({ path, code }: Pick<Source, 'path' | 'code'>, bans: readonly Ban[]): string[] {
  return bans.flatMap(([pattern, instead]) =>
    [...code.matchAll(new RegExp(pattern, 'g'))].map(
      (match) => `${path}:${lineAt(code, match.index)}: ${match[0].trim()}: ${instead}`,
    ),
  )
}

export function bannedModules(imports: readonly Import[], modules: readonly string[], instead: string): string[] {
  return imports.filter((it) => modules.includes(it.to)).map((it) => `${it.from}:${it.line}: ${it.to}: ${instead}`)
}

/** `imports` with paths relative to the folder the rooms are in. */
export function misdirected(imports: readonly Import[], rooms: Rooms): string[] {
  return imports.flatMap((it) => {
    const [from, to] = [roomOf(it.from), roomOf(it.to)]
    const allowed = rooms[from]
    if (allowed === undefined) return [`${it.from}: room ${from} is not in the table of rooms`]
    const fine = from === to || allowed.includes(to) || (it.typeOnly && allowed.includes(`${to} (types)`))
    return fine ? [] : [`${it.from}:${it.line}: ${from} may not import ${to} (${it.to})`]
  })
}

export function oversized(
  files: readonly Pick<Source, 'path' | 'raw'>[],
  limit: number,
  excused: Readonly<Record<string, string>>,
): string[] {
  const lengths = new Map(files.map(({ path, raw }) => [path, raw.replace(/\n$/, '').split('\n').length]))
  const long = [...lengths].filter(([path, length]) => length > limit && excused[path] === undefined)
  const idle = Object.keys(excused).filter((path) => (lengths.get(path) ?? 0) <= limit)
  return [
    ...long.map(([path, length]) => `${path}: ${length} lines, the limit is ${limit}`),
    ...idle.map((path) => `${path}: is not over ${limit} lines, take it off the list`),
  ]
}

export function headings(path: string, markdown: string): string[] {
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
  const count = prose.match(/^# /gm)?.length ?? 0
  return count === 1 ? [] : [`${path}: ${count} first-level headings, there must be one`]
}

export function misnamed(path: string, names: readonly string[]): string[] {
  const word = path.split(/[/._-]/).find((it) => names.includes(it))
  return word === undefined ? [] : [`${path}: "${word}" names nothing, call it what it is`]
}

function roomOf(path: string): string {
  if (path.startsWith('node:')) return 'node:'
  return path.split('/')[0]?.replace(/\.ts$/, '') ?? path
}

/**
 * Types that a package declares more than once, and functions and constants that it exports more than once: a search for
 * such a name finds the other one. `shared`: names that may have two meanings in the package.
 */
export function repeated(
  sources: readonly Pick<Source, 'path' | 'code'>[],
  shared: Readonly<Record<string, readonly string[]>>,
): string[] {
  const places = new Map<string, string[]>()
  for (const { path, code } of sources) {
    const folder = path.split('/').slice(0, 2).join('/')
    const types = code.matchAll(/^(?:export )?(?:declare |abstract )*(?:interface|type|class) (\w+)/gm)
    const values = code.matchAll(/^export (?:declare |async )*(?:const|let|function\*?) (\w+)/gm)
    for (const name of new Set([...types, ...values].map(([, name = '']) => name))) {
      const key = `${folder} ${name}`
      if (!shared[folder]?.includes(name)) places.set(key, [...(places.get(key) ?? []), path])
    }
  }
  return [...places].flatMap(([key, paths]) => (paths.length > 1 ? [`${key}: ${paths.join(', ')}`] : []))
}

/** Names of a file and of its exports that have a retired word, be it in camel case, in capitals or between hyphens. */
export function retired({ path, code }: { path: string; code: string }, words: readonly string[]): string[] {
  const file = (path.split('/').at(-1) ?? '').replace(/\.\w+$/, '')
  const exported = code.matchAll(
    /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type) (\w+)/gm,
  )
  return [file, ...[...exported].map(([, name = '']) => name)].flatMap((name) => {
    const parts = name.split(/[-_.]|(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase())
    return parts.filter((part) => words.includes(part)).map((part) => `${path}: ${name} has "${part}"`)
  })
}
