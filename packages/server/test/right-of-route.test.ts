import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { routes } from '../src/route/index.ts'
import { shop } from './shop.ts'

/** Which right each route needs, as docs/concepts/server.md says: written down by hand, so that a route that asks for another one is noticed. */
const needed: Readonly<Record<string, readonly string[]>> = {
  read: [
    'GET /tasks/events',
    'GET /tasks/{id}/events',
    'GET /tasks/{id}/logs/events',
    'GET /stats/events',
    'GET /tasks',
    'GET /tasks/{id}',
    'GET /tasks/{id}/outcome',
    'GET /tasks/{id}/change',
    'GET /tasks/{id}/steps',
    'GET /tasks/{id}/moment',
    'GET /tasks/{id}/history',
    'GET /tasks/{id}/export',
    'GET /tasks/{id}/logs',
    'GET /tasks/{id}/plan',
    'GET /tasks/{id}/children',
    'GET /tasks/{id}/explain',
    'GET /operations',
    'GET /operations/{id}',
    'GET /schedules',
    'GET /schedules/{name}',
    'GET /schedules/{name}/next',
    'GET /workflows',
    'GET /agents',
    'GET /demand',
    'GET /locks',
    'GET /leaders',
    'GET /nodes',
    'GET /stats',
    'GET /stats/tasks',
    'GET /breakers',
    'GET /breakers/{name}',
    'GET /rate-limits',
    'GET /rate-limits/{name}',
    'GET /alerts',
    'GET /alerts/{name}',
    'GET /health',
    'GET /probes',
    'GET /statistics',
  ],
  start: ['POST /tasks', 'POST /submissions'],
  import: ['POST /imports'],
  control: [
    'POST /tasks/{id}/cancel',
    'POST /tasks/{id}/pause',
    'POST /tasks/{id}/resume',
    'POST /tasks/{id}/retry',
    'POST /tasks/{id}/skip',
    'POST /tasks/{id}/compensate',
    'POST /tasks/{id}/thaw',
    'POST /tasks/{id}/signal',
    'POST /operations',
    'POST /operations/{id}/cancel',
  ],
  schedules: [
    'PUT /schedules/{name}',
    'DELETE /schedules/{name}',
    'POST /schedules/{name}/pause',
    'POST /schedules/{name}/resume',
    'POST /schedules/{name}/backfill',
    'POST /schedules/{name}/run',
  ],
  breakers: ['POST /breakers/{name}/open', 'POST /breakers/{name}/close', 'POST /breakers/{name}/reset'],
  rates: ['POST /rate-limits/{name}/change', 'POST /rate-limits/{name}/lift', 'POST /rate-limits/{name}/restore'],
  alerts: [
    'POST /alerts/test',
    'POST /alerts/{name}/acknowledge',
    'POST /alerts/{name}/silence',
    'POST /alerts/{name}/end',
  ],
  caches: ['POST /cache/invalidate'],
  'settings:read': ['GET /settings', 'GET /settings/{name}', 'GET /settings/{name}/history'],
  'settings:write': [
    'PUT /settings/{name}',
    'POST /settings/{name}/change',
    'POST /settings/{name}/advance',
    'POST /settings/{name}/rollback',
    'POST /settings/{name}/clear',
  ],
  statistics: ['POST /statistics/recount'],
  audit: ['GET /audit'],
  keys: [
    'GET /keys',
    'GET /keys/{name}',
    'POST /keys/{name}/create',
    'POST /keys/{name}/rotate',
    'POST /keys/{name}/revoke',
    'POST /secret/rotate',
  ],
  agents: ['POST /agents/exchange'],
}
/** These ask for no right: who has the token has the right to it, and whoever is known may ask who they are. */
const none = ['POST /tokens', 'POST /tokens/{token}', 'GET /health/live', 'GET /health/ready', 'GET /principal']

const table = Object.entries(needed).flatMap(([right, all]) => all.map((route) => [route, right] as const))
const every = Object.keys(needed)

it('every route stands in the table, and nothing else does', () => {
  const known = [...table.map(([route]) => route), ...none].sort()
  expect(known).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort())
})

it('the page on the server names every right, and the group of every route', () => {
  const page = readFileSync(new URL('../../../docs/concepts/server.md', import.meta.url), 'utf8')
  const groups = new Set(routes.map(({ path }) => path.split('/')[1]))
  expect([...groups].filter((group) => !new RegExp(`\`(?:[A-Z]+ )?/${group}\\b`).test(page))).toEqual([])
  expect(every.filter((right) => !page.includes(`| \`${right}\` |`))).toEqual([])
})

it.each(table)(
  '%s is refused to whoever has all rights but %s, and not to whoever has that alone',
  async (route, right) => {
    await using here = await shop({
      authenticate: ({ headers }) => ({ id: 'ada', rights: (headers.get('x-rights') ?? '').split(' ') as never[] }),
    })
    await here.triarch.open()
    const [method = '', path = ''] = route.split(' ')
    const ask = (rights: readonly string[]) =>
      here.server.fetch(
        new Request(`http://localhost/api/v1${path.replace(/\{\w+\}/g, 'x')}`, {
          method,
          headers: { 'x-rights': rights.join(' '), 'content-type': 'application/json' },
          ...(method !== 'GET' && { body: '{}' }),
        }),
      )
    const refused = await ask(every.filter((it) => it !== right))
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'FORBIDDEN', details: { right } })
    const taken = await ask([right])
    await taken.body?.cancel()
    expect([401, 403]).not.toContain(taken.status)
  },
)
