import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { declared } from '../../packaging/build.ts'
import { check, write } from '../committed.ts'
import { exposed } from '../exposed.ts'
import { reportOf } from '../report.ts'
import { Declarations, type Surface, surfacesOf } from '../surface.ts'

const shop: Readonly<Record<string, string>> = {
  'index.d.ts': `export { type Order, Shop, sell as trade } from './shop.js'\n`,
  'more.d.ts': `export type * from './basket.js'\n`,
  'shop.d.ts': `import type { Basket } from './basket.js'
import type { Stock } from './stock.js'
/** What was bought. */
export interface Order {
    /** In cents. */
    total: number;
    basket: Basket;
}
/** Sells. */
export declare class Shop {
    #private;
    readonly open: boolean;
    sell(order: Order): void;
}
export declare function sell(order: Order): Promise<Order>;
export declare function sell(order: Order, stock: Stock): Order;
`,
  'basket.d.ts': `export interface Basket {\n    ids: readonly string[];\n}\n`,
  'stock.d.ts': `export interface Stock {\n    left: number;\n}\n`,
}
const entries = [
  { name: 'shop', path: 'index.d.ts' },
  { name: 'shop/more', path: 'more.d.ts' },
]

function surfaces(changes: Readonly<Record<string, string>> = {}): Surface[] {
  const files = { ...shop, ...changes }
  return surfacesOf(new Declarations((path) => files[path] ?? ''), entries)
}

/** The shop with this in place of that, somewhere in a file of it. */
function changed(file: string, from: string, to: string): Record<string, string> {
  const before = shop[file] ?? ''
  expect(before).toContain(from)
  return { [file]: before.replace(from, to) }
}

const reports = (from: Surface[]) => new Map(from.map((surface) => [`reports/${surface.entry.name.replace('/', '-')}.md`, reportOf(surface)])) // biome-ignore format: one line

describe('the report of an entry', () => {
  it('has every export as it is imported, without what is said of it and what is private', () => {
    const [report = ''] = reports(surfaces()).values()
    expect(report).toContain('interface Order {\n  total: number\n  basket: Basket\n}')
    expect(report).toContain('class Shop {\n  readonly open: boolean\n  sell(order: Order): void\n}')
    expect(report).toContain('// as trade\nfunction sell(order: Order): Promise<Order>\nfunction sell(order: Order, stock: Stock): Order') // biome-ignore format: one line
    expect(report).not.toMatch(/What was bought|#private/)
  })

  it('has what its exports name without its being exported, and says what is of another entry', () => {
    const [report = ''] = reports(surfaces()).values()
    expect(report.split('## Named by them, and not exported')[1]).toContain('interface Stock {\n  left: number\n}')
    expect(report).toContain('- `shop/more`: `Basket`')
  })

  it('is the same whatever is said of the declarations', () => {
    const said = changed('shop.d.ts', '/** In cents. */', '/**\n * In cents,\n * rounded.\n */')
    expect(reports(surfaces(said))).toEqual(reports(surfaces()))
  })
})

describe('a type that nobody can name', () => {
  it('is a problem, unless it is said why it is not', () => {
    const problems = surfaces().flatMap((surface) => exposed(surface, new Set()))
    expect(problems).toEqual(['shop: trade names Stock (stock.d.ts), which no entry exports'])
    const open = changed('index.d.ts', './shop.js', `./shop.js'\nexport type { Stock } from './stock.js`)
    expect(surfaces(open).flatMap((surface) => exposed(surface, new Set()))).toEqual([])
  })
})

describe('what is committed', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'triarch-committed-'))
    write(root, ['reports'], reports(surfaces()))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))
  const found = (from: Surface[]) => check(root, ['reports'], reports(from)).join('\n')

  it('passes as it was written', () => expect(found(surfaces())).toBe(''))

  it.each([
    ['a member that is gone', 'shop.d.ts', '    readonly open: boolean;\n', '', '-  readonly open: boolean'],
    ['an overload that comes', 'shop.d.ts', 'export declare function sell', 'export declare function sell(): never;\nexport declare function sell', '+function sell(): never'], // biome-ignore format: one line
    ['a type of a parameter', 'shop.d.ts', 'sell(order: Order): void', 'sell(order?: Order): void', '+  sell(order?: Order): void'], // biome-ignore format: one line
    ['an export that is gone', 'index.d.ts', ', Shop', '', '-class Shop {'],
    ['a value of which only the type is left', 'index.d.ts', 'Shop', 'type Shop', '+// only its type'],
    ['another name', 'index.d.ts', 'as trade', 'as barter', '+// as barter'],
    ['what is only named', 'stock.d.ts', 'number', 'bigint', '+  left: bigint'],
    ['what another entry exports', 'basket.d.ts', 'readonly string[]', 'string[]', '+  ids: string[]'],
  ])('differs by %s, and is shown with it', (_, file, from, to, shown) => {
    expect(found(surfaces(changed(file, from, to)))).toContain(shown)
  })

  it('differs by a report that was edited, or is of no entry', () => {
    writeFileSync(join(root, 'reports/old.md'), 'old')
    expect(found(surfaces())).toContain('reports/old.md is about an entry that is gone')
    const path = join(root, 'reports/shop.md')
    writeFileSync(path, readFileSync(path, 'utf8').replace('total: number', 'total: bigint'))
    expect(found(surfaces())).toContain('-  total: bigint\n+  total: number')
  })
})

describe('declarations as they are published', () => {
  it('import what Node finds, and have nothing internal, on the lines that maps tell of', () => {
    const code = `import type { A } from './a.ts';
export declare class B {
    /** @internal */
    constructor(a: A);
    /** Kept. */
    one(): void;
    /** @internal For the engine. */
    readonly two?: {
        readonly three: A;
    };
    /** @internal */
    four(): A;
    five: A;
}
`
    const lines = declared(code).split('\n')
    expect(lines.filter((line) => line.trim() !== '')).toEqual([
      "import type { A } from './a.js';",
      'export declare class B {',
      '    private constructor();',
      '    /** Kept. */',
      '    one(): void;',
      '    five: A;',
      '}',
    ])
    expect(lines.length).toBe(code.split('\n').length)
  })
})
