import { type Cases, flow } from './case.ts'

export const moduleState: Cases = {
  rule: 'no-module-state',
  valid: [
    {
      name: 'variables of the workflow are its own',
      code: flow(
        'let sum = 0\nconst all = []\nfor (const { price } of input) {\nsum += price\nall.push(price)\n}\nreturn sum',
      ),
    },
    {
      name: 'so are those of its functions',
      code: flow(
        'return total(input)',
        'function total(items) {\nlet sum = 0\nfor (const item of items) sum += item\nreturn sum\n}',
      ),
    },
    { name: 'its input is its own', code: flow('input.seen = true\nreturn input') },
    { name: 'what is outside may be read', code: flow('return rates.get(input.from)', 'const rates = new Map()') },
    { name: 'a step may write outside', code: flow("await task.run('count', () => { count++ })", 'let count = 0') },
    {
      name: 'methods of what nobody knows are left alone',
      code: flow('log.push(input)', "import { log } from './log.ts'"),
    },
  ],
  invalid: [
    { name: 'a counter', code: flow('count++', 'let count = 0'), says: ['`count` is from outside'] },
    { name: 'an assignment', code: flow('last = input', 'let last'), says: ['`last`'] },
    {
      name: 'an assignment to parts',
      code: flow('[first, { second = 1 }] = input', 'let first, second'),
      says: ['`first`', '`second`'],
    },
    {
      name: 'a part of an object',
      code: flow('settings.seen.last = input', 'const settings = { seen: {} }'),
      says: ['`settings`'],
    },
    { name: 'a list', code: flow('seen.push(input)', 'const seen = []'), says: ['`seen`'] },
    { name: 'a map', code: flow('seen.set(input.id, 1)', 'const seen = new Map()'), says: ['`seen`'] },
    { name: 'a global', code: flow('globalThis.seen = 1'), says: ['`globalThis`'] },
    { name: 'what is deleted', code: flow('delete cache[input.id]', 'const cache = {}'), says: ['`cache`'] },
    {
      name: 'a variable around the workflow',
      code: "import { workflow } from 'triarch'\nexport function make() {\nlet runs = 0\nreturn workflow('sample', { run() { runs += 1 } })\n}",
      says: ['`runs`'],
    },
  ],
}
