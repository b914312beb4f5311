// The check can fail. Each test plants files in a copy of the workspace's frame (the real package.json, vitest.config.ts, .ci and
// scripts, but no tests) and runs there what a contributor or CI runs.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8')
const imported = [...config.matchAll(/ from '\.\/((?:tools\/)?[^/']+)/g)].map(([, folder]) => folder ?? '')
const frame = ['vitest.config.ts', ...imported, '.ci', 'scripts/setup.mjs', 'scripts/test.ts', 'scripts/counts.ts']
/** What the set-up of the postgres project needs. */
const server = ['setup.ts', 'server.ts'].map((name) => `packages/postgres/test/${name}`)
const database = ['launch.ts', 'database'].map((name) => `examples/orders/${name}`)

const inProject = {
  engine: 'packages/triarch/test/planted.test.ts',
  postgres: 'packages/postgres/test/planted.test.ts',
} as const
const setup = 'packages/postgres/test/setup.ts'

const heading = `import { afterAll, beforeAll, describe, expect, it } from 'vitest'\n`
const passing = `${heading}it('passes', () => expect(1).toBe(1))\n`
const failing = `${passing}it('fails', () => expect(1).toBe(2))\n`

const planted: string[] = []
afterEach(() => {
  for (const folder of planted.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Whatever is not a test of ours. */
const filter = (path: string) => !/\.(?:test|proof)\.ts$/.test(path)

/** The frame, with these files in it. */
function plant(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-planted-'))
  planted.push(folder)
  for (const path of [...frame, ...server, ...database])
    cpSync(join(root, path), join(folder, path), { recursive: true, filter })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // The other steps of .ci/run judge files that are not here.
  for (const step of [
    'format:check',
    'lint',
    'types',
    'record',
    'api',
    'docs',
    'pretest:long',
    'test:long',
    'preproofs',
    'proofs',
    'prepackages',
    'packages',
  ])
    manifest.scripts[step] = 'node --version'
  const all = {
    'package.json': JSON.stringify({ ...manifest, workspaces: undefined }),
    'packages/console/build.ts': '', // run by the set-up, and there is no console here
    ...files,
  }
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

interface Outcome {
  status: number | null
  /** The last line of standard output that counts tests. */
  last: string | undefined
  all: string
}

async function run(files: Record<string, string>, command: string, ...args: string[]): Promise<Outcome> {
  const env = { ...process.env }
  // What this very run of vitest tells its own processes is not for the other one.
  for (const name of Object.keys(env))
    if (/^(VITEST|TRIARCH_|npm_|NODE_ENV|TEST$|MODE$|DEV$|PROD$)/.test(name)) delete env[name]
  const child = spawn(command, args, { cwd: plant(files), env, stdio: ['ignore', 'pipe', 'pipe'] })
  const status = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return {
    status: await status,
    last: out.split('\n').findLast((line) => / passed, /.test(line)),
    all: `${out}\n${errors}`,
  }
}

const npmTest = (files: Record<string, string>, ...args: string[]) => run(files, 'npm', 'test', ...args)
/** What `npm test` runs, without the second that npm takes to say so. */
const test = (files: Record<string, string>, ...args: string[]) =>
  run(files, process.execPath, 'scripts/test.ts', ...args)
const ci = (files: Record<string, string>) => run(files, '.ci/run')

describe('the check', { timeout: 120_000 }, () => {
  it.each(Object.entries(inProject))('fails by a test that fails in the project %s', async (_, path) => {
    const own = await npmTest({ [path]: failing })
    expect(own, own.all).toMatchObject({ last: '1 passed, 1 failed' })
    expect(own.status, own.all).toBeGreaterThan(0)
  })

  it('tells by name what failed beside others and passes by itself, and fails by what does so no more than by what fails again', async () => {
    const once = `import { existsSync, writeFileSync } from 'node:fs'
      describe('a room', () => describe('of a house', () => {
        it('fails (once)', () => { if (!existsSync('been')) { writeFileSync('been', ''); expect(1).toBe(2) } })
      }))`
    const flaky = await test({ [inProject.engine]: `${passing}${once}` })
    expect(flaky, flaky.all).toMatchObject({ status: 0, last: '2 passed, 0 failed' })
    expect(flaky.all).toContain(`test: passed only by itself: ${inProject.engine}: a room > of a house > fails (once)`)
    const both = await test({ [inProject.engine]: `${failing}${once}` })
    expect(both, both.all).toMatchObject({ status: 1, last: '1 passed, 2 failed' })
  })

  // CI knows nothing of projects. This one loads what would rather end with another status.
  it('fails in CI by a test that fails', async () => {
    const all = await ci({ [inProject.postgres]: failing })
    expect(all, all.all).toMatchObject({ last: '1 passed, 1 failed' })
    expect(all.status, all.all).toBeGreaterThan(0)
  })

  it('passes when every test passes, and counts those that are skipped', async () => {
    const files = {
      [inProject.engine]: `${passing}it.skip('later', () => undefined)\n`,
      [inProject.postgres]: passing,
    }
    const own = await npmTest(files)
    expect(own, own.all).toMatchObject({ status: 0, last: '2 passed, 0 failed, 1 skipped' })
    const all = await ci(files)
    expect(all, all.all).toMatchObject({ status: 0, last: '2 passed, 0 failed, 1 skipped' })
  })

  it('fails in CI by any of the steps before the tests', async () => {
    const broken = JSON.stringify({ scripts: { 'format:check': 'true', lint: 'exit 3', types: 'true', test: 'true' } })
    const { status } = await ci({ 'package.json': broken })
    expect(status).toBe(3)
  })

  it.each([
    [
      'a rejection that nobody handles',
      `it('starts one', () => void Promise.reject(new Error('lost')))`,
      '2 passed, 1 failed',
    ],
    [
      'an error that nobody catches',
      `it('throws one', async () => {
        setImmediate(() => { throw new Error('lost') })
        await new Promise((resolve) => setTimeout(resolve, 50))
      })`,
      '2 passed, 1 failed',
    ],
    [
      'a worker that dies',
      `it('kills it', () => void process.kill(process.pid, 'SIGKILL'))`,
      /^\d passed, [1-9] failed/,
    ],
    ['a test that ends the process', `it('ends it', () => process.exit(0))`, /^\d passed, [1-9] failed/],
    ['a file that does not load', `throw new Error('no')`, /^\d passed, [1-9] failed/],
    ['a hook before the tests', `beforeAll(() => { throw new Error('no') })`, /^\d passed, [1-9] failed/],
    ['a hook after the tests', `afterAll(() => { throw new Error('no') })`, '1 passed, 1 failed'],
    [
      'an exit hook of its own',
      `process.on('exit', () => process.exit(0))\nit('fails', () => expect(1).toBe(2))`,
      '1 passed, 1 failed',
    ],
  ])('fails by %s', async (_, code, last) => {
    const { status, ...told } = await test({ [inProject.engine]: `${passing}${code}\n` })
    expect(status, told.all).toBeGreaterThan(0)
    expect(told.last, told.all).toMatch(last)
  })

  it.each([
    ['fails', `export const setup = () => { throw new Error('no') }`],
    ['ends the process', `export const setup = () => process.exit(0)`],
    ['fails afterwards', `export const teardown = () => { throw new Error('no') }`],
  ])('fails by a set-up that %s', async (_, code) => {
    const { status, last, all } = await test({ [inProject.postgres]: passing, [setup]: code })
    expect(status, all).toBeGreaterThan(0)
    expect(last, all).toMatch(/^\d passed, [1-9] failed/)
  })

  it.each([
    ['an exit hook', `process.on('exit', () => { process.exitCode = 0 })`],
    ['an exit hook that exits itself', `process.on('exit', () => process.exit(0))`],
    ['another exit', `process.exit = ((exit) => () => exit(0))(process.exit)`],
  ])('fails whatever status %s of a dependency would rather have', async (_, code) => {
    const hooked = `${code}\nexport const setup = () => undefined\n`
    const { status, last, all } = await test({ [inProject.postgres]: failing, [setup]: hooked })
    expect(status, all).toBeGreaterThan(0)
    expect(last, all).toBe('1 passed, 1 failed')
  })

  it('fails without tests, and when none fits what was asked for', async () => {
    const none = await test({})
    expect(none.status, none.all).toBeGreaterThan(0)
    expect(none.last, none.all).toBe('0 passed, 1 failed')
    const skipped = await npmTest({ [inProject.engine]: passing }, '--', '-t', 'no such test')
    expect(skipped.status, skipped.all).toBeGreaterThan(0)
    expect(skipped.last, skipped.all).toBe('0 passed, 1 failed, 1 skipped')
  })
})
