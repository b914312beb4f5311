import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { scratch } from '../engine/scratch.ts'

describe('a program that is given on the command line', () => {
  it('has threads for its store, its lease and its steps like any other', () => {
    using file = scratch()
    const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
    const text = `
      const { Triarch, workflow } = await import(${source('index.ts')})
      const { sqlite } = await import(${source('store/sqlite/index.ts')})
      const flow = workflow('flow', { run: async (n) => n + 1 })
      const store = sqlite(${JSON.stringify(file.path)}, { writer: 'worker' })
      await using engine = new Triarch({ store, workflows: [flow] })
      await engine.start()
      console.log(await (await engine.submit(flow, 1)).result())`
    const said = execFileSync(process.execPath, ['--input-type=module', '--eval', text], { encoding: 'utf8' })
    expect(said).toBe('2\n')
  })
})
