// Types that a user meets and cannot name.
import { records, type Surface } from './surface.ts'

const written = 'how an export is written: nobody has a value of it'

/** What exports name without its being one, besides what records are made of. */
export const known: Readonly<Record<string, string>> = {
  Arriving: written,
  Callable: written,
  Empty: written,
  KeyFunction: written,
  Nothing: written,
  Parts: written,
  Property: written,
  Unserialisable: written,
  ReferenceValue: written,
}

/** `excused`: the names of `known` that were met. */
export function exposed({ entry, hidden }: Surface, excused: Set<string>): string[] {
  const own = hidden.filter(({ through }) => !records.includes(through))
  const problems: string[] = []
  for (const { declaration, through } of own) {
    const { name, module } = declaration
    if (known[name] === undefined)
      problems.push(`${entry.name}: ${through} names ${name} (${module.path}), which no entry exports`) // biome-ignore format: one line
    else excused.add(name)
  }
  return problems
}
