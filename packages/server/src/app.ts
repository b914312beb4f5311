import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { bodyOf } from './held.ts'
import { openapi } from './openapi.ts'
import type { MetricsSource, Settings } from './options.ts'
import { problemOf, Refused, responseOf } from './problem/problem.ts'
import { actingOf, actOf, Refusals } from './request/act.ts'
import { readBody } from './request/body.ts'
import { check } from './request/check.ts'
import type { Guard } from './request/guard.ts'
import { parseJson } from './request/json.ts'
import { checkOrigin } from './request/origin.ts'
import { readQuery } from './request/query.ts'
import type { EndRead } from './request/reads.ts'
import { checkRight } from './request/right.ts'
import { routes } from './route/index.ts'
import { type Route, rightOf, type Site } from './route/route.ts'

const PREFIX = '/api/v1'
const none = z.strictObject({})

interface Asked {
  url: URL
  /** As it was sent, without the base. */
  path: string
  /** HTTP sees to it that no more comes than was announced. A body that somebody changed on its way may have more. */
  isHeld: boolean
}

/** The routes as one function from requests to responses. It never rejects. */
export function appOf(site: Site, settings: Settings): (request: Request, isHeld: boolean) => Promise<Response> {
  // Segments stay as they were sent, so that an id may have a slash in it; each is decoded once, where it is used.
  const getPath = (_: Request, options?: { env?: Asked }) => options?.env?.path ?? '/'
  const short = new Set(['/metrics', ...routes.filter((route) => route.short).map(({ path }) => path as string)])
  const isShort = (path: string) => short.has(path)
  const app = new Hono<{ Bindings: Asked }>({ strict: true, getPath: getPath as (request: Request) => string })
  const document = openapi()
  const refusals = new Refusals()
  const published: Route = {
    ...{ method: 'GET', path: '/openapi.json', id: 'getDocument', summary: 'This document.', answers: {} },
    right: null,
    run: async () => ({ status: 200, body: document }),
  }
  const all = [...routes, published]
  for (const route of all)
    for (const prefix of route.short ? [PREFIX, ''] : [PREFIX])
      app.on(route.method, prefix + patternOf(route), (c) =>
        answer(route, c.req.raw, c.env, { site, settings, refusals }),
      )
  for (const [path, group] of Map.groupBy(all, patternOf)) {
    const methods = group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const allow = [...methods, 'OPTIONS'].join(', ')
    const refuse = (c: Context) => {
      if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
      const refused = new Refused('METHOD_NOT_ALLOWED', `this path takes ${allow}`)
      return responseOf(problemOf(refused, settings.onError), { allow })
    }
    app.all(PREFIX + path, refuse)
    if (group.some(({ short }) => short)) app.all(path, refuse)
  }
  if (settings.metrics) app.all('/metrics', (c) => measured(c.req.raw, site.guard, settings))
  app.notFound(() => {
    throw new Refused('NO_ROUTE', 'there is nothing at this path')
  })
  app.onError((error) => {
    throw error
  })
  return async (request, isHeld) => {
    try {
      if (request.url.length > settings.limits.url)
        throw new Refused('URL_TOO_LONG', `the URL has more than ${settings.limits.url} characters`)
      const url = new URL(request.url)
      const path = below(settings.basePath, url.pathname)
      // What the API has at a short path is not the console's.
      const shown = isShort(path) ? null : settings.console?.respond(request, path)
      return shown ?? (await app.fetch(request, { url, path, isHeld }))
    } catch (error) {
      // That a client went away is nothing that went wrong here.
      const isGone = error === request.signal.reason
      return responseOf(problemOf(error, isGone ? () => undefined : settings.onError))
    }
  }
}

async function measured(request: Request, guard: Guard, { metrics, onError }: Settings): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const refused = new Refused('METHOD_NOT_ALLOWED', 'this path takes GET, HEAD')
    return responseOf(problemOf(refused, onError), { allow: 'GET, HEAD' })
  }
  checkRight(await guard.who(request), 'read')
  return (metrics as MetricsSource).respond(request)
}

async function answer(
  route: Route,
  request: Request,
  { url, path, isHeld }: Asked,
  { site, settings, refusals }: { site: Site; settings: Settings; refusals: Refusals },
): Promise<Response> {
  const { limits, origins } = settings
  const { guard, triarch, held } = site
  const reads = route.method === 'GET'
  if (!reads) checkOrigin(request, origins)
  const who = async () => (route.open ? null : guard.who(request))
  const principal = await who()
  const right = rightOf(route)
  const caller = principal?.id ?? null
  const acting = actingOf(request, principal)
  /** Nobody's knocking makes the audit forget what was done. */
  const note = async (error: unknown) => {
    if (reads || !(error instanceof Refused) || error.code !== 'FORBIDDEN' || !refusals.counts(principal?.id ?? ''))
      return
    const { right: lacked } = error.details as { right: string }
    await triarch.serving.acting(acting, () =>
      triarch.serving.refused({ ...actOf(route, paramsOf(route, path)), right: lacked }),
    )
  }
  const turn: { end?: EndRead } = {}
  const act = async () => {
    if (right !== null) checkRight(principal, right)
    if (!reads && !isTalk(route)) site.reads.changing()
    const { query = none, body: schema = none } = route
    const text = reads ? '' : await readBody(request, limits.bytes, isHeld)
    const asked = {
      query: check(query, readQuery(query, url.searchParams), 'query'),
      // What takes a body takes none for an empty one.
      body: check(schema, text === '' ? {} : parseJson(text, limits), 'body'),
    }
    const still = guard.asks && !route.open && right !== null ? async () => checkRight(await who(), right) : null
    const isLong = isPatient(asked)
    if (reads && !route.open) {
      turn.end = await site.reads.turn(caller ?? '', () => request.signal)
      // Who waits for something to happen keeps nobody from reading.
      if (isLong) turn.end()
    }
    const run = (signalOf: () => AbortSignal) => {
      const call = {
        ...{ params: paramsOf(route, path), ...asked, headers: request.headers, principal, still },
        // Most ask for nothing of the kind, and it is dear.
        get signal() {
          return signalOf()
        },
      }
      return reads ? route.run(call, site) : triarch.serving.acting(acting, () => route.run(call, site))
    }
    return still && isLong ? guard.during(still, request, (signal) => run(() => signal)) : run(() => request.signal)
  }
  const { status, body, headers, stream } = await act().catch(async (error: unknown) => {
    turn.end?.()
    await note(error)
    throw error
  })
  if (!reads && !isTalk(route)) site.reads.earn(caller ?? '', earnedBy(body))
  const type = stream ? 'text/event-stream' : body !== undefined ? 'application/json' : null
  const isRead = request.method !== 'HEAD'
  if (!isRead) await stream?.cancel()
  const text = body === undefined ? null : JSON.stringify(body)
  turn.end?.()
  const kept = text === null || !isRead ? null : bodyOf(text, held.of(caller))
  if (reads && isRead && text !== null && kept === null)
    throw new Refused('TOO_MANY_REQUESTS', 'answers that were not read yet hold as much as they may: read them first')
  return new Response(isRead ? (stream ?? kept ?? text) : null, {
    status,
    headers: {
      ...(type !== null && { 'content-type': type }),
      ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
      ...(!reads && { 'x-request-id': acting.request }),
      ...headers,
    },
  })
}

/** How many tasks were created; 1: something else was done. What was refused, or was there already, is no change. */
function earnedBy(body: unknown): number {
  const { results, created = true } = (body ?? {}) as { results?: unknown; created?: boolean }
  const one = Number(created)
  return Array.isArray(results) ? results.filter((it: { created?: boolean }) => it.created === true).length : one
}

/** What agents' processes say all the time. What they answer makes tasks move. */
function isTalk({ right }: Route): boolean {
  return right === 'agents'
}

/** It may be answered long after it was let in. */
function isPatient({ query, body }: { query: object; body: unknown }): boolean {
  return 'wait' in query || (typeof body === 'object' && body !== null && 'wait' in body)
}

function patternOf({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

function below(base: string, path: string): string {
  if (base === '') return path
  return path.startsWith(`${base}/`) ? path.slice(base.length) : '/'
}

function paramsOf({ path }: Route, sent: string): Record<string, string> {
  const values = sent.slice(PREFIX.length).split('/')
  return Object.fromEntries(
    path.split('/').flatMap((segment, index) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1]
      return name === undefined ? [] : [[name, decoded(values[index] ?? '')]]
    }),
  )
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refused('INVALID_REQUEST', 'the path has a percent sign that begins no character')
  }
}
