import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch } from '../../../examples/orders/launch.ts'

export interface Server {
  url: string
  /** Where its data is. */
  folder: string
  stop(): Promise<void>
}

/**
 * A real PostgreSQL of its own, on a free port, below `parent`, in the care of another process that ends it with this one. `durable`:
 * flushes as in production; tests do without. `standby`: it follows another that never comes, and takes no writes.
 */
export async function startServer({
  durable = false,
  standby = false,
  flags = [] as readonly string[],
  parent = tmpdir(),
} = {}): Promise<Server> {
  const folder = mkdtempSync(join(parent, 'triarch-postgres-'))
  const settings = ['shared_buffers=128MB', ...(durable ? [] : ['fsync=off']), ...flags]
  const args = [folder, ...settings.flatMap((setting) => ['--set', setting]), ...(standby ? ['--standby'] : [])]
  const { ready, kill } = await launch<{ url: string; data: string }>('database/main.ts', args)
  const stop = async () => {
    await kill()
    for (const path of [ready.data, folder]) rmSync(path, { recursive: true, force: true })
  }
  return { url: ready.url, folder: ready.data, stop }
}
