// Agents held against the protocol, each by the same program: `node packages/server/conformance/main.ts <command>`.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { examine } from '../conformance/examination.ts'

const file = (path: string) => join(import.meta.dirname, '..', path)

describe('an agent keeps to the protocol', () => {
  it.concurrent.each([
    ['of connectAgents()', process.execPath, 'conformance/agent.ts'],
    // Where there is no python3, this fails and says so.
    ['in Python', 'python3', 'python/conformance_agent.py'],
  ])('%s', async (_, program, path) => {
    const lines: string[] = []
    await examine([program, file(path)], (line) => lines.push(line), { PYTHONDONTWRITEBYTECODE: '1' })
    expect(lines.filter((line) => !line.startsWith('✓'))).toEqual([])
    expect(lines.length).toBe(16)
  })

  it('and one that does not is found out', async () => {
    const lines: string[] = []
    const failures = await examine([process.execPath, '-e', 'process.exit(3)'], (line) => lines.push(line))
    expect(failures).toBeGreaterThan(0)
    expect(lines[0]).toMatch(/ended \(3\)/)
  })
})
