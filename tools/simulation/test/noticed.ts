import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Verdict } from '../mutation/judge.ts'
import { mutations } from '../mutation/mutations.ts'

const main = new URL('../mutation/main.ts', import.meta.url).pathname

/** In a process of its own, for there modules can be changed while they are loaded: what it compiles is of no use to others. */
const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }

async function judged(names: readonly string[]): Promise<Verdict[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...names], { env, maxBuffer: 1 << 24 })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Verdict)
}

/** Tests that each of these deliberate bugs is noticed, by an oracle that must: a simulation that no bug can fail proves nothing. */
export function noticed(names: readonly string[]): void {
  const halves = [0, 1].map((half) => judged(names.filter((_, n) => n % 2 === half)))
  it.each(names)('it is noticed when %s', { timeout: 1_800_000 }, async (name) => {
    const by = mutations[name]?.by ?? []
    const verdict = (await Promise.all(halves)).flat().find((one) => one.name === name)
    const told = `should be caught by ${by.join(' or ')}, was by ${verdict?.caught.join(' or ')}: ${verdict?.violation}`
    expect(verdict?.at, told).not.toBeNull()
    expect(verdict?.caught.some((oracle) => by.includes(oracle))).toBe(true)
  })
}
