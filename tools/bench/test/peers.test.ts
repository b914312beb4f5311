import { describe, expect, it } from 'vitest'
import { Gathering } from '../peers/gathering.ts'
import { table } from '../peers/report.ts'
import type { Found } from '../peers/rounds.ts'
import { systems } from '../peers/systems/index.ts'

/** What a run finds that takes a system's workloads once. */
function found(name: string, jobs: number, p50: number): Found {
  const system = systems.find((system) => system.name === name)
  if (!system) throw new Error(`there is no ${name}`)
  const medians = { jobs: { jobs }, workflows: { workflows: jobs / 2 }, trip: { p50, p99: p50 * 2 } }
  const rounds = Object.entries(medians).map(([workload, figures]) => [workload, [{ figures, others: 0 }]])
  return { system, medians, rounds: Object.fromEntries(rounds) }
}

describe('npm run bench -- --peers', () => {
  it('says how many times as fast Triarch is, of rates and of times', () => {
    const lines = table([found('triarch-sqlite', 9_000, 1), found('restate', 3_000, 4)]).split('\n')
    const [jobs, workflows, p50, p99] = lines.filter((line) => line.includes('Restate'))
    expect(jobs?.trim()).toMatch(/^Restate +3,000 \/s +3 × +3,000$/)
    expect(workflows).toContain('3 ×')
    expect(p50).toContain('4 ms')
    expect(p50).toContain('4 ×')
    expect(p99).toContain('4 ×')
  })

  it('says of a system that could not be measured why, and compares it with nothing', () => {
    const missing = {
      ...found('bullmq', 0, 0),
      medians: {},
      rounds: {},
      missing: 'not measured: apt-get install redis',
    }
    const rows = table([found('triarch-sqlite', 9_000, 1), missing]).split('\n')
    const of = rows.filter((line) => line.includes('BullMQ'))
    expect(of).toHaveLength(7)
    for (const line of of) expect(line).toMatch(/BullMQ +– +not measured: apt-get install redis$/)
    expect(table([{ ...missing, medians: {} }])).not.toContain('NaN')
  })

  it('has a client and a worker of each system that tells another process what became of a job, and asks no other', () => {
    const able = systems.filter(({ across, work }) => across && work).map(({ name }) => name)
    expect(able).toEqual(['triarch-sqlite', 'triarch-postgres', 'restate', 'dbos', 'bullmq'])
    expect(systems.filter(({ across, work }) => (across === undefined) !== (work === undefined))).toEqual([])
    const lines = table([found('triarch-sqlite', 9_000, 1), found('pg-boss', 3_000, 4)]).split('\n')
    expect(lines.filter((line) => /pg-boss +– *$/.test(line))).toHaveLength(3) // nothing was taken of these
  })

  it('names each system once, with exact versions, how it is set, and, of a queue, what it promises less', () => {
    expect(new Set(systems.map(({ name }) => name)).size).toBe(systems.length)
    const versions = new Map<string, string>()
    for (const { name, packages, settings, less } of systems) {
      expect(settings, name).not.toBe('')
      if (['pg-boss', 'graphile-worker', 'bullmq'].includes(name)) expect(less, name).toMatch(/^a queue/)
      for (const [dependency, version] of Object.entries(packages)) {
        expect(version, dependency).toMatch(/^\d+\.\d+\.\d+$/)
        // They share one folder.
        expect(versions.get(dependency) ?? version, dependency).toBe(version)
        versions.set(dependency, version)
      }
    }
  })

  it('puts what comes during a call together into the next one, and tells each that it is in', async () => {
    const calls: string[][] = []
    const gates: (() => void)[] = []
    const gathering = new Gathering<string>((items) => {
      calls.push(items)
      return new Promise<void>((resolve) => gates.push(resolve))
    })
    const first = gathering.add('a')
    await Promise.resolve()
    const rest = Promise.all([gathering.add('b'), gathering.add('c')])
    expect(calls).toEqual([['a']])
    gates.shift()?.()
    await first
    await expect.poll(() => calls).toEqual([['a'], ['b', 'c']])
    gates.shift()?.()
    await rest
  })
})
