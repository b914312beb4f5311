import { errands, serve } from '../../triarch/test/lease/process.ts'
import { postgres } from '../src/index.ts'

const [target = '', options = ''] = process.argv.slice(2)
await serve(postgres(JSON.parse(target)), JSON.parse(options), errands)
