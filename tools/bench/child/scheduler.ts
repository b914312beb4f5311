// A process that decides for tasks, and runs no actions: its steps go to others.
import './parent.ts'
import { start } from '../subject.ts'

const [place = ''] = process.argv.slice(2)
await start(place, { agents: [], roles: ['scheduler', 'supervisor'] })
console.log('ready')
