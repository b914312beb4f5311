// A copy of a running database's data, for a standby to begin with.
import { chmodSync, chownSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { chown, copyFile, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import type { DatabaseServer } from '../../examples/orders/database/server.ts'

/** With a connection of its own. */
export async function asked<T>(server: DatabaseServer, ask: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server.url(), application_name: 'chaos' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await ask(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** An empty folder for data, beside the server's own. */
export function beside({ data, user }: DatabaseServer): string {
  const folder = mkdtempSync(`${join(dirname(realpathSync(data)), 'triarch-standby-')}`)
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  return folder
}

/** As pg_basebackup does it, which is not among the programs we have. */
export async function copy(database: DatabaseServer, target: string): Promise<void> {
  await asked(database, async (client) => {
    await client.query("SELECT pg_backup_start('triarch', true)")
    await copyFolder(realpathSync(database.data), target, database)
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)')
    writeFileSync(join(target, 'backup_label'), rows[0]?.labelfile ?? '')
    writeFileSync(join(target, 'standby.signal'), '')
    const { user } = database
    if (user) for (const name of ['backup_label', 'standby.signal']) chownSync(join(target, name), user.uid, user.gid)
  })
}

/** What a standby has of its own. */
const own: readonly string[] = ['postmaster.pid', 'postmaster.opts', 'standby.signal']

async function copyFolder(from: string, to: string, database: DatabaseServer): Promise<void> {
  const { user } = database
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (own.includes(entry.name)) continue
    if (entry.isDirectory()) {
      await mkdir(target, { mode: 0o700 })
      // The log comes over the link.
      if (entry.name !== 'pg_wal') await copyFolder(source, target, database)
    } else if (!(await copied(source, target))) continue
    if (user) await chown(target, user.uid, user.gid)
  }
}

/** False: it was dropped meanwhile, which the log tells as well. */
async function copied(source: string, target: string): Promise<boolean> {
  try {
    await copyFile(source, target)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
