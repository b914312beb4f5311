import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCatalogue } from 'triarch'
import { describe, expect, it } from 'vitest'
import { openapi } from '../src/openapi.ts'
import { refusals, statuses } from '../src/problem/status.ts'
import { routes } from '../src/route/index.ts'
import { document } from './document.ts'
import { shop } from './shop.ts'

describe('the document', () => {
  it('is the one that is committed; `npx vitest run packages/server/test/openapi -u` writes it anew', async () => {
    await expect(`${JSON.stringify(openapi(), null, 2)}\n`).toMatchFileSnapshot('../openapi.json')
  })

  it('is served', async () => {
    await using here = await shop()
    expect(await here.json('GET', '/openapi.json')).toEqual(openapi())
  })

  it('has every route, each under a name of its own, and every part that is named', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(routes.map(({ id }) => id).sort())
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length)
    const named = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
    expect([...new Set(named)].sort()).toEqual(Object.keys(document.components.schemas).sort())
  })
})

describe('every code', () => {
  it('of the engine has one status, and no other has', () => {
    expect(Object.keys(statuses).sort()).toEqual(Object.keys(errorCatalogue).sort())
  })

  it('of the server is none of the engine, and says what it means and what to do', () => {
    for (const [code, [, text]] of Object.entries(refusals)) {
      expect(errorCatalogue).not.toHaveProperty(code)
      expect(text, code).toMatch(/^[A-Z].*: .*\.$/)
    }
  })

  it('stands in the docs with its status', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/concepts/server.md'), 'utf8')
    const rows = [...page.matchAll(/^\| (\d{3}) \| (`[A-Z].*`) \|$/gm)]
    const told = rows.flatMap(([, status, codes = '']) =>
      codes.split(', ').map((code) => [code.replaceAll('`', ''), Number(status)]),
    )
    expect(Object.fromEntries(told)).toEqual(statuses)
    const own = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \| (.*) \|$/gm)].map(([, code = '', status, text]) => [
      code,
      [Number(status), text],
    ])
    expect(Object.fromEntries(own)).toEqual(refusals)
  })
})
