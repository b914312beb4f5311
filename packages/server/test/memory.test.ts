// What a server holds for those who read: by requests to a process of its own, whose heap is small.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

it('streams of many filters and pages over tasks of 240 KB that nobody reads leave a server with a heap of 160 MB alive', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-memory-'))
  const script = fileURLToPath(new URL('./memory.process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--max-old-space-size=160', script, join(folder, 'store.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true, force: true })
  })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const over = new AbortController()
  onTestFinished(() => over.abort())
  const api = `${url}/api/v1`
  const filters = Array.from({ length: 20 }, (_, n) => `priority:0..${n + 6}`)
  const unread = await Promise.all([
    ...filters.map((filter) =>
      fetch(`${api}/tasks/events?limit=200&filter=${encodeURIComponent(filter)}`, { signal: over.signal }),
    ),
    ...Array.from({ length: 8 }, () => fetch(`${api}/tasks?limit=1000`, { signal: over.signal })),
  ])
  for (const { status } of unread) expect(status).toBe(200)
  const [newest] = (
    (await (await fetch(`${api}/tasks?limit=1`)).json()) as { tasks: { id: string; omitted?: string[] }[] }
  ).tasks
  expect(newest?.omitted).toEqual(['output'])
  const outcome = (await (await fetch(`${api}/tasks/${newest?.id}/outcome`)).json()) as { output: string }
  expect(outcome.output).toHaveLength(240_000)
  expect((await fetch(`${url}/health/live`)).status).toBe(200)
})
