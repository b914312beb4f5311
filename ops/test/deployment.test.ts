import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { Job } from 'kubernetes-models/batch/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { programOf } from '../../packages/cli/src/program.ts'
import { processTerminal } from '../../packages/cli/src/terminal.ts'
import { prometheus } from '../../packages/opentelemetry/src/prometheus.ts'
import { agent, Triarch, workflow } from '../../packages/triarch/src/index.ts'
import { memory } from '../../packages/triarch/src/testing/index.ts'

const home = join(import.meta.dirname, '..')
const text = (path: string) => readFileSync(join(home, path), 'utf8')
const dockerfile = text('container/Dockerfile')
const units = readdirSync(join(home, 'systemd'))
const kinds = { Deployment, HorizontalPodAutoscaler, Job, PodDisruptionBudget, Service }

interface Manifest {
  kind: keyof typeof kinds
  metadata: { name: string }
  spec: Record<string, unknown>
}
interface Container {
  args: string[]
  securityContext: object
  [probe: string]: unknown
}
interface Pod {
  metadata: { labels: Record<string, string> }
  spec: { securityContext: object; containers: Container[] }
}

const manifests = readdirSync(join(home, 'kubernetes'))
  .filter((name) => name !== 'kustomization.yaml')
  .flatMap((name) => parseAllDocuments(text(`kubernetes/${name}`)).map((document) => document.toJS() as Manifest))
const pods = manifests.flatMap(({ spec }) => ('template' in spec ? [spec.template as Pod] : []))
const one = (kind: Manifest['kind']) => manifests.find((manifest) => manifest.kind === kind)?.spec ?? {}

/** What of a command line the command does not know. */
function unknown([name = '', ...rest]: readonly string[]): string[] {
  const program = programOf(processTerminal(), () => undefined)
  const found = program.commands.find((command) => command.name() === name)
  if (!found) return [name]
  const command = found.commands.find((command) => command.name() === rest[0]) ?? found
  const options = [...program.options, ...command.options].map(({ long }) => long)
  return rest.filter((word) => word.startsWith('--') && !options.includes(word))
}

describe('the image', () => {
  it('has no fault that its linter knows, and does not run as root', () => {
    expect(validate(dockerfile)).toEqual([])
    expect(validate(dockerfile.replace('WORKDIR', 'WORKDIRR'))).not.toEqual([])
    const last = dockerfile.split(/^FROM /m).at(-1) ?? ''
    expect(last).toMatch(/^node:\d+-\w+-slim\n/)
    expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m)
    const start = JSON.parse(/^CMD (\[.*\])$/m.exec(last)?.[1] ?? '[]') as string[]
    expect(unknown(start)).toEqual([])
  })

  it('is composed with a database and its schema, on a file system that nobody can write', () => {
    type Service = Record<string, unknown> & { command?: string[]; secrets?: string[] }
    const file = parse(text('container/compose.yml'), { merge: true }) as {
      services: Record<string, Service>
      secrets: object
    }
    for (const name of ['migrate', 'node'])
      expect(file.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(unknown(file.services.migrate?.command ?? [])).toEqual([])
    const used = new Set(Object.values(file.services).flatMap(({ secrets = [] }) => secrets))
    expect([...used].sort()).toEqual(Object.keys(file.secrets).sort())
    // Secrets of the mode 0600 keep their owner when they are mounted: whoever reads them has to run as that.
    for (const [name, { environment = {}, user }] of Object.entries(file.services) as [
      string,
      Service & { environment?: object; user?: string },
    ][])
      if (Object.keys(environment).some((key) => /^TRIARCH_.*_FILE$/.test(key)))
        expect(user, name).toMatch(/^\$\{SHOP_USER:-\d+:\d+\}$/)
  })

  it('is composed as Docker has it', (test) => {
    if (spawnSync('docker', ['compose', 'version']).status !== 0) test.skip('docker compose is not installed')
    const file = join(home, 'container/compose.yml')
    const checked = spawnSync('docker', ['compose', '-f', file, 'config', '--quiet'])
    expect(checked.status, String(checked.stderr)).toBe(0)
  })
})

it('systemd takes the units, whose commands the command knows', (test) => {
  const lines = units.flatMap((name) => text(`systemd/${name}`).match(/^ExecStart=.*$/gm) ?? [])
  expect(lines).toHaveLength(units.length)
  for (const line of lines) expect(unknown(line.split(' ').slice(2))).toEqual([])
  if (spawnSync('systemd-analyze', ['--version']).error) test.skip('systemd-analyze (Debian: systemd) is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'triarch-units-'))
  try {
    // Where Node is here: a program that is not there is a fault.
    for (const name of units)
      writeFileSync(join(folder, name), text(`systemd/${name}`).replaceAll('/usr/bin/node', process.execPath))
    const verify = () => {
      const paths = units.map((name) => join(folder, name))
      const { status, stderr, stdout } = spawnSync('systemd-analyze', ['verify', '--man=no', ...paths])
      // What else is installed on this machine is not ours.
      const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('triarch'))
      return { status, said }
    }
    expect(verify().said).toEqual([])
    const [name = ''] = units
    writeFileSync(join(folder, name), text(`systemd/${name}`).replace('[Service]', '[Service]\nNoSuchThing=1'))
    expect(verify().said).not.toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

describe('the manifests for Kubernetes', () => {
  it('are what its schemas say, and all are in the kustomization', () => {
    for (const manifest of manifests) new kinds[manifest.kind](manifest as never).validate()
    const broken = { ...manifests.find(({ kind }) => kind === 'Deployment'), spec: { replicas: 'two' } }
    expect(() => new Deployment(broken as never).validate()).toThrow()
    const { resources } = parse(text('kubernetes/kustomization.yaml')) as { resources: string[] }
    const files = readdirSync(join(home, 'kubernetes')).filter((name) => name !== 'kustomization.yaml')
    expect(resources.toSorted()).toEqual(files.toSorted())
  })

  it('are what kustomize builds of them', (test) => {
    const known = [
      ['kustomize', 'build'],
      ['kubectl', 'kustomize'],
    ].find(([program = '']) => !spawnSync(program, ['--help']).error)
    if (!known) test.skip('neither kustomize nor kubectl is installed')
    const [program = '', verb = ''] = known ?? []
    const { stdout, stderr, status } = spawnSync(program, [verb, join(home, 'kubernetes')], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    const built = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
    const named = (of: readonly Manifest[]) => of.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()
    expect(named(built)).toEqual(named(manifests))
    for (const manifest of built) new kinds[manifest.kind](manifest as never).validate()
  })

  it('run what the command knows, as nobody, and on a file system that nobody can write', () => {
    expect(pods).toHaveLength(2)
    for (const { spec } of pods) {
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      for (const { args, securityContext } of spec.containers) {
        expect(unknown(args)).toEqual([])
        expect(securityContext).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          capabilities: { drop: ['ALL'] },
        })
      }
    }
  })

  it('probe paths that the server has, and find their pods', () => {
    const { paths } = JSON.parse(text('../packages/server/openapi.json')) as { paths: object }
    const node = pods.find(({ spec }) => 'livenessProbe' in (spec.containers[0] ?? {})) as Pod
    const { livenessProbe, readinessProbe, startupProbe } = node.spec.containers[0] as Container
    for (const probe of [livenessProbe, readinessProbe, startupProbe]) {
      const { httpGet } = probe as { httpGet: { path: string } }
      expect(Object.keys(paths)).toContain(httpGet.path)
    }
    const { labels } = node.metadata
    expect(one('Deployment').selector).toEqual({ matchLabels: labels })
    expect(one('PodDisruptionBudget').selector).toEqual({ matchLabels: labels })
    expect(one('Service').selector).toEqual(labels)
  })

  it('grow by a metric that a node exports, with the labels by which they ask for it', async () => {
    interface External {
      external: { metric: { name: string; selector: { matchLabels: Record<string, string> } } }
    }
    const [{ external }] = one('HorizontalPodAutoscaler').metrics as [External]
    const { name, selector } = external.metric
    const { agent: named, ...others } = selector.matchLabels
    expect(others).toEqual({})
    const owned = agent(named ?? '')
    owned.action('work', { run: () => undefined })
    const order = workflow('order', { run: async () => undefined })
    const prom = prometheus()
    const triarch = new Triarch({ store: memory(), agents: [owned], workflows: [order], telemetry: prom.telemetry })
    await triarch.start()
    prom.observe(triarch)
    const told = await (await prom.respond(new Request('http://node/metrics'))).text()
    await prom.close()
    await triarch.stop({ grace: 0 })
    const series = (of: string, label: string, value: string) =>
      new RegExp(`^${of}\\{${label}="${value}"[^\n]*\\} \\d`, 'm')
    expect(told).toMatch(series(name, 'agent', named ?? ''))
    // What the adapter is advised to ask for.
    const [, advised = ''] = /^# {3}(max\(.*\))$/m.exec(text('kubernetes/autoscaler.yaml')) ?? []
    const asked = [...advised.matchAll(/(triarch_\w+)\{(\w+)=~"([\w|]+)"\}/g)]
    expect(asked).toHaveLength(2)
    for (const [, of = '', label = '', values = ''] of asked) expect(told).toMatch(series(of, label, `(?:${values})`))
  })
})
