import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const folder = join(import.meta.dirname, '../node_modules/.cache')

/** The folder that has all of these programs; null: neither the machine has them nor we, and they could not be had. */
export function programs(names: readonly string[], packages: readonly [string, ...string[]]): string | null {
  const kept = join(folder, packages[0])
  const has = (at: string) => names.every((name) => existsSync(join(at, name)))
  const found = () => [...(process.env.PATH ?? '').split(delimiter), join(kept, 'usr/bin')].find(has) ?? null
  if (found() === null) unpack(packages, kept)
  return found()
}

/** Takes them out of Debian's packages, which are not installed: that would start a service. */
function unpack(packages: readonly string[], kept: string): void {
  mkdirSync(folder, { recursive: true })
  const scratch = mkdtempSync(`${kept}-`)
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: scratch }).status === 0
  const download = () => run('apt-get', 'download', ...packages)
  try {
    if (!download() && run('apt-get', 'update')) download()
    const debs = readdirSync(scratch).filter((name) => name.endsWith('.deb'))
    if (debs.length < packages.length || !debs.every((deb) => run('dpkg-deb', '-x', deb, 'root'))) return
    // Another process may have been quicker, or have left half of it.
    rmSync(kept, { recursive: true, force: true })
    renameSync(join(scratch, 'root'), kept)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
