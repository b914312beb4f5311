import { migration0001 } from './0001.ts'

/** In order; the position is the schema version. Only ever append. */
export const migrations: readonly string[] = [migration0001]
