import type { StandardSchema, Workflow } from 'triarch'
import { Nodes, Statistics, Workflows } from '../wire/system.ts'
import { type Route, reply, route } from './route.ts'

const workflows = route({
  method: 'GET',
  path: '/workflows',
  id: 'listWorkflows',
  summary: 'What can be started here, and which living nodes run it.',
  answers: { 200: { description: 'Every version that can be started', schema: Workflows } },
  async run(_, site) {
    const nodes = await site.triarch.nodes()
    const body = site.workflows.map((workflow) => {
      const { name, version, definition } = workflow
      const key = `${name}@${version}`
      const running = nodes.filter(({ runs }) => runs?.workflows.includes(key)).map(({ id }) => id)
      return { name, version, kind: kindOf(workflow), ...schemasOf(definition), nodes: running }
    })
    return reply(200, { workflows: body })
  },
})

function kindOf({ definition }: Workflow): 'function' | 'plan' {
  return definition.plan === undefined ? 'function' : 'plan'
}

function schemasOf({ input, output, events }: Workflow['definition']): {
  input?: unknown
  output?: unknown
  events?: Record<string, { payload?: unknown }>
} {
  const [takes, gives] = [saidBy(input, 'input'), saidBy(output, 'output')]
  const payloads = Object.entries(events ?? {}).map(([name, schema]) => {
    const payload = saidBy(schema, 'input')
    return [name, payload === undefined ? {} : { payload }] as const
  })
  return {
    ...(takes !== undefined && { input: takes }),
    ...(gives !== undefined && { output: gives }),
    ...(events !== undefined && { events: Object.fromEntries(payloads) }),
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

const nodes = route({
  method: 'GET',
  path: '/nodes',
  id: 'listNodes',
  summary: 'The nodes that live, and where.',
  answers: { 200: { description: 'Each life of a node has an id of its own', schema: Nodes } },
  async run(_, { triarch }) {
    const rows = await triarch.nodes()
    const nodes = rows.map(({ id, roles, startedAt, leaseUntil, runs, place }) => ({
      ...{ id, roles, startedAt: new Date(startedAt), leaseUntil: new Date(leaseUntil) },
      ...{ host: place?.host, pid: place?.pid },
      ...{ workflows: runs ? [...runs.workflows] : undefined, actions: runs ? [...runs.actions] : undefined },
    }))
    return reply(200, { nodes })
  },
})

const statistics = route({
  method: 'GET',
  path: '/stats',
  id: 'getStatistics',
  summary: 'How much is in the store, and what the process of this server counted.',
  answers: { 200: { description: 'Counts; those named in `truncated` are lower bounds', schema: Statistics } },
  async run(_, { triarch }) {
    return reply(200, await triarch.statistics())
  },
})

export const system: readonly Route[] = [workflows, nodes, statistics]
