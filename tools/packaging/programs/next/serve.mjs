// node serve.mjs NEXT: serves what was built, prints where, and ends with its input.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

const free = createServer().listen(0, '127.0.0.1')
await once(free, 'listening')
const { port } = free.address()
free.close()
await once(free, 'close')
const args = [process.argv[2], 'start', '--hostname', '127.0.0.1', '--port', String(port)]
const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
process.stdin.on('end', () => child.kill()).resume()
child.stdout.on('data', (text) => {
  if (/Ready/.test(String(text))) console.log(`http://127.0.0.1:${port}`)
})
await once(child, 'exit')
