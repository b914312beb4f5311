import { once } from 'node:events'
import { createServer as http, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { createServer, type TriarchServer } from '../src/index.ts'
import { judged } from './document.ts'
import { shop, workflows } from './shop.ts'

interface Mounted {
  url: string
  close(): Promise<unknown>
}

async function listening(server: Server): Promise<Mounted> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

const mounts: Record<string, { base: string; taken?: true; mount(server: TriarchServer): Promise<Mounted> }> = {
  'node:http': { base: '', mount: (server) => listening(http(server.node)) },
  'node:http below a path': { base: '/a/triarch', mount: (server) => listening(http(server.node)) },
  hono: {
    base: '/triarch',
    mount(server) {
      const app = new Hono().all('/triarch/*', (c) => server.fetch(c.req.raw))
      return listening(
        serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }) as Server,
      )
    },
  },
  'express 5': {
    base: '/triarch',
    taken: true,
    mount: (server) => listening(http(express().use('/triarch', server.node).use(express.json()))),
  },
  'fastify 5': {
    base: '/triarch',
    async mount(server) {
      const app = fastify()
      app.register((scope, _options, done) => {
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', (_request, _body, taken) => taken(null))
        scope.all('/triarch/*', (request, answer) => {
          answer.hijack()
          return server.node(request.raw, answer.raw)
        })
        done()
      })
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
    },
  },
}

describe.each(Object.keys(mounts))('under %s', (name) => {
  it('the API is what it is by itself', async () => {
    const { base, taken, mount } = mounts[name] as (typeof mounts)[string]
    await using here = await shop()
    await here.triarch.start()
    // express takes the base off by itself.
    await using server = createServer(here.triarch, {
      workflows,
      basePath: taken ? '' : base,
      limits: { bytes: 1_000_000 },
    })
    const mounted = await mount(server)
    try {
      const ask = async (method: string, path: string, init: RequestInit = {}) => {
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(`${mounted.url}${base}/api/v1${path}`, { method, headers, ...init })
        return judged(method, `/api/v1${path.replace(/\?.*/, '')}`, response)
      }
      const body = JSON.stringify({
        workflow: 'order',
        version: '1',
        input: { amount: 4 },
        id: 'a/b c',
        tags: { long: 'x' },
      })
      const first = await ask('POST', '/tasks?wait=30s', { body })
      expect(first.status).toBe(201)
      expect(await first.json()).toMatchObject({ output: { receipt: 'r-4' } })
      // Where it says that it is, from wherever it was asked.
      const there = new URL(first.headers.get('location') ?? '', first.url)
      expect(there.href).toBe(`${mounted.url}${base}/api/v1/tasks/a%2Fb%20c`)
      expect(await (await fetch(there)).json()).toMatchObject({ id: 'a/b c', outcome: 'success' })
      expect((await ask('GET', '/nothing')).status).toBe(404)
      expect((await ask('POST', '/tasks', { body: 'x'.repeat(2_000_000) })).status).toBe(413)
      expect((await ask('POST', '/tasks', { body })).status).toBe(200)
      expect((await ask('POST', '/tasks/nobody/pause', { headers: {} })).status).toBe(404)
      expect((await ask('HEAD', '/tasks')).status).toBe(200)
    } finally {
      await mounted.close()
    }
  })
})
