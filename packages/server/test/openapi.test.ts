import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { errorCatalogue } from 'triarch'
import { describe, expect, it } from 'vitest'
import { openapi } from '../src/openapi.ts'
import { refusals, statuses } from '../src/problem/status.ts'
import { routes } from '../src/route/index.ts'
import { type Document, document, judged, type Operation } from './document.ts'
import { shop } from './shop.ts'

describe('the document', () => {
  it('is the one that is committed; `npx vitest run packages/server/test/openapi -u` writes it anew', async () => {
    await expect(`${JSON.stringify(openapi(), null, 2)}\n`).toMatchFileSnapshot('../openapi.json')
  })

  it('has nothing that a linter of such documents minds, which minds what is wrong', async () => {
    const rules = {
      // It does not know `x-events`, by which streams name theirs; the next test but one knows.
      'no-unused-components': 'off',
    } as const
    const config = await createConfig({ extends: ['recommended-strict'], rules })
    const minded = async (document: object) => {
      const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
      return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
    }
    expect(await minded(openapi())).toEqual([])
    const wrong = structuredClone(openapi()) as unknown as Document
    const get = wrong.paths['/tasks/{id}']?.get as Operation
    get.responses['200'] = {
      description: 'x',
      content: { 'application/json': { schema: { $ref: '#/nowhere' } } },
    } as never
    get.parameters = []
    get.operationId = 'listTasks'
    const found = (await minded(wrong)).map((problem) => problem.split(' ')[0])
    expect(found).toEqual(expect.arrayContaining(['no-unresolved-refs', 'path-parameters-defined', 'operation-operationId-unique'])) // biome-ignore format: one line
  })

  it('says of each of its groups what it is for', () => {
    const { tags } = openapi() as { tags: { description: string }[] }
    expect(tags.map(({ description }) => description)).toEqual(tags.map(() => expect.stringMatching(/^[A-Z].*\.$/)))
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

describe('an answer that the document does not have', () => {
  const stats = { tasks: 1, ready: 0, work: 0, inbox: 0, stale: 0, fenced: 0 }
  const json = { 'content-type': 'application/json' }
  const answer = (body: unknown, init: ResponseInit) =>
    judged('GET', '/api/v1/stats', new Response(JSON.stringify(body), init))

  it.each<[string, unknown, ResponseInit]>([
    ['its status', stats, { status: 206, headers: json }],
    ['its type', stats, { headers: { 'content-type': 'text/plain' } }],
    ['a member', { ...stats, secret: 1 }, { headers: json }],
    ['the lack of one', { ...stats, tasks: undefined }, { headers: json }],
  ])('fails the test that got it: %s', async (_, body, init) => {
    expect((await answer(stats, { headers: json })).status).toBe(200)
    await expect(answer(body, init)).rejects.toThrow(/document|expected/)
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
