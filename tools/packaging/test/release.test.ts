import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { homes } from '../build.ts'
import { type Manifest, read, root } from '../manifest.ts'
import { changeOf, released } from '../version.ts'
import { startRegistry } from './registry.ts'
import { npm, run } from './tool.ts'

/** A copy of the repository, in which a release is tried. */
const copy = mkdtempSync(join(tmpdir(), 'triarch-release-'))
const registry = await startRegistry()
const names = homes.map((home) => read(home).name).sort()
const manifests = () => homes.map((home) => read(join(copy, home.slice(root.length))))
const page = (path: string) => readFileSync(join(copy, path), 'utf8')
const changeset = (text: string) => {
  writeFileSync(join(copy, '.changeset/tried.md'), `---\n'triarch': minor\n---\n\n${text}\n`)
}
// Provenance is what the builder of a release signs; nobody does here.
const release = () => npm(copy, 'run', '--silent', 'release', '--', '--provenance=false', ...registry.args)

beforeAll(() => {
  const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  for (const file of files.split('\0').filter((it) => it !== '' && existsSync(join(root, it)))) {
    cpSync(join(root, file), join(copy, file))
  }
  // npm puts what two packages need in two versions beside the one that asked last.
  for (const installed of ['node_modules', ...globSync('packages/*/node_modules', { cwd: root })])
    symlinkSync(join(root, installed), join(copy, installed))
  // What is installed is the repository's, and nothing is to be set up in it.
  const manifest = JSON.parse(page('package.json')) as Required<Pick<Manifest, 'scripts'>>
  for (const name of ['prebump', 'prerelease']) delete manifest.scripts[name]
  writeFileSync(join(copy, 'package.json'), JSON.stringify(manifest))
  // What waits for the next release in the repository is not ours.
  for (const path of globSync('.changeset/*.md', { cwd: copy })) rmSync(join(copy, path))
})
afterAll(() => {
  registry.stop()
  rmSync(copy, { recursive: true, force: true })
})

it('a packing that was killed is put right by the next command', async () => {
  const home = join(copy, 'packages/postgres')
  const before = page('packages/postgres/package.json')
  await run(home, process.execPath, '../../tools/packaging/prepare.mjs', 'before')
  expect(page('packages/postgres/package.json')).not.toBe(before)
  utimesSync(join(copy, 'package-lock.json'), 0, 0) // so that nothing is newer than what is installed
  await run(copy, process.execPath, 'scripts/setup.mjs')
  expect(page('packages/postgres/package.json')).toBe(before)
})

it('a release is refused while changesets wait for a version', async () => {
  changeset('Tasks can be tried.')
  await expect(release()).rejects.toThrow('changesets wait for a version (npm run bump)')
  expect(registry.publications).toEqual([])
})

it('a change of one package raises all of them to one version, and the changelog tells of it', async () => {
  const [old = ''] = manifests().map(({ version }) => version)
  await npm(copy, 'run', '--silent', 'bump')
  const [version = ''] = manifests().map((it) => it.version)
  expect(manifests().map((it) => it.version)).toEqual(names.map(() => version))
  expect(version).toBe(old.replace(/\.(\d+)\.\d+$/, (_, minor) => `.${Number(minor) + 1}.0`))
  expect(page('CHANGELOG.md')).toMatch(new RegExp(`## Unreleased\n\n## ${version} - \\d{4}-\\d\\d-\\d\\d\n`))
  expect(page('CHANGELOG.md')).toContain('\n- Tasks can be tried.\n')
  expect(existsSync(join(copy, '.changeset/tried.md'))).toBe(false)
  const lock = JSON.parse(page('package-lock.json')) as { packages: Record<string, Manifest> }
  expect(homes.map((home) => lock.packages[home.slice(root.length + 1)]?.version)).toEqual(names.map(() => version))
})

it('what is published is what npm pack makes, open to everybody, and once', async () => {
  const [version = ''] = manifests().map((it) => it.version)
  await release()
  const { publications } = registry
  expect(publications.map(({ name }) => name).sort()).toEqual(names)
  const order = publications.map(({ name }) => name)
  const needs = publications.filter(({ versions }) =>
    JSON.stringify(versions[version]?.peerDependencies ?? {}).includes('"triarch"'),
  )
  expect(needs.length).toBeGreaterThan(3)
  for (const { name } of needs) expect(order.indexOf('triarch')).toBeLessThan(order.indexOf(name))
  for (const { access, versions, _attachments, 'dist-tags': tags } of publications) {
    const manifest = versions[version]
    const [{ data = '' } = {}] = Object.values(_attachments)
    expect({ access, tags }).toEqual({ access: 'public', tags: { latest: version } })
    expect(JSON.stringify(manifest?.exports)).toContain('./dist/index.js')
    expect(JSON.stringify(manifest)).not.toMatch(/\.\/src\/|"private"|"prepack"/)
    const integrity = createHash('sha512').update(Buffer.from(data, 'base64')).digest('base64')
    expect(manifest).toMatchObject({ dist: { integrity: `sha512-${integrity}` } })
  }
  const store = publications.find(({ name }) => name === '@triarch/postgres')?.versions[version]
  expect(store).toMatchObject({ peerDependencies: { triarch: `^${version}` } })
  expect(await release()).toMatch(/is there already/)
  expect(publications).toHaveLength(names.length)
})

it('changes are told beside those of their kind, and earlier releases stay as they are', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n### Added\n\n- one\n\n### Fixed\n\n- two\n\n## 0.1.0 - 2026-01-01\n\n- old\n'
  const changes = [
    changeOf("---\n'triarch': minor\n---\n\nthree,\nand its reason\n"),
    changeOf("---\n'triarch': patch\n'@triarch/postgres': major\n---\n\nfour\n"),
    changeOf("---\n'triarch': patch\n---\n\nfive\n"),
  ]
  expect(released(changelog, changes, '0.2.0 - 2026-02-02')).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-02-02\n\n### Added\n\n- one\n- three,\n  and its reason\n\n' +
      '### Fixed\n\n- two\n- five\n\n### Changed\n\n- four\n\n## 0.1.0 - 2026-01-01\n\n- old\n',
  )
  expect(() => released('# Changelog\n', changes, '1')).toThrow('Unreleased')
})
