import { type StoreFactory, TriarchError } from 'triarch'
import type { StateStore } from 'triarch/store'
import { memory } from 'triarch/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { events, opened, Reader } from './events.ts'
import { type Shop, shop } from './shop.ts'

let here: Shop
beforeAll(async () => {
  here = await shop()
  await here.triarch.start()
})
afterAll(() => here[Symbol.asyncDispose]())

const submit = (body: object) => here.ask('POST', '/tasks', body)

describe('the events of a task', () => {
  it('tell it now, and each change, until it stops: then there is nothing more to ask', async () => {
    await submit({ workflow: 'approval', id: 'e-1' })
    await using reader = await opened(here, '/tasks/e-1/events')
    const first = await reader.until('task', ({ status }) => status === 'running')
    expect(first.id).toMatch(/^1\.\w+$/)
    await here.ask('POST', '/tasks/e-1/signal', { name: 'decided', payload: { by: 'anna' } })
    const last = await reader.until('task', ({ status }) => status === 'stopped')
    expect(last.data).toMatchObject({ id: 'e-1', outcome: 'success', output: 'anna' })
    expect(await reader.next()).toMatchObject({ event: 'end', data: { code: 'TASK_STOPPED', again: false } })
    expect(await reader.next()).toBeNull()
    const again = await here.ask('GET', '/tasks/e-1/events', undefined, { 'last-event-id': last.id ?? '' })
    expect(again.status).toBe(204)
    // Who knows something else is told.
    await using other = await opened(here, '/tasks/e-1/events', { 'last-event-id': first.id ?? '' })
    expect(await other.next()).toMatchObject({ event: 'task', id: last.id })
  })

  it('are not found where there is no task', async () => {
    expect((await here.ask('GET', '/tasks/nobody/events')).status).toBe(404)
    expect((await submit({ workflow: 'approval', id: 'events' })).status).toBe(400)
  })
})

describe('the events of a filter', () => {
  it('tell what fits, and what comes, changes and goes', async () => {
    const tags = { desk: '7' }
    await submit({ workflow: 'approval', id: 'f-1', tags })
    await expect.poll(() => here.json('GET', '/tasks/f-1')).toMatchObject({ status: 'running' })
    const path = `/tasks/events?filter=${encodeURIComponent('tag.desk:7 -status:stopped')}`
    await using reader = await opened(here, path)
    const page = await reader.next()
    expect(page).toMatchObject({ event: 'page', data: { tasks: [{ id: 'f-1' }] } })
    // Whoever knows that is told nothing anew.
    await using known = await opened(here, path, { 'last-event-id': page?.id ?? '' })
    await submit({ workflow: 'approval', id: 'f-2', tags })
    await reader.until('task', ({ id, status }) => id === 'f-2' && status === 'running')
    expect(await known.next()).toMatchObject({ event: 'task', data: { id: 'f-2' } })
    await here.ask('POST', '/tasks/f-1/cancel')
    await reader.until('gone', ({ id }) => id === 'f-1')
  })

  it.each([
    ['/tasks/events?filter=nonsense:1', 'INVALID_FILTER'],
    ['/tasks/events?limit=201', 'INVALID_REQUEST'],
    ['/tasks/events?every=1s', 'INVALID_REQUEST'],
  ])('are refused: %s', async (path, code) => {
    const response = await here.ask('GET', path)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code })
  })
})

describe('the events of the whole', () => {
  it('tell the counts, and again when they change', async () => {
    await using reader = await opened(here, '/stats/events')
    const first = await reader.next()
    const tasks = Number(first?.data.tasks)
    await submit({ workflow: 'approval' })
    const second = await reader.until('counts', (counts) => counts.tasks === tasks + 1)
    expect(second.id).not.toBe(first?.id)
  })
})

describe('the events of the whole, where the store', () => {
  const over = (counts: StateStore['counts']): StoreFactory => {
    const inner = memory()
    return (...given) => Object.assign(inner(...given), { counts })
  }

  it('answers nothing, begin all the same', async () => {
    const asked = Promise.withResolvers<void>()
    const silent = () => {
      asked.resolve()
      return new Promise<never>(() => undefined)
    }
    await using other = await shop({}, over(silent))
    const response = await other.ask('GET', '/stats/events')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    await asked.promise
    await response.body?.cancel()
  })

  it('cannot be read, say so as their last word', async () => {
    const lost = () => Promise.reject(new TriarchError('STORE_UNAVAILABLE', 'the store is out of reach'))
    await using other = await shop({}, over(lost))
    await using reader = await opened(other, '/stats/events')
    expect(await events(reader)).toMatchObject([{ event: 'end', data: { code: 'STORE_UNAVAILABLE', again: true } }])
  })
})

describe('a stream', () => {
  it('is one of so many', async () => {
    await using small = await shop({ limits: { streams: 2 } })
    const readers = [await opened(small, '/stats/events'), await opened(small, '/tasks/events')]
    const refused = await small.ask('GET', '/tasks/events')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ code: 'TOO_MANY_STREAMS' })
    await readers[0]?.close()
    await using third = await opened(small, '/tasks/events')
    expect(await third.next()).toMatchObject({ event: 'page' })
    await readers[1]?.close()
  })

  it('ends with a word when the server drains, and none begins then', async () => {
    await using other = await shop()
    await using reader = await opened(other, '/tasks/events')
    expect(await reader.next()).toMatchObject({ event: 'page' })
    await other.server.close()
    expect(await reader.next()).toMatchObject({ event: 'end', data: { code: 'STOPPING', again: true } })
    expect(await reader.next()).toBeNull()
    expect((await other.ask('GET', '/tasks/events')).status).toBe(503)
  })

  it('ends with a word when the engine stops', async () => {
    await using other = await shop()
    await using reader = await opened(other, '/tasks/events')
    expect(await reader.next()).toMatchObject({ event: 'page' })
    await other.triarch.stop({ grace: 0 })
    expect(await reader.next()).toMatchObject({ event: 'end', data: { code: 'NODE_STOPPED', again: true } })
  })

  it('is given up when its client is too slow: what waits for it is bounded', async () => {
    await using small = await shop({ limits: { buffered: 20_000, streams: 1 } })
    await small.triarch.start()
    const slow = await small.ask('GET', '/tasks/events')
    const note = 'x'.repeat(100)
    for (let n = 0; n < 60; n++)
      await small.ask('POST', '/tasks', { workflow: 'approval', id: `n${n}`, tags: { note } })
    await expect.poll(() => small.json('GET', '/tasks?filter=status:running&limit=100')).toHaveProperty('tasks.59')
    // Its place is free, though it never read.
    const next = async () => {
      const response = await small.ask('GET', '/stats/events')
      await response.body?.cancel()
      return response.status
    }
    await expect.poll(next).toBe(200)
    const told = await events(new Reader(slow))
    expect(told.at(-1)).toMatchObject({ event: 'end', data: { code: 'STREAM_TOO_SLOW', again: true } })
    expect(told.length).toBeLessThan(130)
  })

  it('is not begun for a HEAD', async () => {
    await using small = await shop({ limits: { streams: 1 } })
    for (let n = 0; n < 3; n++) expect((await small.ask('HEAD', '/stats/events')).status).toBe(200)
  })
})
