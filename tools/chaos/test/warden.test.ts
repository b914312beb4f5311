// The harness is killed without warning: what it started ends all the same.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'

const harness = `
import { spawn } from 'node:child_process'
import { appointWarden } from ${JSON.stringify(new URL('../warden.ts', import.meta.url).href)}
const warden = appointWarden()
const idle = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true })
const [still, forgotten] = [idle(), idle()]
for (const { pid } of [still, forgotten]) warden.watch(pid)
warden.remove(process.argv[1])
still.kill('SIGSTOP')
forgotten.kill('SIGKILL')
forgotten.once('exit', () => {
  warden.forget(forgotten.pid)
  console.log(still.pid)
})
setInterval(() => {}, 1000)
`

it('even one that stands still, and the directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'triarch-warden-'))
  const child = spawn(process.execPath, ['--input-type=module', '-e', harness, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const pid = Number(line)
  expect(alive(pid)).toBe(true)
  child.kill('SIGKILL')
  await expect.poll(() => alive(pid), { timeout: 120_000 }).toBe(false)
  await expect.poll(() => existsSync(directory), { timeout: 120_000 }).toBe(false)
})

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
