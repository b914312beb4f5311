// What the image runs, as the image runs it: by somebody who is not root, and who can write nothing but the folder of the store.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const dockerfile = readFileSync(join(import.meta.dirname, '../container/Dockerfile'), 'utf8')
const words = (instruction: RegExp) => JSON.parse(instruction.exec(dockerfile)?.[1] ?? '[]') as string[]
const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const engine = new URL('../../packages/triarch/src/index.ts', import.meta.url).href

const folder = mkdtempSync(join(tmpdir(), 'triarch-image-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

/** A module as users write it, which also tells what it may not do. */
const app = `import { writeFileSync } from 'node:fs'
import { workflow } from ${JSON.stringify(engine)}
try {
  writeFileSync(new URL('own', import.meta.url), '')
  console.log('wrote beside the module')
} catch ({ code }) {
  console.log('refused', code, 'to', process.getuid())
}
export const greet = workflow('greet', { run: async (name) => 'hello ' + name })
`

it('the image starts as nobody, writes nothing but its store, answers its health check, and ends in order', async () => {
  const [, uid = ''] = /^USER (\d+):\d+$/m.exec(dockerfile) ?? []
  const data = join(folder, 'data')
  mkdirSync(data)
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src/app.ts'), app)
  chmodSync(folder, 0o755)
  const [port, scraped] = [await freePort(), await freePort()]
  const ported = (text: string) => text.replaceAll('7070', `${port}`).replaceAll('9464', `${scraped}`)
  const command = words(/^CMD (\[.*\])$/m).map(ported)
  const confined = [
    '--permission',
    '--allow-fs-read=*',
    `--allow-fs-write=${data}/*`,
    '--allow-worker',
    '--no-warnings',
  ]
  const node = [process.execPath, ...confined, main, ...command]
  // Whoever is root here becomes the one that the image names; others are not root anyway.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(data, Number(uid), Number(uid))
  const as = isRoot ? ['setpriv', '--reuid', uid, '--regid', uid, '--clear-groups', ...node] : node
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', TRIARCH_SERVER_KEY: 'k'.repeat(40), TRIARCH_STORE: join(data, 'tasks.db') } // biome-ignore format: a row
  const child = spawn(as[0] ?? '', as.slice(1), { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const said: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (line.includes('serves')) break
  }
  expect(said[0]).toBe(`refused ERR_ACCESS_DENIED to ${isRoot ? uid : process.getuid?.()}`)
  const [program = '', ...check] = words(/^ {2}CMD (\[.*\])$/m).map(ported)
  expect(program).toBe('node')
  expect(spawnSync(process.execPath, check).status).toBe(0)
  expect(await (await fetch(`http://127.0.0.1:${scraped}/metrics`)).text()).toContain('triarch_lease_renewed_total')
  const [, signal = ''] = /^STOPSIGNAL (\w+)$/m.exec(dockerfile) ?? []
  child.kill(signal as NodeJS.Signals)
  expect(await once(child, 'exit')).toEqual([0, null])
  // Now nobody is there to answer it.
  expect(spawnSync(process.execPath, check).status).toBe(1)
  expect(execFileSync('ls', [folder], { encoding: 'utf8' })).toBe('data\nsrc\n')
})
