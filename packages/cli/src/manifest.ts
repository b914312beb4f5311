import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const { bin, version: own } = createRequire(import.meta.url)('../package.json') as {
  bin: { triarch: string }
  version: string
}

/** The version of this package, which is that of the release. */
export const version: string = own

/** The file of the program `triarch`. */
export const program: string = fileURLToPath(new URL(`../${bin.triarch}`, import.meta.url))
