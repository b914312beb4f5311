// What one entry of a package offers: its exports, and what these name without it being exported.
import { type Module, namedBy, parse, type Tree } from './module.ts'

export interface Declaration {
  /** As it is declared. */
  name: string
  module: Module
  nodes: readonly Tree[]
}

export interface Exported {
  /** As it is imported. */
  name: string
  /** A class or a function of which only the type is offered. */
  typeOnly: boolean
  declaration: Declaration
}

export interface Hidden {
  declaration: Declaration
  /** The export that leads to it; a record of the store's only where nothing else does. */
  through: string
}

export interface Surface {
  entry: Entry
  exports: readonly Exported[]
  /** Declarations that exports name, directly or through others, and that no entry exports. */
  hidden: readonly Hidden[]
  /** What is named of other entries and of other packages, by where it comes from. */
  foreign: ReadonlyMap<string, readonly string[]>
}

export interface Entry {
  /** What it is imported as. */
  name: string
  /** Of its package's declarations. */
  path: string
}

/** The declarations of one package: all of its modules, each parsed once. */
export class Declarations {
  readonly #modules = new Map<string, Module>()
  readonly #read: (path: string) => string

  constructor(read: (path: string) => string) {
    this.#read = read
  }

  module(path: string): Module {
    const known = this.#modules.get(path)
    if (known) return known
    const module = parse(path, this.#read(path))
    this.#modules.set(path, module)
    return module
  }

  exportsOf(path: string, typeOnly = false): Exported[] {
    const module = this.module(path)
    const own = [...module.exports].map(([name, exported]) => {
      const declaration = this.#find(exported.from ? this.module(exported.from) : module, exported.name)
      return { name, typeOnly: typeOnly || exported.typeOnly, declaration }
    })
    const all = module.stars.flatMap((star) => this.exportsOf(star.from, typeOnly || star.typeOnly))
    const found = new Map([...all, ...own].map((one) => [one.name, one]))
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Where a name of a module leads: to a declaration of this package, or to another package. Null: a name of the language. */
  resolve(module: Module, name: string): Declaration | { from: string; name: string } | null {
    const nodes = module.declared.get(name)
    if (nodes) return { name, module, nodes }
    const imported = module.imports.get(name)
    if (!imported) return null
    if (!imported.from.endsWith('.d.ts')) return { from: imported.from, name: imported.name ?? name }
    if (imported.name === null)
      throw new Error(`${module.path} imports all of ${imported.from}, which is not reported yet`)
    return this.#find(this.module(imported.from), imported.name)
  }

  /** Where a name that a module exports, or has for itself, is declared. */
  #find(module: Module, name: string): Declaration {
    const exported = module.exports.get(name)
    const found = exported?.from
      ? this.#find(this.module(exported.from), exported.name)
      : this.resolve(module, exported?.name ?? name)
    if (found && 'nodes' in found) return found
    const star = module.stars.find(({ from }) => this.exportsOf(from).some((one) => one.name === name))
    if (!star) throw new Error(`${module.path} has no declaration of ${name}`)
    return this.#find(this.module(star.from), name)
  }
}

/** What stores carry to a task. Whoever reads it names all of the kernel's facts. */
export const records: readonly string[] = ['Message', 'Reply', 'Heartbeat']

/** The surfaces of a package's entries. What one entry exports is no secret of another. */
export function surfacesOf(declarations: Declarations, entries: readonly Entry[]): Surface[] {
  const exported = entries.map((entry) => ({ entry, exports: declarations.exportsOf(entry.path) }))
  const homes = new Map<string, string>()
  for (const { entry, exports } of exported.toReversed())
    for (const { declaration } of exports) homes.set(keyOf(declaration), entry.name)
  return exported.map(({ entry, exports }) => {
    const own = new Set(exports.map(({ declaration }) => keyOf(declaration)))
    const hidden = new Map<string, Hidden>()
    const foreign = new Map<string, Set<string>>()
    const visit = (declaration: Declaration, through: string): void => {
      for (const name of declaration.nodes.flatMap((node) => [...namedBy(node)])) {
        const found = declarations.resolve(declaration.module, name)
        if (!found) continue
        if (!('nodes' in found)) foreign.set(found.from, (foreign.get(found.from) ?? new Set()).add(found.name))
        else if (!own.has(keyOf(found)) && !hidden.has(keyOf(found))) {
          const home = homes.get(keyOf(found))
          if (home !== undefined) foreign.set(home, (foreign.get(home) ?? new Set()).add(found.name))
          else {
            hidden.set(keyOf(found), { declaration: found, through })
            visit(found, through)
          }
        }
      }
    }
    const last = ({ name }: Exported) => Number(records.includes(name))
    for (const { name, declaration } of exports.toSorted((a, b) => last(a) - last(b))) visit(declaration, name)
    return {
      entry,
      exports,
      hidden: [...hidden.values()].sort((a, b) => (a.declaration.name < b.declaration.name ? -1 : 1)),
      foreign: new Map(
        [...foreign].map(([from, names]) => [from, [...names].sort()] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    }
  })
}

function keyOf({ module, name }: Declaration): string {
  return `${module.path}#${name}`
}
