import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { create } from '../src/create.ts'
import { templates } from '../src/templates.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'triarch-create-'))
// As installed: the packages of the workspace.
symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const run = (args: readonly string[]) => spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8' })

it('writes a project into an empty folder, and nothing into any other', () => {
  expect(run(['shop', '--template', 'file'])).toMatchObject({ status: 0, stdout: expect.stringContaining('npm start') })
  expect(JSON.parse(readFileSync(join(folder, 'shop/package.json'), 'utf8'))).toMatchObject({
    ...{
      name: 'shop',
      type: 'module',
      scripts: { start: 'node app.ts', dev: expect.stringContaining('triarch dev app.ts') },
    },
    dependencies: { triarch: expect.stringMatching(/^\^\d/) },
    devDependencies: { '@types/node': expect.any(String), typescript: expect.any(String) },
  })
  expect(run(['shop', '--template', 'file'])).toMatchObject({ status: 1, stderr: expect.stringContaining('not empty') })
  expect(run(['other', '--template', 'nothing']).status).toBe(2)
  expect(run(['My Shop']).status).toBe(2)
  expect(run([]).status).toBe(2)
  expect(run(['--help']).status).toBe(0)
  expect(readdirSync(folder).sort()).toEqual(['node_modules', 'shop'])
  // Nobody is asked where nobody is.
  mkdirSync(join(folder, 'empty'))
  expect(run(['empty']).status).toBe(0)
})

it('makes projects whose code compiles as strictly as ours', () => {
  const own = join(folder, 'compiled')
  for (const template of Object.keys(templates)) create({ folder: join(own, template), template })
  const tsconfig = fileURLToPath(new URL('../../../tsconfig.json', import.meta.url))
  const typeRoots = [join(folder, 'node_modules/@types')]
  writeFileSync(
    join(own, 'tsconfig.json'),
    JSON.stringify({ extends: tsconfig, compilerOptions: { typeRoots }, include: ['**/*.ts'], exclude: [] }),
  )
  const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url))
  const compile = (path: string) => {
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', path], { encoding: 'utf8', cwd: path })
    return [status, stdout]
  }
  expect(compile(own)).toEqual([0, ''])
  // By its own configuration, which notices what is wrong. Of the packages it sees their sources here, which are held to ours.
  writeFileSync(join(own, 'file/wrong.ts'), 'enum Wrong { a }\nexport const n: string = process.pid\n')
  const [, said = ''] = compile(join(own, 'file'))
  const found = `${said}`.split('\n').flatMap((line) => /^(?!\.\.)(\S+)\(\d+,\d+\): error (TS\d+)/.exec(line)?.slice(1, 3).join(' ') ?? []) // biome-ignore format: a row
  expect(found).toEqual(['wrong.ts TS1294', 'wrong.ts TS2322'])
})

it('one file runs its task, and again without doing it twice', () => {
  const cwd = join(folder, 'shop')
  const start = () => execFileSync(process.execPath, ['app.ts'], { cwd, encoding: 'utf8', stdio: 'pipe' })
  expect(start()).toBe('receipt order-1-10\n')
  expect(start()).toBe('receipt order-1-10\n')
})

it('one file is what triarch dev runs, which does not run its task', async () => {
  const cwd = join(folder, 'developed')
  create({ folder: cwd, template: 'file' })
  const { scripts } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8')) as { scripts: { dev: string } }
  const [, ...args] = scripts.dev.split(' ')
  const cli = fileURLToPath(new URL('../../cli/src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [cli, ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.includes('the console http')) break
  }
  expect(lines).toEqual([expect.stringMatching(/started with fulfil, bank$/), expect.stringContaining('the console')])
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
})

it('several processes share the work', async () => {
  const cwd = join(folder, 'several')
  create({ folder: cwd, template: 'processes' })
  const started = async (path: string) => {
    const child = spawn(process.execPath, [path], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    for await (const line of createInterface({ input: child.stdout })) if (line === 'started') return child.pid
    throw new Error(`${path} ended`)
  }
  await started('src/scheduler.ts')
  const agent = await started('src/agent.ts')
  const said = execFileSync(process.execPath, ['src/submit.ts', 'bob'], { cwd, encoding: 'utf8' })
  expect(said).toBe(`sent to bob by ${agent}\n`)
})
