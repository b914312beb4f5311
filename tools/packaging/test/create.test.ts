import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { npm, run, started } from './tool.ts'

const app = inject('app')
const command = join(app, 'node_modules/.bin/create-triarch')
/** A project that `npm create triarch` began, with the packed packages in place of those of the registry. */
async function created(template: string): Promise<string> {
  const folder = `made-${template}`
  await run(app, process.execPath, command, folder, '--template', template)
  const home = join(app, folder)
  const file = join(home, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> }
  const tarballs = inject('tarballs')
  const packed = Object.keys(manifest.dependencies).map((name) => [name, `file:${tarballs[name]}`])
  writeFileSync(file, JSON.stringify({ ...manifest, dependencies: Object.fromEntries(packed) }))
  await npm(home, 'install', '--prefer-offline', '--no-audit', '--no-fund')
  expect(await npm(home, 'run', 'check', '--silent')).toBe('')
  return home
}

it('the template of one file is installed and runs', async () => {
  const home = await created('file')
  // By the Node that this runs on, wherever another stands before it.
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  expect(await run(home, 'env', `PATH=${path}`, 'npm', 'start', '--silent')).toBe('receipt order-1-10')
})

/** Starts a program of the project, which ends with its input, as those of started() must. */
function program(home: string, path: string, env: Record<string, string> = {}) {
  const lines = [
    `Object.assign(process.env, ${JSON.stringify(env)})`,
    "process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume()",
    `await import('./${path}')`,
  ]
  const file = `${path.replaceAll('/', '-')}.mjs`
  writeFileSync(join(home, file), lines.join('\n'))
  return started(home, process.execPath, file)
}

it('the template of several processes is installed and runs', async () => {
  const home = await created('processes')
  await using _scheduler = await program(home, 'src/scheduler.ts')
  await using _agent = await program(home, 'src/agent.ts')
  expect(await run(home, process.execPath, 'src/submit.ts', 'bob')).toMatch(/^sent to bob by \d+$/)
})

it('the template of a web application is installed and runs on PostgreSQL', async () => {
  const home = await created('web')
  await using server = await program(home, 'src/main.ts', { DATABASE_URL: inject('url'), PORT: '0' })
  const post = async (body: string) => fetch(`${server.line}/orders`, { method: 'POST', body })
  expect((await post('{"id":"7","amount":10}')).status).toBe(202)
  expect((await post('{"id":"7"}')).status).toBe(400)
  const found = async () => (await fetch(`${server.line}/orders/7`)).json()
  await expect.poll(found).toMatchObject({ outcome: 'success', output: '7-10' })
  expect((await fetch(`${server.line}/orders/8`)).status).toBe(404)
})
