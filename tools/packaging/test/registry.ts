import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What npm sends to publish a package. */
export interface Publication {
  name: string
  access: string | null
  'dist-tags': Record<string, string>
  versions: Record<string, { name: string; version: string; [field: string]: unknown }>
  _attachments: Record<string, { data: string; length: number }>
}

/** A registry on this machine that takes and gives what npm publishes, and nothing else. */
export async function startRegistry(): Promise<{
  publications: Publication[]
  /** What npm is told to use it. */
  args: string[]
  stop: () => void
}> {
  const publications: Publication[] = []
  const server = createServer((request, response) => {
    const answer = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    const name = decodeURIComponent((request.url ?? '').slice(1))
    if (request.method !== 'PUT') {
      const found = publications.find((it) => it.name === name)
      return found ? answer(200, found) : answer(404, { error: 'not found' })
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      publications.push(JSON.parse(Buffer.concat(chunks).toString()) as Publication)
      answer(201, { ok: true })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const args = ['--registry', `http://127.0.0.1:${port}`, `--//127.0.0.1:${port}/:_authToken=nobody`]
  return { publications, args, stop: () => server.close() }
}
