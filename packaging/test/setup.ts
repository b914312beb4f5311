import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startServer } from '../../packages/postgres/test/server.ts'
import { homes } from '../build.ts'
import { read } from '../manifest.ts'
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
  await npm(app, 'install', '--prefer-offline', '--no-audit', '--no-fund', '@types/node@24', ...Object.values(tarballs))
  const server = await startServer()
  provide('tarballs', tarballs)
  provide('app', app)
  provide('url', server.url)
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
