// A process that runs tasks which others submit.
import './parent.ts'
import { start } from '../subject.ts'

const [place = ''] = process.argv.slice(2)
await start(place)
console.log('ready')
