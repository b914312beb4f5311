import type { Duration, StandardSchema, Workflow, WorkflowVersionInfo } from 'triarch'
import { z } from 'zod'
import { Matching } from '../wire/operation.ts'
import { duration } from '../wire/schema.ts'
import { Agents, Demand, Leaders, Locks, Nodes, Statistics, Workflows } from '../wire/system.ts'
import { given, type Route, reply, route } from './route.ts'

const MOST = 100
const page = z.strictObject({ cursor: z.string().max(1_000).optional(), limit: z.int().min(1).max(MOST).optional() })

const workflows = route({
  method: 'GET',
  path: '/workflows',
  id: 'listWorkflows',
  summary:
    'Workflows by name: their versions, which living nodes run them, and what those take that can be started here.',
  query: page,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: Workflows } },
  async run({ query }, site) {
    const { cursor: after = '', limit = MOST } = query
    const { workflows, next: end } = await site.triarch.workflows.list({ cursor: after, limit })
    const found = new Map(
      workflows.map(({ name, versions }) => [name, new Map(versions.map((it) => [it.version, it]))]),
    )
    // What can be started here need not be known to this engine, nor run by anybody now.
    const startable = site.workflows.filter(({ name }) => name > after && (end === undefined || name <= end))
    for (const { name, version, definition } of startable) {
      const versions = found.get(name) ?? new Map<string, WorkflowVersionInfo>()
      const kind = definition.plan === undefined ? 'function' : 'plan'
      found.set(name, versions.set(version, { nodes: [], ...versions.get(version), version, kind }))
    }
    const names = [...found.keys()].sort()
    const said = new Map(workflows.map(({ name, versions: _, ...rest }) => [name, rest]))
    const body = names.slice(0, limit).map((name) => ({
      ...said.get(name),
      name,
      versions: [...(found.get(name)?.values() ?? [])].map((it) => {
        const known = startable.find((one) => one.name === name && one.version === it.version)
        return { ...it, ...(known && { startable: true as const, ...schemasOf(known.definition) }) }
      }),
    }))
    const next = names.length > limit ? body.at(-1)?.name : end
    return reply(200, { workflows: body, next })
  },
})

function schemasOf({ input, output, signals }: Workflow['definition']): {
  input?: unknown
  output?: unknown
  signals?: Record<string, { payload?: unknown }>
} {
  const [takes, gives] = [saidBy(input, 'input'), saidBy(output, 'output')]
  const payloads = Object.entries(signals ?? {}).map(([name, schema]) => {
    const payload = saidBy(schema, 'input')
    return [name, payload === undefined ? {} : { payload }] as const
  })
  return {
    ...(takes !== undefined && { input: takes }),
    ...(gives !== undefined && { output: gives }),
    ...(signals !== undefined && { signals: Object.fromEntries(payloads) }),
  }
}

/** Standard JSON Schema (https://standardschema.dev/json-schema): what a schema can say of itself; undefined: it cannot. */
function saidBy(schema: StandardSchema | undefined, side: 'input' | 'output'): unknown {
  const standard = schema?.['~standard'] as
    | { jsonSchema?: Partial<Record<typeof side, (options: { target: string }) => unknown>> }
    | undefined
  try {
    const said = standard?.jsonSchema?.[side]?.({ target: 'draft-2020-12' })
    return typeof said === 'object' && said !== null ? JSON.parse(JSON.stringify(said)) : undefined
  } catch {
    return undefined // a part of it has no JSON Schema, and half of one would be a guess
  }
}

const agents = route({
  method: 'GET',
  path: '/agents',
  id: 'listAgents',
  summary: 'Agents by name: their actions, the living nodes that run them, and what waits for them.',
  query: page,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: Agents } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.agents.list(given(query)))
  },
})

const demand = route({
  method: 'GET',
  path: '/demand',
  id: 'getDemand',
  summary:
    'How many processes the work asks for that waits and runs, for each agent and each version of a workflow: what an autoscaler goes by. `within`: how long work may wait (100ms to 1d; 30s).',
  query: z.strictObject({ within: duration.optional() }),
  answers: { 200: { description: 'What there is, and what should be there', schema: Demand } },
  problems: [422],
  async run({ query }, { triarch }) {
    return reply(
      200,
      await triarch.nodes.demand(query.within === undefined ? {} : { within: query.within as Duration }),
    )
  },
})

const locks = route({
  method: 'GET',
  path: '/locks',
  id: 'listLocks',
  summary: 'Locks that tasks have, by name: who has each, and who waits for it.',
  query: page,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: Locks } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.locks.list(given(query)))
  },
})

const leaders = route({
  method: 'GET',
  path: '/leaders',
  id: 'listLeaders',
  summary: 'Names that processes lead by, or led once: the node that does, and its token.',
  query: page,
  answers: { 200: { description: 'A page; `next` is the `cursor` of the next one', schema: Leaders } },
  async run({ query }, { triarch }) {
    return reply(200, await triarch.leaders.list(given(query)))
  },
})

const nodes = route({
  method: 'GET',
  path: '/nodes',
  id: 'listNodes',
  summary: 'The nodes that live, and where.',
  answers: { 200: { description: 'Each life of a node has an id of its own', schema: Nodes } },
  async run(_, { triarch }) {
    return reply(200, { nodes: await triarch.nodes.list() })
  },
})

const statistics = route({
  method: 'GET',
  path: '/stats',
  id: 'getStatistics',
  summary: 'How much is in the store, and what the process of this server counted.',
  answers: { 200: { description: 'Counts; those named in `truncated` are lower bounds', schema: Statistics } },
  async run(_, { triarch }) {
    return reply(200, await triarch.statistics.get())
  },
})

const count = route({
  method: 'GET',
  path: '/stats/tasks',
  id: 'countTasks',
  summary: 'How many tasks fit a filter, counted up to `most`.',
  query: z.strictObject({
    filter: z.string().max(4_000).optional(),
    most: z.int().min(1).max(10_000).optional(),
  }),
  answers: { 200: { description: 'So many; `truncated`: or more', schema: Matching } },
  problems: [422],
  async run({ query }, { triarch }) {
    return reply(200, await triarch.tasks.count(given(query)))
  },
})

export const system: readonly Route[] = [workflows, agents, demand, locks, leaders, nodes, statistics, count]
