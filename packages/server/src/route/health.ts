import { z } from 'zod'
import { Health, Probe } from '../wire/health.ts'
import { type Route, reply, route } from './route.ts'

/** What a process must be able to do before it is given requests. */
const READY = ['store.read', 'node']

/** Anybody may ask, so it says nothing but that this process answers, and looks at nothing. */
const live = route({
  method: 'GET',
  path: '/health/live',
  id: 'getLiveness',
  summary: 'Whether the process answers: for a liveness probe. It looks at nothing else, for a restart mends no store.',
  answers: { 200: { description: 'It does', schema: Probe } },
  open: true,
  short: true,
  async run() {
    return reply(200, { status: 'ok' as const })
  },
})

const ready = route({
  method: 'GET',
  path: '/health/ready',
  id: 'getReadiness',
  summary:
    'Whether the process can serve: the store answers, the node has its lease, nobody stops it. For a readiness probe.',
  answers: {
    200: { description: 'It can', schema: Probe },
    503: { description: 'It cannot now', schema: Probe },
  },
  open: true,
  short: true,
  async run(_, { triarch, isLeaving }) {
    if (isLeaving()) return reply(503, { status: 'unavailable' as const })
    const { status } = await triarch.health.check({ checks: READY })
    return status === 'critical'
      ? reply(503, { status: 'unavailable' as const })
      : reply(200, { status: 'ok' as const })
  },
})

const deep = route({
  method: 'GET',
  path: '/health',
  id: 'getHealth',
  summary:
    'How the engine is, each check by itself; an answer serves all who ask within some seconds. With `report=true` it is 200 however bad, for who reads it.',
  query: z.strictObject({ check: z.array(z.string().max(100)).max(200).optional(), report: z.boolean().optional() }),
  answers: {
    200: { description: 'Well, or not so bad as `unhealthyAt` of the server says', schema: Health },
    503: { description: 'Not well', schema: Health },
  },
  short: true,
  async run({ query: { check, report: isRead } }, { triarch, unhealthyAt }) {
    const report = await triarch.health.check(check ? { checks: check } : {})
    const { status } = report
    const isBad = status === 'critical' || status === unhealthyAt
    return isBad && !isRead ? reply(503, report) : reply(200, report)
  },
})

export const health: readonly Route[] = [live, ready, deep]
