import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { programOf } from '../../packages/cli/src/program.ts'
import { processTerminal } from '../../packages/cli/src/terminal.ts'
import { type MetricName, metrics, prometheusName } from '../../packages/opentelemetry/src/metric/catalogue.ts'
import { prometheus } from '../../packages/opentelemetry/src/prometheus.ts'
import { ruleNames } from '../../packages/triarch/src/alert/options.ts'
import { testEngine } from '../../packages/triarch/src/testing/index.ts'
import { dashboard, rows } from '../grafana/dashboard.ts'
import { prometheusFolder } from './prometheus.ts'

const home = join(import.meta.dirname, '..')
const rules = readFileSync(join(home, 'prometheus/alerts.yml'), 'utf8')
const runbook = readFileSync(join(home, '../docs/runbook.md'), 'utf8')
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name)

/** The programs may have to be fetched first (ms). */
const FETCHING = 120_000

/** Series name → the labels that it has of us. */
const series = new Map(
  (Object.keys(metrics) as MetricName[]).flatMap((name) => {
    const { kind, attributes } = metrics[name]
    const labels = new Set(attributes.map((one) => one.replaceAll('.', '_')))
    const own = prometheusName(name)
    const names = kind === 'histogram' ? [`${own}_bucket`, `${own}_count`, `${own}_sum`] : [own]
    return names.map((one) => [one, one.endsWith('_bucket') ? labels.union(new Set(['le'])) : labels] as const)
  }),
)

/** What of a query is not in the catalogue. */
function unknown(query: string): string[] {
  const found = [...query.matchAll(/\b(triarch_\w+)(?:\{([^}]*)\})?/g)]
  if (found.length === 0) return [`no metric: ${query}`]
  const names = found.map(([, name = '']) => name)
  const known = new Set(['instance', ...names.flatMap((name) => [...(series.get(name) ?? [])])])
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const matched = found.flatMap(([, , matchers = '']) =>
    [...matchers.matchAll(/(\w+)[=!]/g)].map(([, label = '']) => label),
  )
  return [
    ...names.filter((name) => !series.has(name)),
    ...[...grouped, ...matched].filter((label) => !known.has(label)).map((label) => `${label} of ${query}`),
  ]
}

it('each query of the dashboard and of the alerts asks for what the catalogue of metrics has', () => {
  const queries = Object.values(rows).flatMap((panels) => panels.flatMap((panel) => Object.values(panel.queries)))
  const expressions = [...rules.matchAll(/^ +expr: '(.+)'$/gm)].map(([, expression = '']) => expression)
  expect(expressions).toHaveLength(alerts.length)
  expect([...queries, ...expressions].flatMap(unknown)).toEqual([])
  expect(unknown('sum by (task) (rate(triarch_nothing_total[5m]))')).toHaveLength(2)
})

it('the dashboard that Grafana imports is the one that the code describes', () => {
  expect(JSON.parse(readFileSync(join(home, 'grafana/triarch.json'), 'utf8'))).toEqual(dashboard())
})

it('each alert has a page in the runbook, and is tested both ways', () => {
  const tests = readFileSync(join(home, 'prometheus/alerts.test.yml'), 'utf8')
  expect([...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)).toEqual(alerts)
  for (const alert of alerts) {
    expect(rules).toContain(`docs/runbook.md#${alert.toLowerCase()}\n`)
    expect(tests).toContain(`'${alert}, when it is so'`)
    expect(tests).toContain(`'${alert}, when all is well'`)
  }
})

it('each rule of the engine has its line in the runbook, whose commands there are', () => {
  const lines = [...runbook.matchAll(/^\| `([a-z-]+)` \| .* \|$/gm)]
  expect(lines.map(([, rule]) => rule)).toEqual(ruleNames)
  const program = programOf(processTerminal(), () => undefined)
  const commands = lines.flatMap(([line]) => [...line.matchAll(/`triarch ([a-z]+)(?: ([a-z]+))?/g)])
  expect(commands.length).toBeGreaterThan(ruleNames.length)
  for (const [, name, word] of commands) {
    const command = program.commands.find((one) => one.name() === name)
    const known = command?.commands.length === 0 || command?.commands.some((one) => one.name() === word)
    expect(known, `triarch ${name} ${word}`).toBe(true)
  }
})

it('the alert rules do what their tests say', { timeout: FETCHING }, () => {
  const promtool = join(prometheusFolder(), 'promtool')
  const check = spawnSync(promtool, ['check', 'rules', 'alerts.yml'], { cwd: join(home, 'prometheus') })
  expect(check.status, String(check.stderr)).toBe(0)
  const tested = spawnSync(promtool, ['test', 'rules', 'alerts.test.yml'], { cwd: join(home, 'prometheus') })
  expect(tested.status, String(tested.stderr) + String(tested.stdout)).toBe(0)
})

it('a real Prometheus scrapes a node and evaluates the rules on it', { timeout: FETCHING }, async () => {
  const program = join(prometheusFolder(), 'prometheus')
  const folder = mkdtempSync(join(tmpdir(), 'triarch-ops-'))
  await using prom = prometheus()
  await using engine = await testEngine({ telemetry: prom.telemetry })
  prom.observe(engine.triarch)
  const url = new URL(await prom.listen({ port: 0 }))
  const config = {
    global: { scrape_interval: '200ms', scrape_timeout: '200ms', evaluation_interval: '200ms' },
    rule_files: [join(home, 'prometheus/alerts.yml')],
    scrape_configs: [{ job_name: 'triarch', static_configs: [{ targets: [url.host] }] }],
  }
  writeFileSync(join(folder, 'prometheus.json'), JSON.stringify(config))
  const port = await freePort()
  const options = [`--config.file=${folder}/prometheus.json`, `--storage.tsdb.path=${folder}/data`]
  const own = spawn(program, [...options, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => null)
    return response?.ok ? ((await response.json()) as { data: unknown }).data : null
  }
  try {
    await expect
      .poll(() => ask('query?query=max(triarch_store_readable)'))
      .toMatchObject({ result: [{ value: [expect.any(Number), '1'] }] })
    const health = async () => {
      const { groups } = (await ask('rules')) as { groups: { rules: { name: string; health: string }[] }[] }
      return groups.flatMap((group) => group.rules.map((rule) => `${rule.name} ${rule.health}`))
    }
    await expect.poll(health).toEqual(alerts.map((alert) => `${alert} ok`))
  } finally {
    own.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})

async function freePort(): Promise<number> {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
