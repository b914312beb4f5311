import { describe, expect, it } from 'vitest'
import { headingsOf } from '../../site/heading.ts'
import { samplesOf } from '../../site/sample.ts'
import { documented } from '../documented.ts'
import { pageOf } from '../reference.ts'
import type { Home } from '../shop.ts'
import { Declarations, type Surface, surfacesOf } from '../surface.ts'

const source = `/** What was bought. */
export interface Agent {
    /** In cents, at most <1,000>; throws INVALID_OPTION. */
    total: number;
    /**
     * Sells it.
     * @example payments.sell({ total: 1 })
     */
    sell(options: {
        total: number;
        at?: Date;
    }): Agent;
}
/**
 * Defines an agent.
 * @example
 * const shop = agent('shop')
 * await triarch.start()
 */
export declare function agent(name: string): Agent;
/** The first. @internal */
export declare const first: Agent;
`

function surfaceOf(code: string): Surface {
  const entries = [{ name: 'triarch', path: 'index.d.ts' }]
  const [surface] = surfacesOf(new Declarations(() => code), entries)
  if (!surface) throw new Error('no surface')
  return surface
}

const codes = new Set(['INVALID_OPTION'])
const problemsOf = (code: string) => documented(surfaceOf(code), codes).join('\n')

describe('what is said of the API', () => {
  it('is complete with a word for each export and member, and an example of each value and method', () => {
    expect(problemsOf(source)).toBe('triarch: first (index.d.ts) has no @example')
  })

  it.each([
    ['a type', '/** What was bought. */\n', '', 'Agent (index.d.ts) says nothing of itself'],
    [
      'a property',
      '    /** In cents, at most <1,000>; throws INVALID_OPTION. */\n',
      '',
      'total says nothing of itself',
    ],
    ['a method', /\/\*\*\n {5}\* Sells it[^/]*\/\n/, '', 'sell says nothing of itself'],
    ['the example of a method', '     * @example payments.sell({ total: 1 })\n', '', 'sell has no @example'],
    ['the example of a function', /@example\n[^/]*\*\//, '*/', 'agent (index.d.ts) has no @example'],
    ['a code that there is', 'INVALID_OPTION', 'INVALID_CHOICE', 'tells of INVALID_CHOICE, which is no error code'],
  ])('lacks %s', (_, from, to, problem) => {
    const less = source.replace(from, to)
    expect(less).not.toBe(source)
    expect(problemsOf(less)).toContain(problem)
  })
})

describe('the reference page of an entry', () => {
  const homes = new Map<string, Home>([
    ['agent', { entry: 'triarch', typeOnly: false }],
    ['Triarch', { entry: 'triarch', typeOnly: false }],
    ['Agent', { entry: 'triarch', typeOnly: true }],
  ])
  const page = pageOf(surfaceOf(source), { homes, codes })

  it('has a section for each export, and each method that has an example', () => {
    const titles = headingsOf(page).map(({ title }) => title)
    expect(titles).toEqual(['triarch', 'Functions', 'agent', 'Constants', 'first', 'Types', 'Agent', 'Agent.total', 'Agent.sell']) // biome-ignore format: one line
    expect(page).toContain('sell(options: {\n  total: number\n  at?: Date\n}): Agent\n')
  })

  it('leads to sections, though two differ by a capital only, and to error codes', () => {
    expect(page).toContain('See [`Agent`](#agent-1).')
    expect(page).toContain('In cents, at most &lt;1,000>; throws [INVALID_OPTION](../errors.md#invalid_option).')
  })

  it('shows examples that are samples, with all that they name', () => {
    const { samples, problems } = samplesOf({ path: 'page.md', markdown: page })
    expect(problems).toEqual([])
    expect(samples.map(({ code }) => code.map(({ text }) => text))).toEqual([
      [
        "import { Triarch, agent } from 'triarch'",
        'declare const triarch: Triarch',
        "const shop = agent('shop')",
        'await triarch.start()',
      ],
      ["import { type Agent } from 'triarch'", 'declare const payments: Agent', 'payments.sell({ total: 1 })'],
    ])
  })
})
