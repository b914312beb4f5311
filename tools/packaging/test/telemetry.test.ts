import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { root } from '../manifest.ts'
import { npm, run } from './tool.ts'

const lines = {
  2: ['@opentelemetry/sdk-trace-base@2', '@opentelemetry/sdk-metrics@2', '@opentelemetry/context-async-hooks@2'],
  3: ['@opentelemetry/sdk-trace@3', '@opentelemetry/sdk-metrics@3', '@opentelemetry/context-async-hooks@3'],
}

it.each(Object.entries(lines))('spans and metrics reach the SDK of OpenTelemetry, line %s', async (line, packages) => {
  const app = mkdtempSync(join(tmpdir(), 'triarch-telemetry-'))
  try {
    writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const { triarch = '', '@triarch/opentelemetry': telemetry = '' } = inject('tarballs')
    const own = [triarch, telemetry, '@opentelemetry/api@1']
    await npm(app, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...own, ...packages)
    copyFileSync(join(root, 'tools/packaging/programs/telemetry.mjs'), join(app, 'telemetry.mjs'))
    expect(await run(app, process.execPath, 'telemetry.mjs', line)).toBe('42 true 1 true')
  } finally {
    rmSync(app, { recursive: true, force: true })
  }
})
