import { asks } from '../../triarch/test/cache/process.ts'
import { postgres } from '../src/index.ts'

await asks(postgres(JSON.parse(process.argv[2] ?? '')))
