#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { ask } from './ask.ts'
import { create } from './create.ts'
import { templates } from './templates.ts'

const usage = `npm create triarch <folder> -- [--template ${Object.keys(templates).join('|')}]\n`

try {
  const { values, positionals } = parseArgs({
    options: { template: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  })
  const [folder, ...more] = positionals
  if (values.help) process.stdout.write(usage)
  else {
    if (folder === undefined || more.length > 0) throw new TypeError('give one folder')
    const template = values.template ?? (await ask())
    const files = create({ folder, template })
    process.stdout.write(`${files.length} files in ${folder}\n\n  cd ${folder}\n  npm install\n  npm start\n`)
  }
} catch (error) {
  process.stderr.write(`create-triarch: ${(error as Error).message}\n${error instanceof TypeError ? usage : ''}`)
  process.exitCode = error instanceof TypeError ? 2 : 1
}
