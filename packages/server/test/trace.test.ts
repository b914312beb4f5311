// Where a request is in a trace is where its task is.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Shop, shop } from './shop.ts'

let here: Shop
beforeAll(async () => {
  here = await shop()
})
afterAll(() => here[Symbol.asyncDispose]())

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const other = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`
const whole = { traceparent, tracestate: 'vendor=1', baggage: 'tenant=acm%C3%A9' }

async function metadataOf(headers: Record<string, string>, metadata?: Record<string, string>) {
  const body = { workflow: 'approval', input: null, ...(metadata && { metadata }) }
  const { id } = (await (await here.ask('POST', '/tasks', body, headers)).json()) as { id: string }
  return (await here.triarch.tasks.get(id).status()).metadata
}

const many = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`m${index}`, '']))

it.each<[string, Record<string, string>, Record<string, string> | undefined, Record<string, string>]>([
  ['goes on in its trace, with its baggage', whole, { shop: 'a' }, { shop: 'a', ...whole }],
  ['has no trace where there is none', {}, undefined, {}],
  [
    'has the trace that its own metadata names',
    whole,
    { traceparent: other },
    { ...{ traceparent: other }, baggage: whole.baggage },
  ],
  ['keeps baggage of its own', { baggage: 'a=1' }, { baggage: 'b=2' }, { baggage: 'b=2' }],
  ['takes no state without the trace it is of', { tracestate: 'vendor=1' }, undefined, {}],
  [
    'takes the trace of a later version',
    { traceparent: `cc-${traceparent.slice(3)}-more` },
    undefined,
    { traceparent: `cc-${traceparent.slice(3)}-more` },
  ],
  ['takes no version that is forbidden', { traceparent: `ff-${traceparent.slice(3)}` }, undefined, {}],
  ['takes no ids of zeros', { traceparent: `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01` }, undefined, {}],
  ['takes nothing that is no trace', { traceparent: 'x', tracestate: 'y=1' }, undefined, {}],
  [
    'leaves what is too long',
    { traceparent, tracestate: 'v'.repeat(513), baggage: 'b'.repeat(4_097) },
    undefined,
    { traceparent },
  ],
  ['leaves what its metadata has no room for', whole, many, { ...many, traceparent }],
  ['leaves what would be too many bytes', whole, { long: 'x'.repeat(16_370) }, { long: 'x'.repeat(16_370) }],
])('a task that is submitted by a request %s', async (_, headers, metadata, expected) => {
  expect(await metadataOf(headers, metadata)).toEqual(expected)
})

it('all tasks of a list go on in the trace of the request, and the same one sent again in another trace is the same task', async () => {
  const body = { workflow: 'approval', tasks: [{ id: 'l-1' }, { id: 'l-2', metadata: { traceparent: other } }] }
  for (const headers of [whole, { traceparent: other }]) {
    const { results } = (await (await here.ask('POST', '/submissions', body, headers)).json()) as { results: object[] }
    expect(results).toEqual([expect.objectContaining({ id: 'l-1' }), expect.objectContaining({ id: 'l-2' })])
  }
  const of = async (id: string) => (await here.triarch.tasks.get(id).status()).metadata.traceparent
  expect([await of('l-1'), await of('l-2')]).toEqual([traceparent, other])
})
