import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('wrong usage is told', async () => {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const run = promisify(execFile)(process.execPath, [main, '--seconds', '1'])
  await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--seconds 1: must be') })
})
