// The agent in Python, as it sends its token. What it does with attempts is in conformance.test.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const folder = fileURLToPath(new URL('../python', import.meta.url))

async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A process that hosts an agent with a token. Where there is no python3, this fails and says so. */
function hosting(url: string, options = '') {
  const program = `
from triarch_agent import Agent, serve
agent = Agent("mail")
@agent.action("send")
def send(input, step):
    return None
serve(${JSON.stringify(url)}, [agent], token="s3cret"${options})`
  const child = spawn('python3', ['-c', program], {
    ...{ cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, exited }
}

it('an agent in Python follows no redirect with its token', async () => {
  const heard: unknown[] = []
  const away = await served(({ headers }, response) => {
    heard.push(headers.authorization)
    response.end('{"messages":[]}')
  })
  let asked = 0
  const again = Promise.withResolvers<void>()
  const first = await served((_, response) => {
    if (++asked === 3) again.resolve()
    response.writeHead(302, { location: away }).end()
  })
  hosting(first)
  await again.promise
  expect(heard).toEqual([])
})

it('an agent in Python sends its token over http: to no other machine, unless somebody says that it may', async () => {
  const { child, exited } = hosting('http://tasks.example.invalid')
  const [said, [code]] = await Promise.all([text(child.stderr), exited])
  expect([code, said]).toEqual([1, expect.stringContaining('insecure=True')])
})
