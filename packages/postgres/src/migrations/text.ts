import { readFileSync } from 'node:fs'

/**
 * Returns the text of a file in this folder. The build replaces this module by one with all the texts, so that a bundle
 * has no file to find.
 */
export function textOf(file: string): string {
  return readFileSync(new URL(`./${file}`, import.meta.url), 'utf8')
}
