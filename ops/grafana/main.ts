import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboard } from './dashboard.ts'

writeFileSync(join(import.meta.dirname, 'triarch.json'), `${JSON.stringify(dashboard(), null, 2)}\n`)
