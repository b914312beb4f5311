import { migration0001 } from './0001.ts'
import { migration0002 } from './0002.ts'
import { migration0003 } from './0003.ts'
import { migration0004 } from './0004.ts'
import { migration0005 } from './0005.ts'
import { migration0006 } from './0006.ts'
import { migration0007 } from './0007.ts'
import { migration0008 } from './0008.ts'
import { migration0009 } from './0009.ts'
import { migration0011 } from './0011.ts'
import { migration0012 } from './0012.ts'
import { migration0013 } from './0013.ts'
import { migration0014 } from './0014.ts'
import { migration0015 } from './0015.ts'
import { migration0016 } from './0016.ts'
import { migration0017 } from './0017.ts'
import { migration0018 } from './0018.ts'
import { migration0019 } from './0019.ts'
import { migration0020 } from './0020.ts'
import { migration0021 } from './0021.ts'
import { migration0022 } from './0022.ts'
import { migration0023 } from './0023.ts'
import { migration0024 } from './0024.ts'
import { migration0025 } from './0025.ts'
import { migration0026 } from './0026.ts'

/** A step from one schema to the next; done once. */
export interface Migration {
  name: string
  sql: string
}

/** In order of their names. Only ever append, and only expand: processes of the version before go on beside us. */
export const migrations: readonly Migration[] = [
  { name: '0001', sql: migration0001 },
  { name: '0002', sql: migration0002 },
  { name: '0003', sql: migration0003 },
  { name: '0004', sql: migration0004 },
  { name: '0005', sql: migration0005 },
  { name: '0006', sql: migration0006 },
  { name: '0007', sql: migration0007 },
  { name: '0008', sql: migration0008 },
  { name: '0009', sql: migration0009 },
  { name: '0011', sql: migration0011 },
  { name: '0012', sql: migration0012 },
  { name: '0013', sql: migration0013 },
  { name: '0014', sql: migration0014 },
  { name: '0015', sql: migration0015 },
  { name: '0016', sql: migration0016 },
  { name: '0017', sql: migration0017 },
  { name: '0018', sql: migration0018 },
  { name: '0019', sql: migration0019 },
  { name: '0020', sql: migration0020 },
  { name: '0021', sql: migration0021 },
  { name: '0022', sql: migration0022 },
  { name: '0023', sql: migration0023 },
  { name: '0024', sql: migration0024 },
  { name: '0025', sql: migration0025 },
  { name: '0026', sql: migration0026 },
]

/** What `triarch_schema` says: the oldest code that may still work on this store, by the number of its last migration. */
export const OLDEST_CODE = { format1: 5, format2: 10 } as const
