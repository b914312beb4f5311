import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { root } from '../manifest.ts'
import { run, tools } from './tool.ts'

/** In kB: what npm fetches, what it unpacks, and what all entries come to in a minified bundle, without what they depend on. */
type Sizes = Record<'tarball' | 'unpacked' | 'bundled', number>

const budget = JSON.parse(readFileSync(join(root, 'tools/packaging/sizes.json'), 'utf8')) as Record<string, Sizes>
const app = inject('app')

it('each package has a budget', () => {
  expect(Object.keys(budget).sort()).toEqual(Object.keys(inject('tarballs')).sort())
})

it.each(Object.keys(budget))('%s keeps to its budget', async (name) => {
  const { tarball, unpacked, bundled } = budget[name] as Sizes
  const sizes = { tarball: statSync(inject('tarballs')[name] ?? '').size, ...(await installed(name)) }
  const kB = Object.fromEntries(Object.entries(sizes).map(([what, bytes]) => [what, Math.ceil(bytes / 1000)]))
  const message = `${name}: ${JSON.stringify(kB)} kB; what is worth more is written into tools/packaging/sizes.json`
  expect(kB.tarball, message).toBeLessThanOrEqual(tarball)
  expect(kB.unpacked, message).toBeLessThanOrEqual(unpacked)
  expect(kB.bundled, message).toBeLessThanOrEqual(bundled)
  // A budget that nothing can pass is none.
  expect(kB.tarball, message).toBeGreaterThan(tarball * 0.6)
  expect(kB.unpacked, message).toBeGreaterThan(unpacked * 0.6)
  expect(kB.bundled, message).toBeGreaterThan(bundled * 0.6)
})

async function installed(name: string): Promise<Omit<Sizes, 'tarball'>> {
  const folder = join(app, 'node_modules', name)
  const files = globSync('**/*', { cwd: folder }).filter((path) => !path.startsWith('node_modules'))
  const unpacked = files.map((path) => statSync(join(folder, path))).filter((it) => it.isFile())
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, object | undefined>
  const { exports = {}, dependencies = {}, peerDependencies = {} } = manifest
  const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'))
  const scratch = mkdtempSync(join(app, 'size-'))
  try {
    const lines = entries.map((entry, i) => `export * as entry${i} from '${join(name, entry)}'`)
    writeFileSync(join(scratch, 'in.mjs'), lines.join('\n'))
    const external = Object.keys({ ...dependencies, ...peerDependencies }).map((other) => `--external:${other}`)
    const options = [
      '--bundle',
      '--minify',
      '--platform=node',
      '--format=esm',
      '--outfile=out.mjs',
      '--log-level=error',
    ]
    await run(scratch, join(tools, 'esbuild/bin/esbuild'), 'in.mjs', ...options, ...external)
    return {
      unpacked: unpacked.reduce((sum, { size }) => sum + size, 0),
      bundled: statSync(join(scratch, 'out.mjs')).size,
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
