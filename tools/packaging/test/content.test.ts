import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, normalize, relative, sep } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { homes } from '../build.ts'
import { engines, read, root, sources } from '../manifest.ts'
import { npm, run, tools } from './tool.ts'

const app = inject('app')
const repository = 'https://github.com/triarch-dev/triarch'
const scratch = mkdtempSync(join(app, 'scratch-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.each(homes.map((home) => ({ home, name: read(home).name })))('$name', ({ home, name }) => {
  const installed = join(app, 'node_modules', name)
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const files = globSync('**/*.*', { cwd: installed }).filter((path) => !path.startsWith('node_modules'))
  const text = (path: string) => readFileSync(join(installed, path), 'utf8')

  it('says whose it is, where it lives, what it needs, and how it is published', () => {
    expect(manifest).toMatchObject({
      name,
      version: read(home).version,
      license: 'Apache-2.0',
      author: expect.any(String),
      description: expect.any(String),
      homepage: expect.stringContaining(repository),
      bugs: `${repository}/issues`,
      repository: { type: 'git', url: `git+${repository}.git`, directory: relative(root, home) },
      engines: { node: expect.any(String) },
      publishConfig: { access: 'public', provenance: true },
    })
    for (const field of ['private', 'scripts', 'devDependencies']) expect(manifest).not.toHaveProperty(field)
  })

  it('has built code with its maps, declarations, and nothing else', () => {
    const kinds = new Set(files.map((path) => path.replace(/^dist\/.*?((?:\.d)?\.[a-z]+(?:\.map)?)$/, 'dist $1')))
    const allowed = ['CHANGELOG.md', 'README.md', 'package.json']
    // What browsers are given.
    if (existsSync(join(home, 'vite.config.ts'))) {
      allowed.push(...['.html', '.css', '.br', '.gz'].map((kind) => `dist ${kind}`))
    }
    const built = ['dist .js', 'dist .js.map', 'dist .d.ts']
    expect([...kinds].filter((kind) => !allowed.includes(kind) && !built.includes(kind))).toEqual([])
    expect([...kinds]).toEqual(expect.arrayContaining(built))
    for (const target of Object.values<string | { types: string; default: string }>(manifest.exports)) {
      for (const path of typeof target === 'string' ? [target] : Object.values(target)) {
        expect(files).toContain(normalize(path))
      }
    }
    expect(readFileSync(join(installed, 'LICENSE'))).toEqual(readFileSync(join(root, 'LICENSE')))
    expect(text('CHANGELOG.md')).toContain('# Changelog')
  })

  it('has maps that lead to the sources, which the repository has at its version', () => {
    const base = sources(relative(root, home).split(sep).join('/'), manifest.version)
    const maps = files.filter((path) => path.endsWith('.map'))
    for (const path of maps) {
      const map = JSON.parse(text(path)) as { sources: string[]; sourcesContent?: string[]; file: string }
      expect(map.sourcesContent, path).toBe(undefined)
      expect(map.sources.length, path).toBeGreaterThan(0)
      const strange = map.sources.filter(
        (url) => !url.startsWith(base) || !existsSync(join(home, 'src', url.slice(base.length))),
      )
      expect(strange, path).toEqual([])
      expect(files).toContain(join(dirname(path), map.file))
    }
    const mapped = files.filter((path) => path.endsWith('.js') && text(path).includes('sourceMappingURL='))
    expect(mapped.filter((path) => !maps.includes(`${path}.map`))).toEqual([])
  })

  it('has pages whose links lead to files of the repository, at its version', () => {
    const base = `${repository}/blob/v${manifest.version}/`
    for (const page of ['README.md', 'CHANGELOG.md']) {
      const links = [...text(page).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link = '']) => link)
      expect(links.filter((link) => !link.startsWith('https://'))).toEqual([])
      const own = links.filter((link) => link.startsWith(repository))
      expect(own.filter((link) => !link.startsWith(base) || !existsSync(join(root, link.slice(base.length))))).toEqual(
        [],
      )
    }
  })

  it('is the same from wherever it is packed, and the folder is what it was', async () => {
    const before = readFileSync(join(home, 'package.json'))
    const sums = new Set([sumOf(inject('tarballs')[name] ?? '')]) // it was packed in its folder
    for (const way of [['-w', name], [`./${relative(root, home)}`]]) {
      const to = mkdtempSync(join(scratch, `${basename(home)}-`))
      await npm(root, 'pack', ...way, '--pack-destination', to)
      sums.add(sumOf(join(to, readdirSync(to)[0] ?? '')))
    }
    expect(sums.size).toBe(1)
    expect(readFileSync(join(home, 'package.json'))).toEqual(before)
    expect(readdirSync(home)).not.toEqual(expect.arrayContaining(['LICENSE']))
  })

  it('has nothing that publint or attw complain of', async () => {
    const tarball = inject('tarballs')[name] ?? ''
    expect(await run(app, process.execPath, join(tools, 'publint/src/cli.js'), tarball, '--strict')).toContain(
      'All good!',
    )
    const attw = join(tools, '@arethetypeswrong/cli/dist/index.js')
    // It ends with an error when there is a problem.
    expect(await run(app, process.execPath, attw, tarball, '--profile', 'esm-only', '--no-emoji')).toContain('OK (ESM)')
  })
})

it('packages of one release name each other', () => {
  const { version } = read(join(root, 'packages/triarch'))
  for (const name of ['postgres', 'server', 'cli', 'opentelemetry']) {
    const other = JSON.parse(readFileSync(join(app, 'node_modules/@triarch', name, 'package.json'), 'utf8'))
    expect(other).toMatchObject({ version, peerDependencies: { triarch: `^${version}` }, engines: { node: engines } })
  }
})

function sumOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
