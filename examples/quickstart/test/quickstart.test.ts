import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const program = fileURLToPath(new URL('../main.ts', import.meta.url))

it('undoes the withdrawal when the deposit cannot succeed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'quickstart-'))
  try {
    const printed = execFileSync(process.execPath, [program], { cwd: dir, encoding: 'utf8' })
    expect(printed.split('\n').map((line) => line.replace(/transfer-\d+(?:~\w+)?/g, 'transfer-1'))).toEqual([
      'withdraw 10 from A (key transfer-1:1)',
      'take back w-1',
      expect.stringMatching(
        /^TASK_COMPENSATED: Task "transfer-1" could not finish and was undone: .*account B is closed$/,
      ),
      '',
    ])
  } finally {
    rmSync(dir, { recursive: true })
  }
})
