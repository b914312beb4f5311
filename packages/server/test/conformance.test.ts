// Agents held against the protocol, each by the same program: `node packages/server/conformance/main.ts <command>`.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { examine } from '../conformance/examination.ts'

const file = (path: string) => join(import.meta.dirname, '..', path)

describe('an agent keeps to the protocol', () => {
  it.concurrent.each([
    ['of connectAgents(), by WebSocket', process.execPath, 'conformance/agent.ts', {}],
    ['of connectAgents(), by plain requests', process.execPath, 'conformance/agent.ts', { TRIARCH_PLAIN: '1' }],
    // Where there is no python3, this fails and says so.
    ['in Python', 'python3', 'python/conformance_agent.py', { TRIARCH_PLAIN: '1' }],
  ])('%s', async (_, program, path, env: Record<string, string>) => {
    const lines: string[] = []
    const python = { PYTHONDONTWRITEBYTECODE: '1' }
    const { sockets } = await examine([program, file(path)], (line) => lines.push(line), { ...python, ...env })
    expect(lines.filter((line) => !line.startsWith('✓'))).toEqual([])
    expect(lines.length).toBe(21)
    expect(sockets > 0).toBe(env.TRIARCH_PLAIN === undefined)
  })

  it('and one that does not is found out', async () => {
    const lines: string[] = []
    const { failures } = await examine([process.execPath, '-e', 'process.exit(3)'], (line) => lines.push(line))
    expect(failures).toBeGreaterThan(0)
    expect(lines[0]).toMatch(/ended \(3\)/)
  })
})
