import { works } from '../../triarch/test/kill/process.ts'
import { postgres } from '../src/index.ts'

await works(postgres(JSON.parse(process.argv[2] ?? '')))
