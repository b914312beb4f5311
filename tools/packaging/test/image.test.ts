// What the Dockerfile of ops/ does, step by step, with the packages as users get them: an image itself needs an engine for containers.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { read, root } from '../manifest.ts'
import { npm, run, started } from './tool.ts'

const dockerfile = readFileSync(join(root, 'ops/container/Dockerfile'), 'utf8')
const home = join(dirname(inject('app')), 'image')
/** Where each stage has its files. */
const stages = { packages: join(home, 'packages'), last: join(home, 'last') }

function instructions(): [name: string, rest: string][] {
  const lines = dockerfile.replaceAll('\\\n', ' ').split('\n')
  return lines.flatMap((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
    return name === '' ? [] : [[name, rest] as [string, string]]
  })
}

/** A project of somebody's, with a lock file: what is installed by it is what the image has. */
async function project(): Promise<string> {
  const folder = join(home, 'project')
  mkdirSync(join(folder, 'src'), { recursive: true })
  const tarballs = inject('tarballs')
  const packed = ['triarch', ...['postgres', 'client', 'server', 'cli', 'opentelemetry'].map((it) => `@triarch/${it}`)]
  const others = ['@opentelemetry/api', 'prom-client'].map((name) => [
    name,
    read(join(root, 'node_modules', name)).version,
  ])
  const dependencies = Object.fromEntries([...packed.map((name) => [name, `file:${tarballs[name]}`]), ...others])
  const devDependencies = { '@triarch/eslint-plugin': `file:${tarballs['@triarch/eslint-plugin']}` }
  const manifest = { private: true, type: 'module', dependencies, devDependencies }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const app = `import { workflow } from 'triarch'\nexport const greet = workflow('greet', { run: async (name: string) => name })\n`
  writeFileSync(join(folder, 'src/app.ts'), app)
  await npm(folder, 'install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund')
  return folder
}

it('each step of the Dockerfile does what it should, and what comes of them starts', async () => {
  const context = await project()
  const env: Record<string, string> = {}
  const words: Record<string, string[]> = {}
  let stage = ''
  const ran: string[] = []
  // By the Node that this runs on, and with a cache of its own: the last of what RUN does is to empty that.
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  for (const [name, rest] of instructions()) {
    if (name === 'FROM') {
      stage = rest.endsWith(' AS packages') ? stages.packages : stages.last
      mkdirSync(stage)
    } else if (name === 'COPY') {
      const [, from, what = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? []
      const parts = what.split(' ')
      const to = parts.pop() ?? ''
      for (const part of parts) {
        const source = from === undefined ? join(context, part) : part.replace('/app', stages.packages)
        cpSync(source, to === './' ? join(stage, part) : join(stage, to), { recursive: true, verbatimSymlinks: true })
      }
    } else if (name === 'RUN') {
      ran.push(rest)
      await run(stage, 'env', `PATH=${path}`, `npm_config_cache=${join(home, 'cache')}`, 'sh', '-ec', rest)
    } else if (name === 'ENV') Object.assign(env, Object.fromEntries([rest.split('=')]))
    else if (name === 'ENTRYPOINT' || name === 'CMD') words[name] = JSON.parse(rest) as string[]
  }
  expect(ran).toHaveLength(1)
  expect(readdirSync(stages.last).sort()).toEqual(['node_modules', 'package.json', 'src'])
  expect(existsSync(join(stages.last, 'node_modules/@triarch/server'))).toBe(true)
  expect(existsSync(join(stages.last, 'node_modules/@triarch/eslint-plugin'))).toBe(false)
  const [entry = ''] = words.ENTRYPOINT ?? []
  const command = (words.CMD ?? []).map((word) => word.replace(/^(?:7070|9464)$/, '0'))
  const given = { ...env, PATH: path, TRIARCH_STORE: join(home, 'tasks.db'), TRIARCH_SERVER_KEY: 'k'.repeat(40) }
  const loader = join(home, 'entry.mjs')
  // Ends with its input, as what is started here must.
  writeFileSync(
    loader,
    `Object.assign(process.env, ${JSON.stringify(given)})
process.chdir(${JSON.stringify(stages.last)})
process.argv.splice(1, 1, ${[entry, ...command].map((word) => JSON.stringify(word)).join(', ')})
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume()
await import(${JSON.stringify(join(stages.last, entry))})
`,
  )
  await using node = await started(stages.last, process.execPath, loader)
  expect(node.line).toMatch(/started with greet$/)
})
