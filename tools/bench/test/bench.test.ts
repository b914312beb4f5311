import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

describe('npm run bench', () => {
  it('refuses a measure it does not know', async () => {
    await expect(promisify(execFile)(process.execPath, [main, '--only', 'nonsense'])).rejects.toThrow('none of steps')
  })

  it('refuses a store it does not know', async () => {
    await expect(promisify(execFile)(process.execPath, [main, '--store', 'csv'])).rejects.toThrow('neither sqlite nor')
  })
})
