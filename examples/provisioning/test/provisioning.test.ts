import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Triarch } from 'triarch'
import { crashEverywhere, type TestEngine, testEngine } from 'triarch/testing'
import { describe, expect, it } from 'vitest'
import { Cloud } from '../cloud.ts'
import { infrastructure, type Order } from '../infrastructure.ts'

const order: Order = { domain: 'lan', hosts: ['a', 'b'].map((name) => ({ name, disks: [1, 2] })) }

async function site() {
  const cloud = new Cloud()
  const known: { triarch?: Triarch } = {}
  const { createInfrastructure, ...rest } = infrastructure(cloud, () => known.triarch as Triarch)
  const engine: TestEngine = await testEngine(rest)
  known.triarch = engine.triarch
  return { cloud, engine, createInfrastructure }
}

describe('the infrastructure', () => {
  it('is built in the order its parts need, from their outputs, and tested by a task of its own', async () => {
    const { cloud, engine, createInfrastructure } = await site()
    await using _ = engine
    const task = await engine.submit(createInfrastructure, order)
    await engine.advance('1m')
    expect(await task.result()).toEqual({ hosts: ['10.0.0.1', '10.0.0.2'], url: 'https://a.lan/' })
    expect((await task.status()).outcome).toBe('success')
    const at = (line: string) => cloud.log.indexOf(line)
    for (const [name, address] of [
      ['a', '10.0.0.1'],
      ['b', '10.0.0.2'],
    ] as const) {
      // biome-ignore format: a table
      expect(at(`create ${name}`)).toBeLessThan(at(`boot ${name} with 2 disks`))
      expect(at(`boot ${name} with 2 disks`)).toBeLessThan(at(`register ${name}.lan`))
      expect(at(`register ${name}.lan`)).toBeLessThan(at(`ping ${address}`))
      expect(cloud.names.get(`${name}.lan`)).toBe(address)
    }
    expect([...cloud.inventory]).toEqual(['a', 'b'])
    expect((await engine.triarch.tasks.list({ workflow: 'smoke-test' })).tasks).toHaveLength(1)
  })

  it('pauses where DNS fails, goes on without repeating anything, and bears that nobody watches', async () => {
    const { cloud, engine, createInfrastructure } = await site()
    await using _ = engine
    cloud.broken.add('dns').add('monitoring')
    const task = await engine.submit(createInfrastructure, order)
    await engine.advance('1m')
    expect((await task.status()).status).toBe('paused')
    expect([cloud.machines.size, cloud.names.size]).toEqual([2, 0])
    cloud.broken.delete('dns')
    await task.resume()
    await engine.advance('1m')
    expect(await task.status()).toMatchObject({ status: 'stopped', outcome: 'warning' })
    expect(cloud.log.filter((line) => line.startsWith('create'))).toHaveLength(2)
    expect(cloud.names.size).toBe(2)
  })

  it('is taken back when a disk cannot be attached, and after it was built, as asked', async () => {
    const { cloud, engine, createInfrastructure } = await site()
    await using _ = engine
    cloud.broken.add('attach')
    const failed = await engine.submit(createInfrastructure, order)
    await engine.advance('1m')
    await expect(failed.result()).rejects.toMatchObject({ code: 'TASK_COMPENSATED' })
    expect(cloud.machines.size).toBe(0)
    cloud.broken.clear()
    const built = await engine.submit(createInfrastructure, order)
    await engine.advance('1m')
    await built.result()
    await built.compensate()
    await engine.advance('1m')
    expect((await built.status()).outcome).toBe('compensated')
    expect([cloud.machines.size, cloud.names.size]).toEqual([0, 0])
    const last = cloud.log.slice(-4).sort()
    expect(last).toEqual(['remove a', 'remove b', 'unregister a.lan', 'unregister b.lan'])
  })
})

it('is built or taken back as a whole, whatever crashes and whatever fails', { timeout: 600_000 }, async () => {
  let cloud = new Cloud()
  const known: { triarch?: Triarch } = {}
  const current = new Proxy({} as Cloud, {
    get: (_, name) => Reflect.get(cloud, name).bind?.(cloud) ?? Reflect.get(cloud, name),
  })
  const { createInfrastructure, ...rest } = infrastructure(current, () => known.triarch as Triarch)
  const report = await crashEverywhere(createInfrastructure, order, {
    ...rest,
    before: () => {
      cloud = new Cloud()
    },
    drive: ({ triarch }) => void Object.assign(known, { triarch }),
    // Which host gets which address depends on which comes first.
    compare: ({ hosts, url }) => [[...hosts].sort(), url],
    check({ outcome }) {
      if (outcome === 'paused') return
      const built = outcome === 'success' || outcome === 'warning'
      expect([cloud.machines.size, cloud.names.size]).toEqual(built ? [2, 2] : [0, 0])
    },
  })
  expect(report.outcomes.success).toBeGreaterThan(100)
  expect(report.outcomes.compensated).toBeGreaterThan(5)
})

it('shows its plan, its pause and its end', () => {
  const program = fileURLToPath(new URL('../main.ts', import.meta.url))
  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' }).trimEnd().split('\n')
  expect(printed).toContain('  4 host > host after 1, 2, 3')
  expect(printed).toContain('  7 host > host after 5, 6')
  expect(printed.at(-1)).toBe('taken back: 0 machines, 0 names left')
})
