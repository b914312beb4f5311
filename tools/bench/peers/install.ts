import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Ground, System } from './system.ts'
import { systems } from './systems/index.ts'

const folder = fileURLToPath(new URL('../../../node_modules/.cache/triarch-peers', import.meta.url))
const mark = `${folder}/installed.json`

/** Sees to it that what these systems need is there: all of it from npm, beside the workspace and not into it. No install script runs. */
export function install(needed: readonly System[]): void {
  const there = existsSync(mark) ? (JSON.parse(readFileSync(mark, 'utf8')) as Versions) : {}
  if (Object.entries(versions(needed)).every(([name, version]) => there[name] === version)) return
  const all = versions(systems)
  const names = Object.entries(all).map(([name, version]) => `${name}@${version}`)
  process.stderr.write(`installing ${names.join(' ')}\n`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/package.json`, '{"private":true}')
  const settings = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-workspaces', '--loglevel=error']
  const args = ['install', '--prefix', folder, '--save-exact', ...settings, ...names]
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  writeFileSync(mark, JSON.stringify(all))
}

type Versions = Readonly<Record<string, string>>

function versions(of: readonly System[]): Versions {
  return Object.assign({}, ...of.map(({ packages }) => packages))
}

/** Loads it. */
export const requireInstalled: Ground['require'] = createRequire(`${folder}/package.json`)
