import { migration0001 } from './0001.ts'
import { migration0002 } from './0002.ts'
import { migration0003 } from './0003.ts'
import { migration0004 } from './0004.ts'
import { migration0005 } from './0005.ts'
import { migration0009 } from './0009.ts'

/** In order; the position is the schema version. Only ever append. */
export const migrations: readonly string[] = [
  migration0001,
  migration0002,
  migration0003,
  migration0004,
  migration0005,
  migration0009,
]
