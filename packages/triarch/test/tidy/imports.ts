import { posix } from 'node:path'
import { lineAt, type Source } from './source.ts'

const clause = /(?:(?!\b(?:import|export)\b)[\w$*{},\s])*?/.source
const declared = new RegExp(
  String.raw`\b(?:import|export)\s+(?<type>type\s+(?!from\b))?(?:${clause}\bfrom\s*)?(?<quote>['"])(?<name> *)\k<quote>`,
  'dg',
)
const dynamic = /\bimport\s*\(\s*(?<quote>['"])(?<name> *)\k<quote>/dg

export interface Import {
  readonly from: string
  /** The imported file's path, or the name of a module that is not ours. */
  readonly to: string
  readonly line: number
  /** True for `import type` and `export type`: nothing of it is left at run time. */
  readonly typeOnly: boolean
}

export function importsOf({ path, text, code }: Source): Import[] {
  return [...code.matchAll(declared), ...code.matchAll(dynamic)].map((match) => {
    const [start, end] = match.indices?.groups?.name ?? [0, 0]
    const name = text.slice(start, end)
    return {
      from: path,
      to: name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
      line: lineAt(code, match.index),
      typeOnly: match.groups?.type !== undefined,
    }
  })
}

/** Every cycle of imports a depth-first walk meets, as the files it passes through. Those of mere types count. */
export function cycles(imports: readonly Import[]): string[][] {
  const edges = Map.groupBy(imports, (it) => it.from)
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, trail: readonly string[]): void => {
    const seen = trail.indexOf(file)
    if (seen >= 0) found.push([...trail.slice(seen), file])
    if (seen >= 0 || done.has(file)) return
    for (const { to } of edges.get(file) ?? []) visit(to, [...trail, file])
    done.add(file)
  }
  for (const file of edges.keys()) visit(file, [])
  return found
}
