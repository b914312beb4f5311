import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = process.env.TRIARCH_CHROMIUM ?? '/usr/bin/chromium'
const INSTALL = 'apt-get install -y --no-install-recommends chromium'

/** Never skipped: without a browser these tests show nothing. */
export async function launch(more: readonly string[] = []): Promise<Browser> {
  if (!existsSync(CHROMIUM) && process.getuid?.() === 0) {
    if (spawnSync('sh', ['-c', INSTALL]).status !== 0) spawnSync('sh', ['-c', `apt-get update && ${INSTALL}`])
  }
  if (!existsSync(CHROMIUM))
    throw new Error(`there is no Chromium at ${CHROMIUM}: ${INSTALL}, or say by TRIARCH_CHROMIUM where it is`)
  const quiet = ['background-networking', 'component-update', 'sync', 'gpu', 'quic', 'dev-shm-usage']
  const args = ['--no-sandbox', '--no-first-run', ...quiet.map((it) => `--disable-${it}`), ...more]
  return chromium.launch({ executablePath: CHROMIUM, args })
}
