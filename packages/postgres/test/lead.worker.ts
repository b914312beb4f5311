import { leads } from '../../triarch/test/lead/process.ts'
import { postgres } from '../src/index.ts'

await leads(postgres(JSON.parse(process.argv[2] ?? '')))
