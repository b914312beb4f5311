import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { root } from '../manifest.ts'
import { run, tools } from './tool.ts'

const compilers: Record<string, string> = {
  'TypeScript 5.9': join(tools, 'typescript-5.9/bin/tsc'),
  'TypeScript 7': join(root, 'node_modules/typescript/bin/tsc'),
}
const resolutions = {
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}
const cases = Object.keys(compilers).flatMap((compiler) =>
  (['nodenext', 'bundler'] as const).map((resolution) => ({ compiler, resolution })),
)

it.each(cases)(
  '$compiler checks a program and all our declarations, as $resolution',
  async ({ compiler, resolution }) => {
    const folder = join(inject('app'), `${compiler} ${resolution}`)
    mkdirSync(folder)
    symlinkSync(join(inject('app'), 'node_modules'), join(folder, 'node_modules'))
    copyFileSync(join(root, 'tools/packaging/programs/types.ts'), join(folder, 'types.ts'))
    const compilerOptions = {
      ...resolutions[resolution],
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      types: ['node'],
      noEmit: true,
      strict: true,
      // Off is the compiler's default, and what most applications have.
      exactOptionalPropertyTypes: resolution === 'nodenext',
      skipLibCheck: false,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }))
    const tsc = [process.execPath, compilers[compiler] ?? ''] as const
    expect(await run(folder, ...tsc, '--version')).toContain(compiler.replace('TypeScript', 'Version'))
    expect(await run(folder, ...tsc, '-p', '.')).toBe('')
  },
)
