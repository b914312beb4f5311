import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'

it('the client runs where there is fetch and nothing of Node', async () => {
  const input = join(import.meta.dirname, '../src/index.ts')
  const bundle = await rolldown({ input, platform: 'browser' })
  const { output } = await bundle.generate({ format: 'iife', name: 'triarch' })
  await bundle.close()
  const [{ imports, moduleIds, code }] = output
  expect(imports).toEqual([])
  expect(moduleIds.filter((id) => /triarch\/src\/(?!contract|definition|error|value)/.test(id))).toEqual([])
  const answers: unknown[] = [{ id: 't' }, { outcome: 'success', output: 42 }]
  const asked: string[] = []
  // What each of browsers, workers and runtimes has.
  const globals = {
    ...{ URL, URLSearchParams, AbortController, TextDecoder, crypto, performance, setTimeout, clearTimeout },
    fetch: async (url: string) => {
      asked.push(new URL(url).pathname)
      return Response.json(answers.shift())
    },
  }
  const program = `${code}; triarch.connect('https://x.example').submit({ name: 'order' }, null, { id: 't' }).then((task) => task.result())`
  expect(await runInContext(program, createContext(globals))).toBe(42)
  expect(asked).toEqual(['/api/v1/tasks', '/api/v1/tasks/t/outcome'])
})
