// A process that only runs actions, and has only a URL.
import './parent.ts'
import { connectAgents } from 'triarch'
import { service } from '../subject.ts'

const [url = '', transport = ''] = process.argv.slice(2)
const connection = connectAgents(url, { agents: [service], webSocket: transport === 'socket' })
await connection.connected
console.log('ready')
