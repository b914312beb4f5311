import { ProbePage, probesQuery } from '../wire/probe.ts'
import { given, type Route, reply, route } from './route.ts'

const list = route({
  method: 'GET',
  path: '/probes',
  id: 'listProbes',
  summary:
    'Endpoints as a prober has kept them, by name, a page at a time, or those of these names; with `history=true` what the last looks saw, of 100 at most.',
  query: probesQuery,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: ProbePage } },
  async run({ query: { name: names, ...query } }, { triarch }) {
    return reply(200, await triarch.health.probes(given({ names, ...query })))
  },
})

export const probes: readonly Route[] = [list]
