import { readFileSync } from 'node:fs'

/** The text of a file of this folder. The build puts them all into this module's place, so that a bundle finds them. */
export function textOf(file: string): string {
  return readFileSync(new URL(`./${file}`, import.meta.url), 'utf8')
}
