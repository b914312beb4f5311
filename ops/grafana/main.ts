import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboard } from './dashboard.ts'

const file = join(import.meta.dirname, 'triarch.json')
writeFileSync(file, JSON.stringify(dashboard(), null, 2))
// In the layout that everything here has.
execFileSync(process.execPath, [
  join(import.meta.dirname, '../../node_modules/@biomejs/biome/bin/biome'),
  'format',
  '--write',
  file,
])
