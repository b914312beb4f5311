// Builds each package into packages/<name>/dist: a folder complete in itself, ready for
// `npm pack packages/<name>/dist` or `npm publish packages/<name>/dist`. The package's own package.json, whose exports
// point at the TypeScript sources, stays untouched and private, so that it cannot be published by mistake.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Manifest = { private?: boolean; exports: Record<string, string> } & Record<string, unknown>

const root = join(import.meta.dirname, '..')

for (const config of globSync('packages/*/tsconfig.build.json', { cwd: root })) {
  build(join(root, config, '..'), join(root, config))
}

function build(home: string, config: string): void {
  const dist = join(home, 'dist')
  rmSync(dist, { recursive: true, force: true })
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], { stdio: 'inherit' })
  cpSync(join(home, 'src'), dist, { recursive: true, filter: (path) => !path.endsWith('.ts') })
  cpSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
  const readme = [join(home, 'README.md'), join(root, 'README.md')].find((path) => existsSync(path))
  if (readme) cpSync(readme, join(dist, 'README.md'))
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`)
  console.log(`built ${dist}`)
}

function published({ private: _, exports, ...rest }: Manifest): Record<string, unknown> {
  const entries = Object.entries(exports).map(([name, path]) => [name, built(path)])
  return { ...rest, exports: Object.fromEntries(entries) }
}

function built(path: string): string | { types: string; default: string } {
  const stem = /^\.\/src\/(.+)\.ts$/.exec(path)?.[1]
  return stem === undefined ? path : { types: `./${stem}.d.ts`, default: `./${stem}.js` }
}
