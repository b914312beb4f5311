import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Verdict } from '../mutation/judge.ts'
import { mutations } from '../mutation/mutations.ts'

const main = new URL('../mutation/main.ts', import.meta.url).pathname

/** In a process of its own, for there modules can be changed while they are loaded: what it compiles is of no use to others. */
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
const verdicts = promisify(execFile)(process.execPath, [main], { env, maxBuffer: 1 << 24 }).then(({ stdout }) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Verdict),
)

/** A simulation that no bug can fail proves nothing. */
it.each(Object.entries(mutations))('it is noticed when %s', { timeout: 900_000 }, async (name, { by }) => {
  const verdict = (await verdicts).find((one) => one.name === name)
  const told = `should be caught by ${by.join(' or ')}, was by ${verdict?.caught.join(' or ')}: ${verdict?.violation}`
  expect(verdict?.at, told).not.toBeNull()
  expect(verdict?.caught.some((oracle) => by.includes(oracle))).toBe(true)
})
