// Callers with a key to read, at full speed: node readers.ts URL CONNECTIONS PATHS
// Each line on its input is answered by how many requests were answered, and how many of them were refused.
import './parent.ts'
import { Agent, get } from 'node:http'

const [server = '', connections = '1', paths = '[]'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const all = JSON.parse(paths) as string[]
let answered = 0
let refused = 0

function ask(path: string): Promise<void> {
  return new Promise((resolve) => {
    get(`${server}/api/v1${path}`, { agent, headers: { 'x-key': 'reader' } }, (response) => {
      answered++
      if (response.statusCode !== 200) refused++
      response.resume().once('close', resolve)
    }).once('error', () => resolve())
  })
}

async function read(from: number): Promise<void> {
  for (let n = from; ; n++) await ask(all[n % all.length] as string)
}

for (let n = 0; n < Number(connections); n++) void read(n)
process.stdin.on('data', () => console.log(JSON.stringify({ answered, refused })))
console.log('reading')
