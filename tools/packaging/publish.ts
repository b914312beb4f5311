// npm run release [-- what npm publish takes]: packs all packages and publishes the tarballs, those that the registry has
// not got yet. It may be said again after it broke off.
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { homes } from './build.ts'
import { type Manifest, read, root } from './manifest.ts'

/** Why there is nothing that may be published now. */
function hindrance(manifests: readonly Manifest[]): string | null {
  const versions = [...new Set(manifests.map(({ version }) => version))]
  if (versions.length > 1) return `the packages have several versions: ${versions.join(', ')}`
  const waiting = globSync('*.md', { cwd: join(root, '.changeset') }).filter((name) => name !== 'README.md')
  if (waiting.length > 0) return `changesets wait for a version (npm run bump): ${waiting.sort().join(', ')}`
  const told = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(`\n## ${versions[0]} - `)
  return told ? null : `CHANGELOG.md has no section for ${versions[0]}`
}

function packed(home: string, folder: string): string {
  const to = mkdtempSync(join(folder, basename(home)))
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', to], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return join(to, readdirSync(to)[0] ?? '')
}

/** Which registry is asked is said by what npm publish is given. */
function isPublished({ name, version }: Manifest, args: readonly string[]): boolean {
  const { status } = spawnSync('npm', ['view', `${name}@${version}`, 'version', ...args], {
    cwd: root,
    stdio: 'ignore',
  })
  return status === 0
}

function main(args: readonly string[]): void {
  // A package comes after those that it is a peer of.
  const all = homes.map((home) => ({ home, manifest: read(home) }))
  all.sort((a, b) => Number('peerDependencies' in a.manifest) - Number('peerDependencies' in b.manifest))
  const reason = hindrance(all.map(({ manifest }) => manifest))
  if (reason !== null) {
    console.error(`release: ${reason}`)
    process.exitCode = 1
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'triarch-release-'))
  try {
    for (const { home, manifest } of all) {
      const title = `${manifest.name} ${manifest.version}`
      if (isPublished(manifest, args)) {
        console.log(`release: ${title} is there already`)
        continue
      }
      execFileSync('npm', ['publish', packed(home, folder), ...args], { cwd: root, stdio: 'inherit' })
      console.log(`release: ${title}`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

main(process.argv.slice(2))
