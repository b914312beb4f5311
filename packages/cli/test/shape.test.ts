// What each command prints with --json, held against the shapes that the page of reference shows.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '@triarch/server'
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import type { Command } from 'commander'
import { type KeptEndpoint, Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { programOf } from '../src/program.ts'
import { run } from '../src/run.ts'
import { type Printed, type Shape, shapes } from '../src/shape.ts'
import { processTerminal } from '../src/terminal.ts'
import { type Call, chainsOn, stock } from './chains.ts'
import { shapePage } from './reference.ts'
import * as definitions from './shop.ts'

const root = new URL('../../../', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'triarch-shapes-'))
const store = join(folder, 'shop.db')
const env: Record<string, string> = { XDG_CONFIG_HOME: folder, HOME: folder, TRIARCH_ACTOR: 'ada' }
const { letter, approval, careful, desk, bank } = definitions
const workflows = [letter, approval, careful]
const looked = { at: new Date(5), ms: 7.5, redirects: [], status: 200, address: '::1' }
/** What a prober has kept. */
const probed: KeptEndpoint[] = [
  {
    ...{ name: 'shop', url: 'https://shop.example/', state: 'up', since: new Date(6), streak: 3 },
    ...{ lateAt: new Date(8), last: looked, history: [looked] },
  },
]
let engine: Triarch
let url: string
let close: () => Promise<void>

beforeAll(async () => {
  engine = new Triarch({
    ...{ store: sqlite(store), workflows, agents: [desk, bank], operations: true, notices: false, statistics: true },
    health: { checks: { cellar: () => false, attic: () => false } },
    alerts: { every: '100ms', rules: { check: { for: 0 } }, sinks: [{ name: 'bell', send: async () => undefined }] },
  })
  await engine.start()
  await stock(engine)
  const isKept = Promise.withResolvers<void>()
  void engine.leaders.lead('prober', async ({ signal, keepProbes }) => {
    await keepProbes(probed)
    isKept.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  await isKept.promise
  const server = createServer(engine, { workflows, open: true })
  const listening = await server.listen({ port: 0, signals: [] })
  url = listening.url
  close = () => server.close()
})
afterAll(async () => {
  await close?.()
  await engine?.stop({ grace: 0 })
  rmSync(folder, { recursive: true, force: true })
})

const { components } = JSON.parse(readFileSync(new URL('packages/server/openapi.json', root), 'utf8')) as {
  components: { schemas: Record<string, { properties?: Record<string, { items?: object }> }> }
}

/** As it is, but nothing else may be there. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]))
  const isOpen = copy.type === 'object' && copy.properties !== undefined && copy.additionalProperties === undefined
  return isOpen ? { ...copy, additionalProperties: false } : copy
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema({ $id: 'triarch', components: closed(components) } as AnySchema)

const plain: Readonly<Record<string, AnySchema>> = {
  ...{ any: {}, string: { type: 'string' }, number: { type: 'number' }, boolean: { type: 'boolean' } },
}

function schemaOf(shape: Shape): AnySchema {
  if (Array.isArray(shape)) return { type: 'array', items: schemaOf(shape[0] as Shape) }
  if (typeof shape === 'object') {
    const members = Object.entries(shape).map(
      ([name, type]) => [name.replace('?', ''), schemaOf(type as Shape)] as const,
    )
    const required = Object.keys(shape).filter((name) => !name.endsWith('?'))
    return { type: 'object', properties: Object.fromEntries(members), required, additionalProperties: false }
  }
  const [, name = '', member, many] = /^(\w+)(?:\.(\w+))?(\[\])?$/.exec(shape) ?? []
  if (plain[name]) return many ? { type: 'array', items: plain[name] } : plain[name]
  expect(components.schemas, `the document has no ${shape}`).toHaveProperty(name)
  if (member === undefined) {
    const schema = { $ref: `triarch#/components/schemas/${name}` }
    return many ? { type: 'array', items: schema } : schema
  }
  expect(components.schemas[name]?.properties?.[member]?.items, `the document has no ${shape}`).toBeDefined()
  return { $ref: `triarch#/components/schemas/${name}/properties/${member}/items` }
}

/** What is wrong with what a command printed. */
function wrongWith([how, ...of]: Printed, out: string): unknown {
  if (how === 'none') return null
  const value: unknown =
    how === 'lines'
      ? out
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : JSON.parse(out)
  const shape = { anyOf: (of as Shape[]).map(schemaOf) }
  const validate = ajv.compile(how === 'one' ? shape : { type: 'array', items: shape })
  return validate(value)
    ? null
    : validate.errors?.map((it) => `${it.instancePath} ${it.message} ${JSON.stringify(it.params)}`)
}

async function told(place: Record<string, string>, command: string, given: readonly string[]) {
  const said = { out: '', err: '' }
  const terminal = {
    ...{ ...processTerminal(), env: { ...env, ...place }, read: async () => '' },
    out(text: string) {
      said.out += text
    },
    err(text: string) {
      said.err += text
    },
  }
  const args = [...command.split(' '), ...given.filter((it) => it !== '--json'), '--json']
  return { exit: await run(args, terminal), ...said }
}

/** Those whose commands need something that is wrong, watched, on trial or under way, which the other chains have not. */
const why = ['--reason', 'a test']
const others: readonly Call[] = [
  ['alert list', [], /./],
  ['alert get', ['check:cellar'], /./],
  ['alert acknowledge', ['check:cellar', ...why], /./],
  ['alert silence', ['check:cellar', '--until', '2030-01-01', ...why], /./],
  ['alert end', ['check:attic', '--yes', ...why], /./],
  ['alert test', [], /./],
  ['import', [join(folder, 'export.json')], /./],
  ['probe list', [], /./],
  ['probe history', ['shop'], /./],
  ['setting set', ['triarch.agent.bank', '{"priority":2}', '--stage', 'share=0.5', ...why], /./],
  ['setting rollout', ['triarch.agent.bank', '--all', ...why], /./],
  ['task retry', ['stuck', ...why], /./],
  // Nobody takes it up, so there is something to cancel.
  ['setting set', ['triarch.workflow.triarch-operation', '{"paused":"a test"}', ...why], /./],
  ['operation start', ['pause', 'id:d', '--yes', '--id', 'late', ...why], /./],
  ['operation get', ['late'], /./],
  ['operation cancel', ['late', ...why], /./],
]
const seen = new Set<string>()
const chains = chainsOn(folder, store, join(folder, 'done.json'))

async function wrongOf(place: Record<string, string>, chain: readonly Call[]): Promise<unknown[]> {
  const wrong: unknown[] = []
  for (const [command, given, , wanted = 0] of chain) {
    const ended = await told(place, command, given)
    if (ended.exit !== wanted) wrong.push([command, ended])
    const shape = shapes[command]
    if (ended.out === '' || shape === undefined) continue
    const found = wrongWith(shape, ended.out)
    if (found) wrong.push([command, found, ended.out.slice(0, 500)])
    seen.add(command)
  }
  return wrong
}

describe('what is printed with --json has the shape that is said', () => {
  it.each(chains.map((chain) => [chain[0]?.[0] ?? '', chain] as const))(
    'of a store: from "%s" on',
    async (_, chain) => {
      expect(await wrongOf({ TRIARCH_STORE: store }, chain)).toEqual([])
    },
  )

  it('where something is wrong, watched, on trial or under way, and a server is asked', async () => {
    const firing = async () =>
      (await engine.alerts.list()).alerts.filter(({ phase, rule }) => phase === 'firing' && rule === 'check').length
    await expect.poll(firing, { timeout: 60_000 }).toBe(2)
    expect(
      await told({ TRIARCH_STORE: store }, 'export', ['done', '--output', join(folder, 'export.json')]),
    ).toMatchObject({ exit: 0 })
    expect(await wrongOf({ TRIARCH_URL: url }, others)).toEqual([])
  })

  it.each([
    ['task list', []],
    ['task get', ['failed']],
    ['task history', ['failed']],
    ['task steps', ['failed']],
    ['schedule list', []],
    ['operation list', []],
    ['node list', []],
    ['stats', []],
    ['workflow list', []],
    ['agent list', []],
    ['demand', []],
    ['statistics', []],
    ['health', []],
    ['breaker list', []],
    ['rate-limit list', []],
    ['setting list', []],
    ['audit', []],
  ] as [string, string[]][])('of a server: %s', async (command, given) => {
    const { out } = await told({ TRIARCH_URL: url }, command, given)
    expect(wrongWith(shapes[command] as Printed, out)).toBe(null)
  })

  it('and what has another is noticed', () => {
    expect(wrongWith(['one', { id: 'string' }], '{"id":1}')).not.toBe(null)
    expect(wrongWith(['one', { id: 'string' }], '{"id":"a","more":1}')).not.toBe(null)
    expect(wrongWith(['many', 'Alert'], '[{"name":"x"}]')).not.toBe(null)
    expect(wrongWith(['one', { 'id?': 'string' }, { other: 'string[]' }], '{"other":["a"]}')).toBe(null)
  })
})

it('every command has its shape, and prints it here', () => {
  const leaves = (command: Command, path: readonly string[]): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
  const program = programOf(processTerminal(), () => undefined)
  expect(Object.keys(shapes).sort()).toEqual(leaves(program, []).sort())
  expect(Object.keys(shapes).filter((command) => shapes[command]?.[0] !== 'none' && !seen.has(command))).toEqual([])
})

it('the page of reference shows them; `npm test -- packages/cli -u` writes it anew', async () => {
  await expect(shapePage()).toMatchFileSnapshot('../../../docs/reference/json.md')
})
