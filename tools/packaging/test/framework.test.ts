import { copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { root } from '../manifest.ts'
import { run, started, tools } from './tool.ts'

const app = inject('app')

it('Next.js builds a route that runs tasks, with webpack, and serves it', async () => {
  const home = join(app, 'next')
  cpSync(join(root, 'tools/packaging/programs/next'), home, { recursive: true })
  // Next.js and React as its own packages, Triarch as that of the folder above.
  mkdirSync(join(home, 'node_modules'))
  for (const name of ['next', 'react', 'react-dom']) symlinkSync(join(tools, name), join(home, 'node_modules', name))
  const next = join(tools, 'next/dist/bin/next')
  await run(home, process.execPath, next, 'telemetry', 'disable')
  await run(home, process.execPath, next, 'build', '--webpack')
  await using server = await started(home, process.execPath, join(home, 'serve.mjs'), next)
  const answer = await fetch(`${server.line}/tasks`, { method: 'POST' })
  expect([answer.status, await answer.json()]).toEqual([200, { result: 42 }])
})

it('Jest runs tests on virtual time, with the flag that it needs for modules', async () => {
  const home = join(app, 'jest')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type: 'module', jest: { transform: {} } }))
  copyFileSync(join(root, 'tools/packaging/programs/trial.test.mjs'), join(home, 'trial.test.mjs'))
  const jest = join(tools, 'jest/bin/jest.js')
  const args = ['--json', '--testMatch', '**/*.test.mjs', '--rootDir', home]
  const told = JSON.parse(await run(home, process.execPath, '--experimental-vm-modules', jest, ...args))
  expect(told).toMatchObject({ success: true, numPassedTests: 1 })
})
