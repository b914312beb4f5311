import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startServer } from '../../../packages/postgres/test/server.ts'
import { homes } from '../build.ts'
import { type Manifest, read, root } from '../manifest.ts'
import { npm } from './tool.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The tarball of each package, by the package's name. */
    tarballs: Record<string, string>
    /** A project of somebody's, who has installed the tarballs. */
    app: string
    /** A PostgreSQL. */
    url: string
  }
}

/** What a package needs of others', and whoever compiles with it. */
function needed({ dependencies, peerDependencies }: Manifest): string[] {
  const names = Object.keys({ ...dependencies, ...peerDependencies, '@types/node': '' })
  return names.filter((name) => !homes.some((home) => read(home).name === name))
}

/** As in the lock file: what is judged changes with the repository only. */
function installed(name: string): string {
  return `${name}@${read(join(root, 'node_modules', name)).version}`
}

/** Packs each package where a maintainer would, and installs all of them into a project outside of the workspace. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-packages-'))
  const tarballs: Record<string, string> = {}
  for (const home of homes) {
    const to = join(folder, basename(home))
    mkdirSync(to)
    await npm(home, 'pack', '--pack-destination', to)
    tarballs[read(home).name] = join(to, readdirSync(to)[0] ?? '')
  }
  const app = join(folder, 'app')
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const others = [...new Set(homes.map(read).flatMap(needed))].map(installed)
  await npm(app, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...others, ...Object.values(tarballs))
  const server = await startServer()
  provide('tarballs', tarballs)
  provide('app', app)
  provide('url', server.url)
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
