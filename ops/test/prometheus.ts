import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const folder = join(import.meta.dirname, '../../node_modules/.cache')
const kept = join(folder, 'prometheus')
const INSTALL = 'apt-get install -y --no-install-recommends prometheus'

/**
 * Where `promtool` and `prometheus` are. Never skipped: without them their tests show nothing. Where neither the machine has them nor we, they are
 * taken out of Debian's package, which is not installed: that would start a service.
 */
export function prometheusFolder(): string {
  const has = (at: string) => ['promtool', 'prometheus'].every((name) => existsSync(join(at, name)))
  const ours = join(kept, 'usr/bin')
  const found = () => [...(process.env.PATH ?? '').split(delimiter), ours].find(has)
  if (!found()) unpack()
  const at = found()
  if (at === undefined) throw new Error(`there is no promtool and no prometheus: ${INSTALL}`)
  return at
}

function unpack(): void {
  mkdirSync(folder, { recursive: true })
  const scratch = mkdtempSync(join(folder, 'prometheus-'))
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: scratch }).status === 0
  try {
    if (!run('apt-get', 'download', 'prometheus') && run('apt-get', 'update')) run('apt-get', 'download', 'prometheus')
    const [deb] = readdirSync(scratch).filter((name) => name.endsWith('.deb'))
    if (deb === undefined || !run('dpkg-deb', '-x', deb, 'root')) return
    // Another process may have been quicker, or have left half of it.
    rmSync(kept, { recursive: true, force: true })
    renameSync(join(scratch, 'root'), kept)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
