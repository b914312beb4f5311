import { describe, expect, it } from 'vitest'
import { check } from '../check.ts'
import { located } from '../compile.ts'
import { execute } from '../execution.ts'
import { pagesOf, root } from '../page.ts'
import { type Reading, samplesOf } from '../sample.ts'

const fence = '```'
const reading = (...lines: string[]): Reading => samplesOf({ path: 'page.md', markdown: lines.join('\n') })
const code = ({ samples }: Reading) => samples.map((sample) => sample.code.map(({ line, text }) => `${line} ${text}`))
const complaints = ({ problems }: Reading) => problems.map(({ line, message }) => `${line} ${message}`)

describe('the samples of a page', () => {
  it('are its fences of ts, each a module, with the lines they stand on', () => {
    const page = reading(
      '# A',
      `${fence}ts`,
      'one()',
      '',
      'two()',
      fence,
      `${fence}js`,
      'no()',
      fence,
      `${fence}ts`,
      '3',
      fence,
    )
    expect(code(page)).toEqual([['3 one()', '4 ', '5 two()'], ['11 3']])
    expect(page.samples.map(({ file }) => file)).toEqual(['line-2.ts', 'line-10.ts'])
    expect(page.problems).toEqual([])
  })

  it('join the module before when they continue it', () => {
    const page = reading(`${fence}ts`, 'one()', fence, 'and', `${fence}ts continued`, 'two()', fence)
    expect(code(page)).toEqual([['2 one()', '6 two()']])
  })

  it('begin with what a comment right before them holds', () => {
    const page = reading('<!-- ts', "import 'a'", '-->', '', `${fence}ts`, 'one()', fence)
    expect(code(page)).toEqual([["2 import 'a'", '6 one()']])
    const lost = reading('<!-- ts', "import 'a'", '-->', 'and', `${fence}ts`, 'one()', fence, '<!-- ts', 'x', '-->')
    expect(complaints(lost)).toEqual([
      '1 this code in a comment has no sample right behind it',
      '8 this code in a comment has no sample right behind it',
    ])
    expect(code(lost)).toEqual([['6 one()']])
  })

  it('have a name when others import them, seen or hidden', () => {
    const page = reading('<!-- ts a.ts', 'export const a = 1', '-->', `${fence}ts run b.ts`, "import './a.ts'", fence)
    expect(page.samples.map(({ file }) => file)).toEqual(['a.ts', 'b.ts'])
    expect(page.problems).toEqual([])
    const twice = reading(`${fence}ts a.ts`, fence, `${fence}ts a.ts`, fence)
    expect(complaints(twice)).toEqual(['3 a.ts is there already'])
  })

  it('stand in lists, and between longer fences', () => {
    const page = reading(
      '- item',
      `  ${fence}ts`,
      '  one(',
      '    1)',
      `  ${fence}`,
      '````md',
      `${fence}ts`,
      fence,
      '````',
    )
    expect(code(page)).toEqual([['3 one(', '4   1)']])
  })

  it('are run as far as the fence that asks for it, and print the text that comes next', () => {
    const page = reading(
      ...[`${fence}ts run`, '1', fence, `${fence}text`, 'a', 'b', fence, `${fence}ts continued run`, '2', fence],
      ...[`${fence}sh`, fence, `${fence}text`, 'c', fence, `${fence}ts continued`, '3', fence],
    )
    expect(code(page)).toEqual([['2 1', '9 2', '17 3']])
    expect(page.programs.map(({ line, length, prints }) => ({ line, length, prints }))).toEqual([
      { line: 1, length: 1, prints: 'a\nb' },
      { line: 8, length: 2, prints: null },
    ])
  })

  it('leave the code of other engines alone', () => {
    expect(reading(`${fence}typescript theirs`, 'one(', fence)).toEqual({ samples: [], programs: [], problems: [] })
  })

  it.each([
    [[`${fence}ts runs`, fence], '1 "runs" says nothing behind ts'],
    [[`${fence}ts continued`, fence], '1 there is no sample before this one to continue'],
    [[`${fence}typescript`, fence], '1 write ts, not typescript: nothing else is checked'],
    [['<!-- ts run', '-->', `${fence}ts`, fence], '1 "run" says nothing behind ts'],
    [['text', `${fence}ts`, 'one()'], '2 this fence or comment never ends'],
  ])('are not understood silently: %s', (lines, complaint) => {
    expect(complaints(reading(...lines))).toEqual([complaint])
  })
})

describe('the check', () => {
  const markdown = [
    '# Page',
    '<!-- ts',
    'const given: number = 1',
    '-->',
    `${fence}ts`,
    'const wrong: string = given',
    fence,
    `${fence}ts`,
    '// @ts-expect-error: a number is no string',
    'const text: string = 1',
    fence,
  ].join('\n')

  it('finds a wrong sample, and says where on its page', async () => {
    const { problems, compiled } = await check([{ path: 'docs/page.md', markdown }])
    expect(problems.map(({ page, line, message }) => `${page}:${line}: ${message.split(':')[0]}`)).toEqual([
      'docs/page.md:6: TS2322',
    ])
    expect(compiled).toBe(2)
  })

  it('keeps what the compiler says of a line together, and what it says of others', () => {
    const { samples } = samplesOf({ path: 'a.md', markdown })
    const told = 'a.md/line-5.ts(1,1): error TS1: one\n  more\n../x.ts(7,1): error TS2: two\nerror TS3: three\n'
    expect(located(told, new Map([['a.md', samples]]))).toEqual([
      { page: 'a.md', line: 3, message: 'TS1: one\n  more' },
      { page: '../x.ts', line: 7, message: 'TS2: two' },
      { page: 'tsc', line: 0, message: 'error TS3: three' },
    ])
  })

  it('finds a program that fails, or prints what its page does not show', async () => {
    const lines = [
      ...[`${fence}ts a.ts`, "export const a = 'a'", fence],
      ...[`${fence}ts run`, "import { a } from './a.ts'", 'console.log(a)', fence, `${fence}text`, 'a', fence],
      ...[`${fence}ts run`, "console.log('b')", fence, `${fence}text`, 'c', fence],
      ...[`${fence}ts run`, 'process.exitCode = 3', fence],
    ]
    const { samples, programs } = samplesOf({ path: 'page.md', markdown: lines.join('\n') })
    const problems = await execute(programs.map((program) => ({ page: 'page.md', program, beside: samples })))
    expect(problems.map(({ line, message }) => `${line} ${message.trim()}`)).toEqual([
      '11 it printed\nb\nand the page shows\nc',
      '17 it ended with 3',
    ])
  })

  it('looks at every page that teaches', () => {
    const paths = pagesOf(root)
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'packages/triarch/README.md', 'docs/postgres.md']))
    expect(paths.filter((path) => path.startsWith('docs/decisions/'))).toEqual([])
  })
})
