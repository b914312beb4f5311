import { once } from 'node:events'
import { createServer as http, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { agent, connectAgents, Triarch, workflow } from 'triarch'
import { memory } from 'triarch/testing'
import { describe, expect, it, vi } from 'vitest'
import { WebSocket as Client } from 'ws'
import { createServer, type TriarchServer } from '../src/index.ts'
import { judged } from './document.ts'
import { shop, workflows } from './shop.ts'

interface Mounted {
  url: string
  close(): Promise<unknown>
}

/** Gives what asks for WebSocket to the server, as its docs say. */
function upgrading(http: Server, server: TriarchServer): Server {
  return http.on('upgrade', (request, socket, head) => server.upgrade(request, socket, head) || socket.destroy())
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
  'node:http': { base: '', mount: (server) => listening(upgrading(http(server.node), server)) },
  'node:http below a path': { base: '/a/triarch', mount: (server) => listening(upgrading(http(server.node), server)) },
  hono: {
    base: '/triarch',
    mount(server) {
      const app = new Hono().all('/triarch/*', (c) => server.fetch(c.req.raw))
      const options = { fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }
      return listening(upgrading(serve(options) as Server, server))
    },
  },
  'express 5': {
    base: '/triarch',
    mount: (server) =>
      listening(upgrading(http(express().all('/triarch/{*path}', server.node).use(express.json())), server)),
  },
  'express 5 that takes the base off': {
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
      upgrading(app.server, server)
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
    },
  },
}

const mail = agent('mail')
const send = mail.action('send', { run: async (to: string) => `m-${to}` })
const sending = workflow('send', { run: (to: string, task) => task.run(send, to) })

/** What takes the base off does so for requests alone: its agents ask plainly. */
const upgraded = Object.keys(mounts).filter((name) => !mounts[name]?.taken)

describe.each(upgraded)('under %s', (name) => {
  it('agents connect by WebSocket, and other sockets are left to others', async () => {
    const { base, mount } = mounts[name] as (typeof mounts)[string]
    await using triarch = new Triarch({ store: memory(), workflows: [sending], notices: false })
    await triarch.start()
    await using server = createServer(triarch, { basePath: base, open: true })
    const mounted = await mount(server)
    try {
      // By WebSocket alone: nothing that is asked plainly comes through.
      const plain = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('plain'))
      await using connection = connectAgents(`${mounted.url}${base}`, { agents: [mail], onError: () => undefined })
      await connection.connected
      expect(await (await triarch.submit(sending, 'ann')).result()).toBe('m-ann')
      expect(plain).not.toHaveBeenCalled()
      plain.mockRestore()
      const other = new Client(`${mounted.url.replace('http', 'ws')}/elsewhere`)
      const [error] = await once(other, 'error')
      expect(String(error)).toContain('socket hang up')
    } finally {
      vi.restoreAllMocks()
      await server.close()
      await mounted.close()
    }
  })
})

describe.each(Object.keys(mounts))('under %s', (name) => {
  it('the API is what it is by itself', async () => {
    const { base, taken, mount } = mounts[name] as (typeof mounts)[string]
    await using here = await shop()
    await here.triarch.start()
    // express takes the base off by itself.
    await using server = createServer(here.triarch, {
      workflows,
      open: true,
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
