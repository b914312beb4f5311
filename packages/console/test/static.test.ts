import { globSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createServer } from '@triarch/server'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { describe, expect, it } from 'vitest'
import { files } from '../src/index.ts'
import { de } from '../src/text/de.ts'
import { en } from '../src/text/en.ts'

const page = { headers: { accept: 'text/html' } }

function served(basePath = '') {
  const triarch = new Triarch({ store: sqlite(':memory:'), roles: [], notices: false })
  const server = createServer(triarch, { console: files, basePath, open: true })
  return (path: string, init?: RequestInit) => server.fetch(new Request(`http://localhost${path}`, init))
}

describe('the files of the console', () => {
  it('are kept by browsers for ever, compressed as they like it; the page is asked for each time', async () => {
    const get = served()
    const found = await get('/', page)
    const html = await found.text()
    expect(found.headers.get('cache-control')).toBe('no-cache')
    expect(found.headers.get('content-security-policy')).not.toContain('unsafe')
    const [script = ''] = /assets\/[^"]+\.js/.exec(html) ?? []
    expect(html).toMatch(/integrity="sha384-[^"]+" src=/)
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['', null],
    ] as const) {
      const asset = await get(`/${script}`, { headers: { 'accept-encoding': accepted } })
      expect(asset.headers.get('content-encoding')).toBe(encoding)
      expect(asset.headers.get('cache-control')).toContain('immutable')
    }
    const etag = found.headers.get('etag') ?? ''
    expect((await get('/', { headers: { ...page.headers, 'if-none-match': etag } })).status).toBe(304)
    const head = await get('/', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('stand below any base path, and know it', async () => {
    const html = await (await served('/ops/triarch')('/ops/triarch/tasks/o-1', page)).text()
    expect(html).toContain('<base href="/ops/triarch/"')
    expect(html).toContain('content="/ops/triarch/api/v1"')
  })

  it('say where traces are, as the server was told, and refuse what is no such place', async () => {
    const triarch = new Triarch({ store: sqlite(':memory:'), roles: [], notices: false })
    const of = (traceUrl: string) => createServer(triarch, { console: files, traceUrl, open: true })
    const shown = await of('https://t.example.com/?q="&$&id={traceId}').fetch(new Request('http://localhost/', page))
    expect(await shown.text()).toContain(
      'name="triarch-trace" content="https://t.example.com/?q=&#34;&#38;$&#38;id={traceId}"',
    )
    for (const wrong of ['javascript:alert("{traceId}")', 'https://t.example.com', 'traces/{traceId}'])
      expect(() => of(wrong)).toThrow('traceUrl must be such as')
  })

  it.each([
    '/assets/../index.html',
    '/assets/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/none.js',
  ])('lead nowhere else: %s', async (path) => {
    const found = await served()(path)
    expect([found.status, found.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  })

  it('leave the API what is its own', async () => {
    const get = served()
    expect((await get('/api/v1/nothing', page)).status).toBe(404)
    expect(await (await get('/health/live', page)).json()).toEqual({ status: 'ok' })
    expect((await get('/tasks', { headers: { accept: 'application/json' } })).status).toBe(404)
    expect((await get('/tasks', { method: 'POST' })).status).not.toBe(200)
  })

  it('refuse a folder where there is none', () => {
    const triarch = new Triarch({ store: sqlite(':memory:'), roles: [], notices: false })
    expect(() => createServer(triarch, { console: '/nowhere' })).toThrow('there are no files of a console')
  })

  it('are at most 200 KB of compressed JavaScript before anything is seen, and 400 KB with what is loaded later', () => {
    const html = readFileSync(new URL('index.html', files), 'utf8')
    // What the page names is the script and all that it cannot run without.
    const first = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(([, path]) => `${path}.br`)
    const all = globSync('assets/*.js.br', { cwd: fileURLToPath(files) })
    const bytes = (paths: string[]) => paths.reduce((sum, path) => sum + statSync(new URL(path, files)).size, 0)
    expect(first.length).toBeGreaterThan(0)
    expect(all).toEqual(expect.arrayContaining(first))
    expect(bytes(first)).toBeLessThan(200 * 1024)
    expect(bytes(all)).toBeLessThan(400 * 1024)
  })

  it('speak of every state in both languages, and name nothing of another site', () => {
    expect(Object.keys(de.states)).toEqual(Object.keys(en.states))
    const html = readFileSync(new URL('index.html', files), 'utf8')
    expect(html).not.toMatch(/https?:/)
  })
})
