// npm run bump: raises the version of all packages by what the changesets ask for, and moves what they say into CHANGELOG.md,
// under the new version, together with what stands under Unreleased.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homes } from './build.ts'
import { read, root } from './manifest.ts'

type Bump = 'major' | 'minor' | 'patch'

export interface Change {
  bump: Bump
  text: string
}

/** Where the changelog tells what raised a version so. */
const headings: Record<Bump, string> = { major: 'Changed', minor: 'Added', patch: 'Fixed' }

/** What the file of a changeset says: the highest bump it asks for, and its text. */
export function changeOf(file: string): Change {
  const [, front = '', text = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(file) ?? []
  const bump = (['major', 'minor'] as const).find((it) => front.includes(`: ${it}`)) ?? 'patch'
  return { bump, text: text.trim() }
}

/** The changelog with a section for the version, and nothing left under Unreleased. */
export function released(changelog: string, changes: readonly Change[], title: string): string {
  const [, before = '', unreleased = '', rest = ''] =
    /^(.*?## Unreleased\n)(.*?)(?=\n## |$)(.*)$/s.exec(changelog) ?? []
  if (before === '') throw new Error('CHANGELOG.md has no heading "## Unreleased"')
  const sections = new Map<string, string[]>()
  for (const part of unreleased.split(/^### /m).slice(1)) {
    const [heading = '', ...lines] = part.split('\n')
    sections.set(heading, [lines.join('\n').trim()])
  }
  for (const { bump, text } of changes) {
    const items = sections.get(headings[bump]) ?? []
    sections.set(headings[bump], [...items, `- ${text.replace(/\n/g, '\n  ').replace(/ +$/gm, '')}`])
  }
  const body = [...sections].map(([heading, items]) => `### ${heading}\n\n${items.join('\n')}\n`)
  return `${before}\n## ${title}\n\n${body.join('\n')}${rest}`
}

function main(): void {
  const changes = globSync('*.md', { cwd: join(root, '.changeset'), exclude: (name) => name === 'README.md' })
    .sort()
    .map((path) => changeOf(readFileSync(join(root, '.changeset', path), 'utf8')))
  if (changes.length === 0) throw new Error('there is no changeset, and so nothing to release: npx changeset')
  const [home = ''] = homes
  const old = read(home).version
  const changeset = join(root, 'node_modules/@changesets/cli/bin.js')
  execFileSync(process.execPath, [changeset, 'version'], { cwd: root, stdio: 'inherit' })
  const { version } = read(home)
  if (version === old) throw new Error(`the changesets leave the version at ${old}`)
  const path = join(root, 'CHANGELOG.md')
  const title = `${version} - ${new Date().toISOString().slice(0, 10)}`
  writeFileSync(path, released(readFileSync(path, 'utf8'), changes, title))
  execFileSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: root, stdio: 'inherit' })
  console.log(`${old} is now ${version}: look at CHANGELOG.md, then commit`)
}

if (import.meta.main) main()
