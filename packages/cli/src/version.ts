import { createRequire } from 'node:module'

const { version: own } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Of this package, which is that of the release. */
export const version: string = own
