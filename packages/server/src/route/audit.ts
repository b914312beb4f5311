import { AuditPage, auditQuery } from '../wire/audit.ts'
import { given, type Route, reply, route } from './route.ts'

const list = route({
  method: 'GET',
  path: '/audit',
  id: 'listAudit',
  summary:
    'Acts upon the system, the last first, a page at a time: who did what, on what, when and why, refused ones among them.',
  query: auditQuery,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: AuditPage } },
  right: 'audit',
  async run({ query: { since, until, ...query } }, { triarch }) {
    const within = {
      ...(since !== undefined && { since: new Date(since) }),
      ...(until !== undefined && { until: new Date(until) }),
    }
    return reply(200, await triarch.audit.list({ ...given(query), ...within }))
  },
})

export const audit: readonly Route[] = [list]
